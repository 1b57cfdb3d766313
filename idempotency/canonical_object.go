package idempotency

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// member is where the member of an object that is being read stands in out. Its name is kept there even if its value
// is left out: then end is start.
type member struct {
	key              uint64 // of the name, see nameKey
	start, name, end uint32 // its name is out[start+1:name-1], between quote and end mark
}

const memberSize = int(unsafe.Sizeof(member{}))

// disorder says what has to be done when an object ends.
type disorder struct{ unsorted, thinned bool }

// object reads an object from behind its brace.
func (c *canonicalizer) object(i, depth int, s *selector) int {
	start, base := len(c.out), len(c.members)
	c.out = append(c.out, '{')
	if i = c.space(i); c.at(i) == '}' {
		c.end(start, '}')
		return i + 1
	}
	var d disorder
	for {
		var m member
		if m, i = c.member(i, depth, s); i == invalid {
			return invalid
		}
		if len(c.members) > base {
			order := c.compare(c.members[len(c.members)-1], m)
			if order == 0 {
				return invalid
			}
			d.unsorted = d.unsorted || order > 0
		}
		d.thinned = d.thinned || m.end == m.start
		c.members = append(c.members, m)
		switch i = c.space(i); c.at(i) {
		case ',':
			i++
		case '}':
			if !c.endObject(start, base, d) {
				return invalid
			}
			return i + 1
		default:
			return invalid
		}
	}
}

// member reads a member, white space before it included.
func (c *canonicalizer) member(i, depth int, s *selector) (member, int) {
	m := member{start: uint32(len(c.out))}
	if i = c.space(i); c.at(i) != '"' {
		return m, invalid
	}
	if i = c.str(i + 1); i == invalid {
		return m, invalid
	}
	m.name = uint32(len(c.out))
	m.key = nameKey(c.name(m))
	if i = c.space(i); c.at(i) != ':' {
		return m, invalid
	}
	if s != nil {
		s = s.member(c.name(m))
	}
	if s == leftOut {
		i = c.value(i+1, depth, nil)
		c.out, m.end = c.out[:m.name], m.start
		return m, i
	}
	i = c.value(i+1, depth, s)
	m.end = uint32(len(c.out))
	return m, i
}

// name is a member's name. Its capacity reaches on, over what out holds behind it.
func (c *canonicalizer) name(m member) []byte { return c.out[m.start+1 : m.name-1] }

// endObject puts the members from base on in order and closes the object. It returns false if two have one name.
func (c *canonicalizer) endObject(start, base int, d disorder) bool {
	members := c.members[base:]
	c.members = c.members[:base]
	if d.unsorted && !c.sort(members) {
		return false
	}
	if d != (disorder{}) {
		c.scratch = c.scratch[:0]
		for _, m := range members {
			c.scratch = append(c.scratch, c.out[m.start:m.end]...)
		}
		c.out = append(c.out[:start+1], c.scratch...)
	}
	c.end(start, '}')
	return true
}

// sort puts members in the order of their names. It returns false if two have one name.
func (c *canonicalizer) sort(members []member) bool {
	if len(members) <= 24 {
		c.insertionSort(members)
	} else {
		slices.SortFunc(members, c.compare)
	}
	for i := range members[1:] {
		if c.compare(members[i], members[i+1]) == 0 {
			return false
		}
	}
	return true
}

// insertionSort is for the few members that most objects have.
func (c *canonicalizer) insertionSort(members []member) {
	for i := 1; i < len(members); i++ {
		m, j := members[i], i
		for ; j > 0 && c.compare(members[j-1], m) > 0; j-- {
			members[j] = members[j-1]
		}
		members[j] = m
	}
}

// compare orders members by name. Most names differ in their keys.
func (c *canonicalizer) compare(a, b member) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return compareFolded(c.name(a), c.name(b))
}

// nameKey is the first 8 bytes of a name with its letters folded, as a number: in the order of [compareFolded], where
// it tells two names apart.
func nameKey(name []byte) uint64 {
	n := min(len(name), 8)
	var word uint64
	if cap(name) >= 8 {
		word = binary.BigEndian.Uint64(name[:8]) & (^uint64(0) << (64 - 8*n))
	} else {
		var head [8]byte
		copy(head[:], name)
		word = binary.BigEndian.Uint64(head[:])
	}
	if word&high != 0 {
		return foldedKey(name)
	}
	// A byte from 'a' to 'z' has its high bit in the first sum and not in the second.
	lower := (word + 0x1F*each) &^ (word + 0x05*each) & high
	return word - lower>>2
}

// foldedKey is nameKey for a name that does not begin with 8 characters of ASCII.
func foldedKey(name []byte) uint64 {
	var folded [8 + utf8.UTFMax]byte
	buf := folded[:0]
	for len(name) > 0 && len(buf) < 8 {
		r, n := utf8.DecodeRune(name)
		buf, name = utf8.AppendRune(buf, foldRune(r)), name[n:]
	}
	return binary.BigEndian.Uint64(folded[:])
}

// compareFolded orders names without regard to case. It returns 0 exactly if they are equal under Unicode simple
// folding: encoding/json takes such names for one, and which of two it believes depends on their order.
func compareFolded(a, b []byte) int {
	same := commonPrefix(a, b)
	a, b = a[same:], b[same:]
	for len(a) > 0 && len(b) > 0 {
		x, n := utf8.DecodeRune(a)
		y, m := utf8.DecodeRune(b)
		if order := cmp.Compare(foldRune(x), foldRune(y)); order != 0 {
			return order
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}

// commonPrefix is how many bytes, in whole characters, are the same at the beginning of two texts.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+16 <= n && bytes.Equal(a[i:i+16], b[i:i+16]) {
		i += 16
	}
	for i < n && a[i] == b[i] {
		i++
	}
	for i < len(a) && !utf8.RuneStart(a[i]) {
		i--
	}
	return i
}

// foldRune returns the smallest character that r is equal to under Unicode simple folding, as encoding/json does.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
