package dynamofake

import (
	"strconv"
	"strings"
)

// path leads to an attribute or to something inside it: a.b[2].c.
type path []step

// step is one part of a path: a literal name, a #placeholder or a list index.
type step struct {
	kind stepKind
	name string // stepName
	n    int    // number of the placeholder, or the index
}

type stepKind uint8

const (
	stepName stepKind = iota
	stepRef
	stepIndex
)

// key is the attribute name that a step stands for.
func (s step) key(sc *scope) string {
	if s.kind == stepRef {
		return sc.names[s.n]
	}
	return s.name
}

// is reports whether the path leads to the attribute of that name, and not to
// something inside it.
func (p path) is(name string, sc *scope) bool { return len(p) == 1 && p[0].key(sc) == name }

// find follows the path into an item.
func (p path) find(sc *scope, it item) (value, bool) {
	v, ok := it.get(p[0].key(sc))
	for i := 1; ok && i < len(p); i++ {
		v, ok = v.child(p[i], sc)
	}
	return v, ok
}

// child is the member or element of v that one step leads to.
func (v value) child(s step, sc *scope) (value, bool) {
	if s.kind == stepIndex {
		if v.kind != kindL || s.n >= len(v.elems) {
			return value{}, false
		}
		return v.elems[s.n].value, true
	}
	if v.kind != kindM {
		return value{}, false
	}
	return v.elems.get(s.key(sc))
}

// text is the path as the service's messages show it: [a, b, [2]].
func (p path) text(sc *scope) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, s := range p {
		if i > 0 {
			b.WriteString(", ")
		}
		if s.kind == stepIndex {
			b.WriteString("[" + strconv.Itoa(s.n) + "]")
		} else {
			b.WriteString(s.key(sc))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// same reports whether two steps lead to the same place.
func (s step) same(o step, sc *scope) bool {
	if s.kind == stepIndex || o.kind == stepIndex {
		return s.kind == o.kind && s.n == o.n
	}
	return s.key(sc) == o.key(sc)
}

// samePath reports whether two paths lead to the same place.
func samePath(a, b path, sc *scope) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].same(b[i], sc) {
			return false
		}
	}
	return true
}

// checkOverlap refuses paths of one expression of which one leads into another
// (overlap), or that take one place for a list and for a map (conflict). Of
// several faults the first overlap is told, else the last conflict.
func checkOverlap(paths []path, sc *scope) (message string) {
	for i, a := range paths {
		for _, b := range paths[:i] {
			clash := clash(b, a, sc)
			if clash == "" {
				continue
			}
			message = "Two document paths " + clash + " with each other; must remove or rewrite one of these paths; path one: " +
				b.text(sc) + ", path two: " + a.text(sc)
			if clash == "overlap" {
				return message
			}
		}
	}
	return message
}

// clash is what is wrong with two paths of one expression: "overlap",
// "conflict", or "".
func clash(a, b path, sc *scope) string {
	for i := range min(len(a), len(b)) {
		if (a[i].kind == stepIndex) != (b[i].kind == stepIndex) {
			return "conflict"
		}
		if !a[i].same(b[i], sc) {
			return ""
		}
	}
	return "overlap"
}
