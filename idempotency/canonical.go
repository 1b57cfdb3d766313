package idempotency

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxDepth    = 128     // of nested arrays and objects
	maxExponent = 18      // digits of a number's exponent
	keepBuffer  = 1 << 20 // bytes; larger buffers are not kept for the next request
)

// canonicalizer writes JSON texts in a form that is equal for two texts exactly if they mean the same. The form is a
// prefix code, not JSON: each value begins with a tag and says where it ends.
//
//	n t f                  null, true, false
//	s length bytes         string, unescaped UTF-8, length in 4 bytes
//	d [-] digits e exp ;   number: digits without zeros at either end, decimal exponent
//	[ values ]  { strings and values, sorted by string }
//
// It works in one pass: an object whose members come in order, as most do, is written once; another is sorted in place.
type canonicalizer struct {
	src     []byte
	pos     int
	out     []byte
	members []member // of the objects being read, innermost last
	scratch []byte
}

// member is where an object's member stands in out: its name, as an encoded string, then its value.
type member struct{ start, value, end int }

var canonicalizers = sync.Pool{New: func() any { return new(canonicalizer) }}

// free gives the canonicalizer back.
func (c *canonicalizer) free() {
	if cap(c.out)+cap(c.scratch) > keepBuffer {
		return
	}
	c.src, c.out, c.members = nil, c.out[:0], c.members[:0]
	canonicalizers.Put(c)
}

// json appends the canonical form of a JSON text (RFC 8259, with unique names and valid Unicode as in RFC 7493). It
// returns false, with out unspecified, if src is not one.
func (c *canonicalizer) json(src []byte) bool {
	c.src, c.pos = src, 0
	if !c.value(0) {
		return false
	}
	c.space()
	return c.pos == len(c.src)
}

// next skips white space and returns the next byte, 0 at the end.
func (c *canonicalizer) next() byte {
	c.space()
	if c.pos == len(c.src) {
		return 0
	}
	return c.src[c.pos]
}

