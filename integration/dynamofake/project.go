package dynamofake

import "slices"

// project is the part of an item that the paths lead to.
func project(it item, paths []path, sc *scope) item {
	out := make(item, 0, len(paths))
	for _, a := range it {
		below := leading(paths, 0, sc, step{kind: stepName, name: a.name})
		if v, ok := a.value.project(below, 1, sc); ok {
			out = append(out, attr{a.name, v})
		}
	}
	return out
}

// project is the part of a value that paths lead to, of which the first depth
// steps lead to the value itself. Not ok if there is none.
func (v value) project(paths []path, depth int, sc *scope) (value, bool) {
	switch {
	case len(paths) == 0:
		return value{}, false
	case len(paths[0]) == depth:
		return v, true
	case v.kind != kindM && v.kind != kindL:
		return value{}, false
	}
	out := value{kind: v.kind}
	for i, a := range v.elems {
		s := step{kind: stepName, name: a.name}
		if v.kind == kindL {
			s = step{kind: stepIndex, n: i}
		}
		if child, ok := a.value.project(leading(paths, depth, sc, s), depth+1, sc); ok {
			out.elems = append(out.elems, attr{a.name, child})
		}
	}
	return out, len(out.elems) > 0
}

// leading are the paths whose step at depth is s.
func leading(paths []path, depth int, sc *scope, s step) []path {
	if len(paths) == 1 { // without a copy
		if len(paths[0]) > depth && paths[0][depth].same(s, sc) {
			return paths
		}
		return nil
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p path) bool {
		return len(p) <= depth || !p[depth].same(s, sc)
	})
}
