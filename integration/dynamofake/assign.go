package dynamofake

import "slices"

// assign is a copy of the item in which the path leads to v. Only the last
// step may be new: what it is in must be there.
func (p path) assign(sc *scope, it item, v value) (item, error) {
	name := p[0].key(sc)
	if len(p) > 1 {
		child, ok := it.get(name)
		if !ok {
			return nil, errUpdatePath
		}
		var err error
		if v, err = child.assign(p[1:], sc, v); err != nil {
			return nil, err
		}
	}
	return it.with(name, v), nil
}

// assign is assign of a path that begins inside v.
func (v value) assign(p path, sc *scope, leaf value) (value, error) {
	if !v.holdsStep(p[0]) {
		return value{}, errUpdatePath
	}
	if len(p) > 1 {
		child, ok := v.child(p[0], sc)
		if !ok {
			return value{}, errUpdatePath
		}
		var err error
		if leaf, err = child.assign(p[1:], sc, leaf); err != nil {
			return value{}, err
		}
	}
	if v.kind == kindM {
		v.elems = v.elems.with(p[0].key(sc), leaf)
		return v, nil
	}
	v.elems = slices.Clone(v.elems)
	if i := p[0].n; i < len(v.elems) {
		v.elems[i].value = leaf
	} else {
		v.elems = append(v.elems, attr{value: leaf})
	}
	return v, nil
}

// remove is a copy of the item without what the path leads to. That itself may
// be missing; what it is in must be there.
func (p path) remove(sc *scope, it item) (item, error) {
	name := p[0].key(sc)
	if len(p) == 1 {
		return it.without(name), nil
	}
	child, ok := it.get(name)
	if !ok {
		return nil, errUpdatePath
	}
	child, err := child.remove(p[1:], sc)
	if err != nil {
		return nil, err
	}
	return it.with(name, child), nil
}

// remove is remove of a path that begins inside v.
func (v value) remove(p path, sc *scope) (value, error) {
	if !v.holdsStep(p[0]) {
		return value{}, errUpdatePath
	}
	child, ok := v.child(p[0], sc)
	if len(p) > 1 {
		if !ok {
			return value{}, errUpdatePath
		}
		child, err := child.remove(p[1:], sc)
		if err != nil {
			return value{}, err
		}
		return v.assign(p[:1], sc, child)
	}
	switch {
	case !ok:
	case v.kind == kindM:
		v.elems = v.elems.without(p[0].key(sc))
	default:
		v.elems = v.elems.withoutAt(p[0].n)
	}
	return v, nil
}

// holdsStep reports whether v is of the type that the step leads into.
func (v value) holdsStep(s step) bool {
	if s.kind == stepIndex {
		return v.kind == kindL
	}
	return v.kind == kindM
}
