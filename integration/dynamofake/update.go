package dynamofake

import (
	"cmp"
	"slices"
)

var (
	errOperandType = invalid("An operand in the update expression has an incorrect data type")
	errNoOperand   = invalid("The provided expression refers to an attribute that does not exist in the item")
	errUpdatePath  = invalid("The document path provided in the update expression is invalid for update")
)

// Updates mean what the developer guide says ("Using update expressions in
// DynamoDB"): all sources are read before anything is written, an index beyond
// the end of a list appends, a set that loses its last member is removed.

// source is what SET assigns from. Sources read the item as it was before the
// update.
type source interface {
	eval(*scope, item) (value, error)
	// fixed is the kind of the value, if that is known before the item is.
	fixed(*scope) (k kind, known bool)
	// check tells what is wrong once the placeholders are known, or "".
	check(*scope) string
}

type (
	arithmetic struct {
		op          string
		left, right source
	}
	ifNotExists struct{ path, otherwise source }
	listAppend  struct{ head, tail source }
)

func (v valueOperand) eval(sc *scope, _ item) (value, error) { return sc.values[v], nil }

func (p path) eval(sc *scope, it item) (value, error) {
	v, ok := p.find(sc, it)
	if !ok {
		return value{}, errNoOperand
	}
	return v, nil
}

// eval is the sum or difference of two numbers.
func (a arithmetic) eval(sc *scope, it item) (value, error) {
	x, y, err := evalBoth(a.left, a.right, kindN, sc, it)
	if err != nil {
		return value{}, err
	}
	sum, err := addNumbers(x.text, y.text, a.op == "-")
	return value{kind: kindN, text: sum}, err
}

// eval is what the path leads to, or else the other operand, which is not
// looked at before.
func (f ifNotExists) eval(sc *scope, it item) (value, error) {
	if v, err := f.path.eval(sc, it); err == nil {
		return v, nil
	}
	return f.otherwise.eval(sc, it)
}

// eval is one list behind the other.
func (f listAppend) eval(sc *scope, it item) (value, error) {
	x, y, err := evalBoth(f.head, f.tail, kindL, sc, it)
	if err != nil {
		return value{}, err
	}
	return value{kind: kindL, elems: slices.Concat(x.elems, y.elems)}, nil
}

// evalBoth is two values that must be of one kind.
func evalBoth(left, right source, want kind, sc *scope, it item) (x, y value, err error) {
	if x, err = evalOne(left, want, sc, it); err == nil {
		y, err = evalOne(right, want, sc, it)
	}
	return x, y, err
}

func evalOne(s source, want kind, sc *scope, it item) (value, error) {
	v, err := s.eval(sc, it)
	if err == nil && v.kind != want {
		err = errOperandType
	}
	return v, err
}

// apply is the item after the update; old is not changed. Removals come last,
// since they shift the elements behind them.
func (u *update) apply(sc *scope, old item) (item, error) {
	it, err := u.applySets(sc, old)
	if err != nil {
		return nil, err
	}
	removes := u.removes
	for _, m := range u.members {
		v, ok, err := m.outcome(sc, old)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			removes = append(slices.Clip(removes), m.path)
			continue
		}
		if it, err = m.path.assign(sc, it, v); err != nil {
			return nil, err
		}
	}
	return applyRemoves(removes, sc, it)
}

// applySets assigns in the order of the indexes, so that elements past the end
// of a list are appended in that order.
func (u *update) applySets(sc *scope, old item) (item, error) {
	type assignment struct {
		path  path
		value value
	}
	all := make([]assignment, 0, 8)
	for _, s := range u.sets {
		v, err := s.source.eval(sc, old)
		if err != nil {
			return nil, err
		}
		all = append(all, assignment{s.path, v})
	}
	if len(all) > 1 {
		slices.SortStableFunc(all, func(a, b assignment) int { return comparePaths(a.path, b.path, sc) })
	}
	it, err := old, error(nil)
	for _, a := range all {
		if it, err = a.path.assign(sc, it, a.value); err != nil {
			return nil, err
		}
	}
	return it, nil
}

// applyRemoves removes the highest index of a list first.
func applyRemoves(removes []path, sc *scope, it item) (item, error) {
	if len(removes) > 1 {
		removes = slices.Clone(removes)
		slices.SortStableFunc(removes, func(a, b path) int { return comparePaths(b, a, sc) })
	}
	var err error
	for _, p := range removes {
		if it, err = p.remove(sc, it); err != nil {
			return nil, err
		}
	}
	return it, nil
}

// comparePaths orders paths step by step, list elements by index.
func comparePaths(a, b path, sc *scope) int {
	for i := range min(len(a), len(b)) {
		switch x, y := a[i], b[i]; {
		case x.same(y, sc):
			continue
		case x.kind == stepIndex && y.kind == stepIndex:
			return cmp.Compare(x.n, y.n)
		case x.kind == stepIndex || y.kind == stepIndex:
			return cmp.Compare(x.kind, y.kind)
		default:
			return cmp.Compare(x.key(sc), y.key(sc))
		}
	}
	return cmp.Compare(len(a), len(b))
}

// outcome is what ADD or DELETE makes of its attribute; not ok if nothing is
// left, as a set cannot be empty.
func (m memberAction) outcome(sc *scope, old item) (v value, ok bool, err error) {
	if m.remove {
		v, err = remaining(m, sc, old)
		return v, len(v.elems) > 0, err
	}
	v, err = added(m, sc, old)
	return v, true, err
}

// added is what ADD makes of an attribute: a sum, or the union of two sets.
func added(a memberAction, sc *scope, old item) (value, error) {
	operand := sc.values[a.value]
	v, ok := a.path.find(sc, old)
	switch {
	case !ok:
		return operand, nil
	case v.kind != operand.kind:
		return value{}, errOperandType
	case v.kind == kindN:
		sum, err := addNumbers(v.text, operand.text, false)
		return value{kind: kindN, text: sum}, err
	}
	return v.union(operand), nil
}

// remaining is what DELETE leaves of a set: nothing if there is no set.
func remaining(d memberAction, sc *scope, old item) (value, error) {
	operand := sc.values[d.value]
	v, ok := d.path.find(sc, old)
	switch {
	case !ok:
		return value{}, nil
	case v.kind != operand.kind:
		return value{}, errOperandType
	}
	out := value{kind: v.kind}
	for _, member := range v.elems {
		if !operand.has(member.text) {
			out.elems = append(out.elems, member)
		}
	}
	return out, nil
}

// union is the set of the members of both.
func (v value) union(w value) value {
	out := value{kind: v.kind, elems: slices.Clone(v.elems)}
	for _, member := range w.elems {
		if i, ok := out.member(member.text); !ok {
			out.elems = slices.Insert(out.elems, i, member)
		}
	}
	return out
}
