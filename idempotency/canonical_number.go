package idempotency

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// maxExponent is how many digits a number's exponent may have, zeros in front not counted. With those, and with texts
// of at most maxText bytes, exponents fit into 64 bits after all arithmetic.
const maxExponent = 18

// number reads a number and writes its digits and its decimal exponent: exact, and without expanding the exponent.
func (c *canonicalizer) number(i int) int {
	start := len(c.out)
	if c.at(i) == '-' {
		c.out = append(c.out, '-')
		i++
	}
	first := len(c.out)
	i, exponent := c.mantissa(i, first)
	if i == invalid {
		return invalid
	}
	if c.at(i)|0x20 == 'e' {
		var written int64
		if written, i = c.exponent(i + 1); i == invalid {
			return invalid
		}
		exponent += written
	}
	c.endNumber(start, first, exponent)
	return i
}

// mantissa copies the digits of a number, without the zeros in front, and returns the exponent that its point makes.
func (c *canonicalizer) mantissa(i, first int) (next int, exponent int64) {
	if c.at(i) == '0' {
		i++
	} else if next = c.digits(i); next != i {
		i = next
	} else {
		return invalid, 0
	}
	if c.at(i) != '.' {
		return i, 0
	}
	i++
	point := i
	if len(c.out) == first {
		i = c.zeros(i)
	}
	if i = c.digits(i); i == point {
		return invalid, 0
	}
	return i, int64(point - i)
}

// endNumber takes the zeros off the end of the digits that begin at first, and appends the exponent. Zero has no sign.
func (c *canonicalizer) endNumber(start, first int, exponent int64) {
	out := c.out
	for len(out) > first && out[len(out)-1] == '0' {
		out = out[:len(out)-1]
		exponent++
	}
	switch {
	case len(out) == first:
		c.out = append(out[:start], '0', ';')
	case exponent == 0:
		c.out = append(out, ';')
	case -10 < exponent && exponent < 0:
		c.out = append(out, 'e', '-', byte('0'-exponent), ';')
	default:
		c.out = append(strconv.AppendInt(append(out, 'e'), exponent, 10), ';')
	}
}

// digits copies the run of digits at i and returns the position after it.
func (c *canonicalizer) digits(i int) int {
	src, out := c.src, c.out
	for i+8 <= len(src) {
		word := binary.LittleEndian.Uint64(src[i:])
		out = binary.LittleEndian.AppendUint64(out, word)
		if marks := notDigits(word); marks != 0 {
			n := bits.TrailingZeros64(marks) / 8
			c.out = out[:len(out)-8+n]
			return i + n
		}
		i += 8
	}
	for ; i < len(src) && '0' <= src[i] && src[i] <= '9'; i++ {
		out = append(out, src[i])
	}
	c.out = out
	return i
}

// notDigits marks, by their high bits, bytes that are no digits. Bytes above the lowest marked one may be marked
// falsely.
func notDigits(word uint64) uint64 {
	value := word ^ '0'*each
	return (value + (0x80-10)*each | value) & high
}

// zeros returns the position after a run of zeros.
func (c *canonicalizer) zeros(i int) int {
	for c.at(i) == '0' {
		i++
	}
	return i
}

// exponent reads an exponent from behind its e.
func (c *canonicalizer) exponent(i int) (exponent int64, next int) {
	sign := int64(1)
	switch c.at(i) {
	case '-':
		sign = -1
		i++
	case '+':
		i++
	}
	begin := i
	i = c.zeros(i)
	for first := i; '0' <= c.at(i) && c.at(i) <= '9'; i++ {
		if i-first == maxExponent {
			return 0, invalid
		}
		exponent = exponent*10 + int64(c.at(i)-'0')
	}
	if i == begin {
		return 0, invalid
	}
	return sign * exponent, i
}
