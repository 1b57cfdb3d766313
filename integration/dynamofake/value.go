package dynamofake

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf16"
)

// kind is the type of an attribute value.
type kind uint8

const (
	kindS kind = iota
	kindN
	kindB
	kindBOOL
	kindNULL
	kindL
	kindM
	kindSS
	kindNS
	kindBS
)

// kindNames are the wire names of the kinds.
var kindNames = [...]string{"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"}

func (k kind) String() string { return kindNames[k] }

// isSet reports whether k is one of the three set types.
func (k kind) isSet() bool { return k >= kindSS }

// ordered reports whether values of the kind have an order: only such a kind
// can be a key, or stand beside <, >, and BETWEEN.
func (k kind) ordered() bool { return k <= kindB }

// element is the kind of a set's members.
func (k kind) element() kind { return k - kindSS }

// kindNamed is the kind with that wire name.
func kindNamed(name string) (kind, bool) {
	i := slices.Index(kindNames[:], name)
	return kind(max(i, 0)), i >= 0
}

// value is one attribute value. It is never changed once it is part of a
// stored item: an update copies what it touches, so readers need no lock.
type value struct {
	kind kind
	// text is the content of S and B, the sortable form of N (number.go), and
	// boolTrue or "" for BOOL.
	text string
	// elems are the members of M in the order of their names, the elements of
	// L, and the members of a set in the order of their texts; the last two
	// have no names.
	elems item
}

const boolTrue = "t"

// attr is one named value.
type attr struct {
	name string
	value
}

// item is a list of attributes in the order of their names.
type item []attr

// find is the position of name, or where it would be.
func (it item) find(name string) (int, bool) {
	i := sort.Search(len(it), func(i int) bool { return it[i].name >= name })
	return i, i < len(it) && it[i].name == name
}

// get is the value of an attribute and whether it is there.
func (it item) get(name string) (value, bool) {
	i, ok := it.find(name)
	if !ok {
		return value{}, false
	}
	return it[i].value, true
}

// with is a copy of the item that has the attribute.
func (it item) with(name string, v value) item {
	i, ok := it.find(name)
	if ok {
		out := slices.Clone(it)
		out[i].value = v
		return out
	}
	out := make(item, 0, len(it)+1)
	out = append(out, it[:i]...)
	out = append(out, attr{name, v})
	return append(out, it[i:]...)
}

// without is the item, or a copy that lacks the attribute.
func (it item) without(name string) item {
	i, ok := it.find(name)
	if !ok {
		return it
	}
	return it.withoutAt(i)
}

// withoutAt is a copy that lacks the element at i.
func (it item) withoutAt(i int) item {
	out := make(item, 0, len(it)-1)
	return append(append(out, it[:i]...), it[i+1:]...)
}

// equal reports deep equality; for sets, whatever order they came in.
func (it item) equal(other item) bool {
	return slices.EqualFunc(it, other, func(a, b attr) bool {
		return a.name == b.name && a.value.equal(b.value)
	})
}

// sortNames orders the attributes by name. Of two attributes with one name the
// later one stays, as in the service's JSON reader.
func (it item) sortNames() item {
	byName := func(a, b attr) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(it, byName) {
		slices.SortStableFunc(it, byName)
	}
	out := it[:0]
	for _, a := range it {
		if n := len(out); n > 0 && out[n-1].name == a.name {
			out[n-1] = a
			continue
		}
		out = append(out, a)
	}
	return out
}

// equal reports deep equality; nothing equals a value of another type.
func (v value) equal(w value) bool {
	return v.kind == w.kind && v.text == w.text && v.elems.equal(w.elems)
}

// compare orders two values of one ordered kind.
func (v value) compare(w value) int { return strings.Compare(v.text, w.text) }

// has reports whether a set has a member with that text.
func (v value) has(text string) bool {
	_, ok := v.member(text)
	return ok
}

// member is the position of a set's member, or where it would be.
func (v value) member(text string) (int, bool) {
	return slices.BinarySearchFunc(v.elems, text, func(a attr, t string) int {
		return strings.Compare(a.text, t)
	})
}

// size is what the expression function size() gives: bytes, UTF-16 code units
// or elements. Numbers, booleans and null have none.
func (v value) length() (int, bool) {
	switch v.kind {
	case kindS:
		return len(utf16.Encode([]rune(v.text))), true
	case kindB:
		return len(v.text), true
	case kindN, kindBOOL, kindNULL:
		return 0, false
	}
	return len(v.elems), true
}

// bytes is the stored size of an item: names as UTF-8 and values. Item limit
// and capacity are counted by it.
func (it item) bytes() int {
	n := 0
	for i := range it {
		n += len(it[i].name) + it[i].value.bytes()
	}
	return n
}

// bytes is the stored size of a value, by the rules of the developer guide
// ("DynamoDB item sizes and formats").
func (v value) bytes() int {
	switch v.kind {
	case kindBOOL, kindNULL:
		return 1
	case kindL, kindM:
		return 3 + len(v.elems) + v.elems.bytes()
	case kindSS, kindNS, kindBS:
		return v.elems.bytes()
	}
	return len(v.text)
}

// depth is how many lists and maps are nested in one another.
func (v value) depth() int {
	if v.kind != kindL && v.kind != kindM {
		return 0
	}
	deepest := 0
	for i := range v.elems {
		deepest = max(deepest, v.elems[i].depth())
	}
	return deepest + 1
}