func (c *canonicalizer) space() {
	for c.pos < len(c.src) {
		switch c.src[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

func (c *canonicalizer) value(depth int) bool {
	switch b := c.next(); b {
	case '{':
		return depth < maxDepth && c.object(depth+1)
	case '[':
		return depth < maxDepth && c.array(depth+1)
	case '"':
		return c.str()
	case 'n':
		return c.literal("null")
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	}
	return c.number()
}

func (c *canonicalizer) literal(word string) bool {
	if !bytes.HasPrefix(c.src[c.pos:], []byte(word)) {
		return false
	}
	c.pos += len(word)
	c.out = append(c.out, word[0])
	return true
}

func (c *canonicalizer) array(depth int) bool {
	c.pos++
	c.out = append(c.out, '[')
	for first := true; ; first = false {
		end, ok := c.more(']', first)
		if end || !ok {
			c.out = append(c.out, ']')
			return ok
		}
		if !c.value(depth) {
			return false
		}
	}
}

// more steps over what stands between the elements of an array or object: the end, or a comma before all but the
// first.
func (c *canonicalizer) more(closing byte, first bool) (end, ok bool) {
	switch b := c.next(); {
	case b == closing:
		c.pos++
		return true, true
	case first:
		return false, true
	case b == ',':
		c.pos++
		return false, c.next() != closing
	}
	return false, false
}

func (c *canonicalizer) object(depth int) bool {
	c.pos++
	c.out = append(c.out, '{')
	base, sorted := len(c.members), true
	for first := true; ; first = false {
		end, ok := c.more('}', first)
		if end || !ok {
			ok = ok && (sorted || c.sort(base))
			c.members = c.members[:base]
			c.out = append(c.out, '}')
			return ok
		}
		m, ok := c.member(depth)
		if !ok {
			return false
		}
		if n := len(c.members); n > base {
			sorted = sorted && bytes.Compare(c.name(c.members[n-1]), c.name(m)) < 0
		}
		c.members = append(c.members, m)
	}
}

func (c *canonicalizer) member(depth int) (m member, ok bool) {
	m.start = len(c.out)
	if c.next() != '"' || !c.str() || c.next() != ':' {
		return m, false
	}
	c.pos++
	m.value = len(c.out)
	ok = c.value(depth)
	m.end = len(c.out)
	return m, ok
}

// name is a member's name, without tag and length.
func (c *canonicalizer) name(m member) []byte { return c.out[m.start+5 : m.value] }

// sort puts the innermost object's members into order, and reports whether their names are unique.
func (c *canonicalizer) sort(base int) bool {
	members := c.members[base:]
	start := members[0].start
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(c.name(a), c.name(b)) })
	c.scratch = c.scratch[:0]
	for i, m := range members {
		if i > 0 && bytes.Equal(c.name(members[i-1]), c.name(m)) {
			return false
		}
		c.scratch = append(c.scratch, c.out[m.start:m.end]...)
	}
	copy(c.out[start:], c.scratch)
	return true
}

// str reads a string. One without escapes is copied whole.
func (c *canonicalizer) str() bool {
	c.pos++
	start := len(c.out)
	c.out = append(c.out, 's', 0, 0, 0, 0)
	for {
		rest := c.src[c.pos:]
		n := plain(rest)
		if n == len(rest) {
			return false
		}
		c.out = append(c.out, rest[:n]...)
		c.pos += n
		switch rest[n] {
		case '"':
			c.pos++
			text := c.out[start+5:]
			binary.BigEndian.PutUint32(c.out[start+1:], uint32(len(text)))
			return utf8.Valid(text)
		case '\\':
			if !c.escape() {
				return false
			}
		default:
			return false
		}
	}
}

// plain counts the bytes before the next quote, backslash or control character.
func plain(b []byte) int {
	for i, x := range b {
		if x == '"' || x == '\\' || x < ' ' {
			return i
		}
	}
	return len(b)
}

var escapes = ['z']byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads an escape sequence. A lone surrogate has no UTF-8 form and makes the text invalid.
func (c *canonicalizer) escape() bool {
	if c.pos+1 >= len(c.src) {
		return false
	}
	b := c.src[c.pos+1]
	if b != 'u' {
		c.pos += 2
		if int(b) >= len(escapes) || escapes[b] == 0 {
			return false
		}
		c.out = append(c.out, escapes[b])
		return true
	}
	r, ok := c.hex4()
	if ok && utf16.IsSurrogate(r) {
		var low rune
		low, ok = c.hex4()
		r = utf16.DecodeRune(r, low)
		ok = ok && r != utf8.RuneError
	}
	c.out = utf8.AppendRune(c.out, r)
	return ok
}

// hex4 reads \uXXXX.
func (c *canonicalizer) hex4() (rune, bool) {
	if c.pos+6 > len(c.src) || c.src[c.pos] != '\\' || c.src[c.pos+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, b := range c.src[c.pos+2 : c.pos+6] {
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	c.pos += 6
	return r, true
}

// number reads a number and writes it as digits and a decimal exponent: exact, and without expanding the exponent.
func (c *canonicalizer) number() bool {
	c.out = append(c.out, 'd')
	start := len(c.out)
	if c.peek() == '-' {
		c.pos++
		c.out = append(c.out, '-')
	}
	first := len(c.out)
	whole := c.digits()
	if whole == 0 || whole > 1 && c.out[first] == '0' {
		return false
	}
	exponent := int64(0)
	if c.peek() == '.' {
		c.pos++
		fraction := c.digits()
		if fraction == 0 {
			return false
		}
		exponent = -int64(fraction)
	}
	written, ok := c.exponent()
	if !ok {
		return false
	}
	c.normalise(start, first, exponent+written)
	return true
}

func (c *canonicalizer) peek() byte {
	if c.pos == len(c.src) {
		return 0
	}
	return c.src[c.pos]
}

// digits copies a run of digits and counts them.
func (c *canonicalizer) digits() int {
	start := c.pos
	for c.pos < len(c.src) && '0' <= c.src[c.pos] && c.src[c.pos] <= '9' {
		c.pos++
	}
	c.out = append(c.out, c.src[start:c.pos]...)
	return c.pos - start
}

// exponent reads the optional exponent.
func (c *canonicalizer) exponent() (int64, bool) {
	if c.peek()|0x20 != 'e' {
		return 0, true
	}
	c.pos++
	sign := int64(1)
	switch c.peek() {
	case '-':
		sign = -1
		c.pos++
	case '+':
		c.pos++
	}
	mark := len(c.out)
	n := c.digits()
	digits := bytes.TrimLeft(c.out[mark:], "0")
	c.out = c.out[:mark]
	if n == 0 || len(digits) > maxExponent {
		return 0, false
	}
	v := int64(0)
	for _, d := range digits {
		v = v*10 + int64(d-'0')
	}
	return sign * v, true
}

// normalise takes zeros off both ends of the digits that begin at first, and appends the exponent. Zero has no sign.
func (c *canonicalizer) normalise(start, first int, exponent int64) {
	digits := bytes.TrimLeft(c.out[first:], "0")
	if len(digits) == 0 {
		c.out = append(c.out[:start], "0e0;"...)
		return
	}
	trimmed := bytes.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(trimmed))
	c.out = append(c.out[:first], trimmed...)
	c.out = append(c.out, 'e')
	c.out = strconv.AppendInt(c.out, exponent, 10)
	c.out = append(c.out, ';')
}
