package idempotency

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"
)

// member is where the member of an object that is being read stands in out. Its name is kept there even if its value
// is left out: then end is start.
type member struct {
	key              uint64 // of the name, see memberName
	start, name, end uint32 // its name is out[start+1:name-1], between quote and end mark
}

const memberSize = 24 // bytes

// disorder says what has to be done when an object ends.
type disorder struct{ unsorted, thinned bool }

// object reads an object from behind its brace.
func (c *canonicalizer) object(i, depth int, s selector) int {
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
		if n := len(c.members); n > base && !c.less(&c.members[n-1], &m) {
			d.unsorted = true
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
func (c *canonicalizer) member(i, depth int, s selector) (member, int) {
	m := member{start: uint32(len(c.out))}
	if i = c.space(i); c.at(i) != '"' {
		return m, invalid
	}
	if m.key, i = c.memberName(i + 1); i == invalid {
		return m, invalid
	}
	m.name = uint32(len(c.out))
	if i = c.space(i); c.at(i) != ':' {
		return m, invalid
	}
	counts := true
	if !s.all() {
		s, counts = s.member(c.name(m))
		c.found = c.found || counts && s.include == nil
	}
	if i = c.value(i+1, depth, s); !counts {
		c.out, m.end = c.out[:m.name], m.start
		return m, i
	}
	m.end = uint32(len(c.out))
	return m, i
}

// name is a member's name.
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
		slices.SortFunc(members, func(a, b member) int {
			if a.key != b.key {
				return cmp.Compare(a.key, b.key)
			}
			return compareFolded(c.name(a), c.name(b))
		})
	}
	for i := range members[1:] {
		if !c.less(&members[i], &members[i+1]) {
			return false
		}
	}
	return true
}

// insertionSort is for the few members that most objects have.
func (c *canonicalizer) insertionSort(members []member) {
	for i := 1; i < len(members); i++ {
		m, j := members[i], i
		for ; j > 0 && c.less(&m, &members[j-1]); j-- {
			members[j] = members[j-1]
		}
		members[j] = m
	}
}

// less orders members by name. Most names differ in their keys.
func (c *canonicalizer) less(a, b *member) bool {
	return a.key < b.key || a.key == b.key && c.lessName(a, b)
}

func (c *canonicalizer) lessName(a, b *member) bool {
	return compareFolded(c.name(*a), c.name(*b)) < 0
}

// memberName reads a name from behind its quote, and returns its key too: the first 8 bytes of the folded name as a
// number, which is in the order of [compareFolded] where the keys of two names differ.
func (c *canonicalizer) memberName(i int) (key uint64, next int) {
	start := len(c.out)
	if i+8 > len(c.src) {
		next = c.str(i)
		return c.nameKey(start, next), next
	}
	word := binary.LittleEndian.Uint64(c.src[i:])
	marks := special(word)
	if marks == 0 { // 8 bytes of ASCII and more
		return foldASCII(bits.ReverseBytes64(word)), c.str(i)
	}
	n := bits.TrailingZeros64(marks) / 8
	if c.src[i+n] != '"' {
		next = c.str(i)
		return c.nameKey(start, next), next
	}
	out := binary.LittleEndian.AppendUint64(append(c.out, '"'), word)
	c.out = append(out[:start+1+n], endOfString)
	return foldASCII(bits.ReverseBytes64(word) &^ (^uint64(0) >> (8 * n))), i + n + 1
}

// foldASCII folds the letters of 8 characters of ASCII. A byte from 'a' to 'z' has its high bit in the first sum and
// not in the second.
func foldASCII(word uint64) uint64 {
	lower := (word + 0x1F*each) &^ (word + 0x05*each) & high
	return word - lower>>2
}

// nameKey is the key of any name that str has written at start, if next does not say that it was invalid.
func (c *canonicalizer) nameKey(start, next int) uint64 {
	if next == invalid {
		return 0
	}
	var folded [8 + utf8.UTFMax]byte
	buf, name := folded[:0], c.out[start+1:len(c.out)-1]
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

// appendFolded appends a name as the decoders of JSON see it that are the least strict: encoding/json takes no notice of
// case, and version 2 of it, where it is told so, of dashes and underscores either.
func appendFolded(folded, name []byte) []byte {
	for len(name) > 0 {
		r, n := utf8.DecodeRune(name)
		if r != '-' && r != '_' {
			folded = utf8.AppendRune(folded, foldRune(r))
		}
		name = name[n:]
	}
	return folded
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
