package idempotency

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Eight bytes at a time.
const (
	each = 0x0101010101010101 // 1 in each byte
	high = 0x80 * each        // the high bit of each byte
)

// special marks, by their high bits, bytes that end a run of plain ASCII: control characters, quotes, backslashes and
// what is not ASCII. Bytes above the lowest marked one may be marked falsely.
func special(word uint64) uint64 {
	quote, backslash := word^'"'*each, word^'\\'*each
	return ((word-' '*each)&^word | (quote-each)&^quote | (backslash-each)&^backslash | word) & high
}

// str reads a string from behind its quote.
func (c *canonicalizer) str(i int) int {
	c.out = append(c.out, '"')
	for {
		i = c.plain(i)
		switch b := c.at(i); {
		case b == '"':
			c.out = append(c.out, endOfString)
			return i + 1
		case b == '\\':
			if i = c.escape(i + 1); i == invalid {
				return invalid
			}
		case b >= utf8.RuneSelf:
			if i = c.runes(i); i == invalid {
				return invalid
			}
		default:
			return invalid
		}
	}
}

const endOfString = 0xFF

// plain copies the run of plain ASCII at i and returns the position after it.
func (c *canonicalizer) plain(i int) int {
	src, out := c.src, c.out
	for i+8 <= len(src) {
		word := binary.LittleEndian.Uint64(src[i:])
		out = binary.LittleEndian.AppendUint64(out, word)
		if marks := special(word); marks != 0 {
			n := bits.TrailingZeros64(marks) / 8
			c.out = out[:len(out)-8+n]
			return i + n
		}
		i += 8
	}
	for ; i < len(src); i++ {
		b := src[i]
		if b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf {
			break
		}
		out = append(out, b)
	}
	c.out = out
	return i
}

// runes copies the run of characters beyond ASCII at i.
func (c *canonicalizer) runes(i int) int {
	end := i
	for end < len(c.src) && c.src[end] >= utf8.RuneSelf {
		end++
	}
	run := c.src[i:end]
	if !utf8.Valid(run) {
		return invalid
	}
	c.out = append(c.out, run...)
	return end
}

var escapes = ['z']byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads an escape sequence from behind its backslash.
func (c *canonicalizer) escape(i int) int {
	b := c.at(i)
	if b == 'u' {
		return c.unicode(i - 1)
	}
	if int(b) >= len(escapes) || escapes[b] == 0 {
		return invalid
	}
	c.out = append(c.out, escapes[b])
	return i + 1
}

// unicode reads \uXXXX, or two of them where the first is a surrogate. A lone surrogate has no UTF-8 form and makes the
// text invalid.
func (c *canonicalizer) unicode(i int) int {
	r, i := c.hex4(i)
	if i != invalid && utf16.IsSurrogate(r) {
		var low rune
		low, i = c.hex4(i)
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return invalid
		}
	}
	c.out = utf8.AppendRune(c.out, r)
	return i
}

// hex4 reads one \uXXXX.
func (c *canonicalizer) hex4(i int) (rune, int) {
	if len(c.src)-i < len(`\uXXXX`) || c.src[i] != '\\' || c.src[i+1] != 'u' {
		return 0, invalid
	}
	var r rune
	for _, b := range c.src[i+2 : i+6] {
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return 0, invalid
		}
		r = r<<4 | rune(b)
	}
	return r, i + 6
}
