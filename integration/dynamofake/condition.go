package dynamofake

// Conditions mean what the developer guide says ("Condition and filter
// expressions, operators, and functions in DynamoDB"). What it leaves open is
// what compares with an attribute that is not there; see holds of comparison.

import (
	"slices"
	"strings"
)

// condition is a node of a parsed condition. A nil condition always holds.
type condition interface {
	// holds evaluates it against an item; a missing item is an empty one.
	holds(*scope, item) bool
	// check tells what is wrong with it once its placeholders are known, or "".
	check(*scope) string
}

// operand is something with a value: a path, a :value or size().
type operand interface {
	value(*scope, item) (value, bool)
}

type (
	orCondition  struct{ left, right condition }
	andCondition struct{ left, right condition }
	notCondition struct{ inner condition }
	comparison   struct {
		op          string
		left, right operand
	}
	between struct{ x, low, high operand }
	in      struct {
		needle operand
		list   []operand
	}
	// function is a call whose result is true or false.
	function struct {
		name string
		args []operand
	}
	// bare is an operand where a condition could stand; it exists only inside
	// the parser.
	bare struct{ operand }

	valueOperand int // number of the placeholder
	sizeOperand  struct{ of operand }
)

func (v valueOperand) value(sc *scope, _ item) (value, bool) { return sc.values[v], true }

func (p path) value(sc *scope, it item) (value, bool) { return p.find(sc, it) }

// value is the size as a number; what has no size compares as if it were not
// there.
func (s sizeOperand) value(sc *scope, it item) (value, bool) {
	v, ok := s.of.value(sc, it)
	if !ok {
		return value{}, false
	}
	n, ok := v.length()
	if !ok {
		return value{}, false
	}
	return value{kind: kindN, text: intNumber(n)}, true
}

func (c orCondition) holds(sc *scope, it item) bool {
	return c.left.holds(sc, it) || c.right.holds(sc, it)
}

func (c andCondition) holds(sc *scope, it item) bool {
	return c.left.holds(sc, it) && c.right.holds(sc, it)
}

func (c notCondition) holds(sc *scope, it item) bool { return !c.inner.holds(sc, it) }

func (bare) holds(*scope, item) bool { return false }

// holds: an attribute that is not there equals nothing and has no order, so
// that only <> is true for it.
func (c comparison) holds(sc *scope, it item) bool {
	a, okA := c.left.value(sc, it)
	b, okB := c.right.value(sc, it)
	switch both := okA && okB; {
	case c.op == "=":
		return both && a.equal(b)
	case c.op == "<>":
		return !both || !a.equal(b)
	case !both || a.kind != b.kind || !a.kind.ordered():
		return false
	}
	n := a.compare(b)
	switch c.op {
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	}
	return n >= 0
}

// holds: both bounds are included.
func (c between) holds(sc *scope, it item) bool {
	return comparison{">=", c.x, c.low}.holds(sc, it) && comparison{"<=", c.x, c.high}.holds(sc, it)
}

// holds: IN is = with any of the list.
func (c in) holds(sc *scope, it item) bool {
	x, ok := c.needle.value(sc, it)
	return ok && slices.ContainsFunc(c.list, func(o operand) bool {
		v, ok := o.value(sc, it)
		return ok && v.equal(x)
	})
}

// holds: every function but attribute_not_exists is false for an attribute that
// is not there.
func (c function) holds(sc *scope, it item) bool {
	first, ok := c.args[0].value(sc, it)
	switch {
	case c.name == "attribute_exists":
		return ok
	case c.name == "attribute_not_exists":
		return !ok
	case !ok:
		return false
	}
	second, ok := c.args[1].value(sc, it)
	if !ok {
		return false
	}
	switch c.name {
	case "attribute_type":
		return second.kind == kindS && second.text == first.kind.String()
	case "begins_with":
		return first.kind == second.kind && first.kind != kindN && first.kind.ordered() && strings.HasPrefix(first.text, second.text)
	}
	return first.contains(second)
}

// contains is the function of that name: a part of a string or binary, a
// member of a set, an element of a list.
func (v value) contains(w value) bool {
	switch {
	case v.kind == kindS || v.kind == kindB:
		return v.kind == w.kind && strings.Contains(v.text, w.text)
	case v.kind.isSet():
		return v.kind.element() == w.kind && v.has(w.text)
	case v.kind == kindL:
		return slices.ContainsFunc(v.elems, func(a attr) bool { return a.value.equal(w) })
	}
	return false
}
