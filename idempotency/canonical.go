package idempotency

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
	"sync"
)

const (
	maxText    = 16 << 20 // bytes of a body that is not just read as bytes; offsets into forms fit into 32 bits
	maxDepth   = 128      // of nested arrays and objects
	maxForm    = 4 << 10  // bytes of the form of an array or object; a longer one is replaced by its SHA-256
	keepBuffer = 4 << 20  // bytes; larger buffers are not kept for the next request
)

// canonicalizer writes what a request means as bytes: two requests get the same bytes exactly if they mean the same.
// What it writes of a JSON text is not JSON but a prefix code: the first byte of a value says what follows, and each
// value says where it ends.
//
//	n t f                   null, true, false
//	" text 0xFF             string, unescaped; 0xFF occurs nowhere in UTF-8
//	-? digits (e -?digits)? ;  number: digits without zeros at either end, then the decimal exponent if it is not 0
//	[ values ]              array
//	{ (string value)… }     object, its members in the order of [compareFolded]
//	# SHA-256               an array or object whose form is longer than maxForm
//	_                       an array's element that a selection leaves out
//
// It works in one pass. An object whose members come in order is written once; another one is put in order when it
// ends. Long forms become hashes at once, so that bytes deep inside are not moved again at every level: the time is
// linear in the text's length, whatever its shape, but for the sorting of names.
type canonicalizer struct {
	src     []byte
	out     []byte
	members []member // of the objects that are being read, innermost last
	scratch []byte
	found   bool // something is there that the selection includes
}

// invalid is returned in the place of a position where the text is not one that is read by meaning.
const invalid = -1

var canonicalizers = sync.Pool{New: func() any { return new(canonicalizer) }}

// free gives the canonicalizer back, without what it read.
func (c *canonicalizer) free() {
	if cap(c.out)+cap(c.scratch)+cap(c.members)*memberSize > keepBuffer {
		return
	}
	c.src, c.out, c.members = nil, c.out[:0], c.members[:0]
	canonicalizers.Put(c)
}

// json appends the form of what s selects of a JSON text (RFC 8259, with unique names and valid Unicode as in RFC 7493,
// within the limits above); text is no longer than maxText. It returns false, with out unspecified, if text is not one.
func (c *canonicalizer) json(text []byte, s selector) bool {
	c.src, c.members, c.found = text, c.members[:0], s.include == nil
	c.out = slices.Grow(c.out, len(text)+len(text)/2+16)
	i := c.value(0, 0, s)
	return i != invalid && c.space(i) == len(text)
}

// at returns the byte at i, or at the end 0, which no text has outside of a string.
func (c *canonicalizer) at(i int) byte {
	if i < len(c.src) {
		return c.src[i]
	}
	return 0
}

// space returns the position after white space.
func (c *canonicalizer) space(i int) int {
	for i < len(c.src) && c.src[i] <= ' ' && isSpace(c.src[i]) {
		i++
	}
	return i
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }

// value reads the value at i, white space before it included, and returns the position after it.
func (c *canonicalizer) value(i, depth int, s selector) int {
	i = c.space(i)
	switch b := c.at(i); {
	case b == '"':
		return c.str(i + 1)
	case b == '{' && depth < maxDepth:
		return c.object(i+1, depth+1, s)
	case b == '[' && depth < maxDepth:
		return c.array(i+1, depth+1, s)
	case b == 'n':
		return c.literal(i, "null")
	case b == 't':
		return c.literal(i, "true")
	case b == 'f':
		return c.literal(i, "false")
	}
	return c.number(i)
}

func (c *canonicalizer) literal(i int, word string) int {
	if !bytes.HasPrefix(c.src[i:], []byte(word)) {
		return invalid
	}
	c.out = append(c.out, word[0])
	return i + len(word)
}

// array reads an array from behind its bracket.
func (c *canonicalizer) array(i, depth int, s selector) int {
	start := len(c.out)
	c.out = append(c.out, '[')
	if i = c.space(i); c.at(i) == ']' {
		c.end(start, ']')
		return i + 1
	}
	for n := 0; ; n++ {
		if i = c.element(i, n, depth, s); i == invalid {
			return invalid
		}
		switch i = c.space(i); c.at(i) {
		case ',':
			i++
		case ']':
			c.end(start, ']')
			return i + 1
		default:
			return invalid
		}
	}
}

// element reads an array's n-th element. One that is left out leaves a gap: how many there are counts.
func (c *canonicalizer) element(i, n, depth int, s selector) int {
	if s.all() {
		return c.value(i, depth, s)
	}
	s, counts := s.element(n)
	if counts {
		c.found = c.found || s.include == nil
		return c.value(i, depth, s)
	}
	start := len(c.out)
	i = c.value(i, depth, s)
	c.out = append(c.out[:start], '_')
	return i
}

// end closes the array or object whose form begins at start.
func (c *canonicalizer) end(start int, bracket byte) {
	c.out = append(c.out, bracket)
	if form := c.out[start:]; len(form) > maxForm {
		sum := sha256.Sum256(form)
		c.out = append(append(c.out[:start], '#'), sum[:]...)
	}
}

// part appends a part of a request, with its length in front.
func (c *canonicalizer) part(s string) { c.out = appendPart(c.out, s) }

// count appends how many parts follow.
func (c *canonicalizer) count(n int) { c.out = append(strconv.AppendInt(c.out, int64(n), 10), ';') }
