package dynamofake

import (
	"math/big"
	"strconv"
	"strings"
)

// Limits of a number ("Supported data types and naming rules in Amazon
// DynamoDB"): 38 significant digits, magnitudes from 1E-130 to 9.99…E+125.
const (
	maxDigits   = 38
	maxExponent = 125
	minExponent = -130
)

var (
	errNotANumber = invalid("The parameter cannot be converted to a numeric value")
	errOverflow   = invalid("Number overflow. Attempting to store a number with magnitude larger than supported range")
	errUnderflow  = invalid("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	errPrecision  = invalid("Attempting to store more than 38 significant digits in a Number")
)

// A number is kept as a string whose byte order is the numeric order, one
// string per number: a byte for sign and exponent to base 100, then a byte for
// each pair of digits. So comparing, finding and sorting numbers is the same as
// for strings, and the length is the size the service charges for.
//
//	zero      0x80
//	positive  0x80 + (exponent + 65), pairs + 1
//	negative  0x7f - (exponent + 65), 101 - pairs, 0x66
const (
	zeroNumber   = "\x80"
	expBias      = 65
	positiveBase = 0x80
	negativeBase = 0x7f
	negativeEnd  = 0x66
)

// decimal is a number taken apart: ±d.ddd × 10^exp, without zeros at either
// end of the digits; no digits at all is zero.
type decimal struct {
	negative bool
	digits   []byte // '0' to '9'
	exp      int
}

// parseNumber reads a number as the service does (sign, digits, point and
// exponent) and returns its sortable form.
func parseNumber(text string) (string, error) {
	d, err := parseDecimal(text)
	if err != nil {
		return "", err
	}
	switch {
	case d.exp > maxExponent:
		return "", errOverflow
	case d.exp < minExponent:
		return "", errUnderflow
	case len(d.digits) > maxDigits:
		return "", errPrecision
	case len(d.digits) == 0:
		return zeroNumber, nil
	}
	return d.sortable(), nil
}

// parseDecimal splits the text into significant digits and exponent. That of a
// zero is the exponent of its last digit as it is written, which the service
// holds to the same range.
func parseDecimal(text string) (decimal, error) {
	mantissa, exp, err := splitExponent(text)
	if err != nil {
		return decimal{}, err
	}
	d := decimal{exp: exp - 1, digits: make([]byte, 0, maxDigits+2)}
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		d.negative, mantissa = mantissa[0] == '-', mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !isDigits(whole) || !isDigits(fraction) {
		return decimal{}, errNotANumber
	}
	whole = strings.TrimLeft(whole, "0")
	d.exp += len(whole)
	if whole == "" {
		short := strings.TrimLeft(fraction, "0")
		d.exp -= len(fraction) - len(short)
		if fraction = short; short == "" {
			d.exp++
		}
	}
	d.digits = append(append(d.digits, whole...), fraction...)
	for n := len(d.digits); n > 0 && d.digits[n-1] == '0'; n-- {
		d.digits = d.digits[:n-1]
	}
	return d, nil
}

// splitExponent cuts "1.5e3" into "1.5" and 3. Exponents far outside the range
// stay far outside it; beyond 64 bits they are none, as in the service.
func splitExponent(text string) (string, int, error) {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, nil
	}
	digits := strings.TrimLeft(text[i+1:], "+-")
	if len(text[i+1:])-len(digits) > 1 || digits == "" || !isDigits(digits) {
		return "", 0, errNotANumber
	}
	exp, err := strconv.ParseInt(text[i+1:], 10, 64)
	if err != nil {
		return "", 0, errNotANumber
	}
	return text[:i], int(min(max(exp, -1e9), 1e9)), nil
}

func isDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// sortable encodes a decimal that is in range and not zero.
func (d decimal) sortable() string {
	exp := d.exp >> 1 // floor: base 100
	out := make([]byte, 0, 2+len(d.digits)/2+2)
	out = append(out, byte(positiveBase+exp+expBias))
	if d.negative {
		out[0] = byte(negativeBase - exp - expBias)
	}
	i := 0
	if d.exp&1 == 0 { // the first pair has one digit: 5, not 50
		out = append(out, d.pair('0', d.digits[0]))
		i = 1
	}
	for ; i < len(d.digits); i += 2 {
		low := byte('0')
		if i+1 < len(d.digits) {
			low = d.digits[i+1]
		}
		out = append(out, d.pair(d.digits[i], low))
	}
	if d.negative {
		out = append(out, negativeEnd)
	}
	return string(out)
}

// pair is the byte for two digits. Those of negative numbers count down, so that
// the larger magnitude sorts first.
func (d decimal) pair(high, low byte) byte {
	n := (high-'0')*10 + low - '0'
	if d.negative {
		return 101 - n
	}
	return n + 1
}

// decodeNumber takes a sortable form apart.
func decodeNumber(s string) decimal {
	if s == zeroNumber {
		return decimal{}
	}
	d := decimal{negative: s[0] < positiveBase, digits: make([]byte, 0, maxDigits+2)}
	exp, pairs := int(s[0])-positiveBase-expBias, s[1:]
	if d.negative {
		exp, pairs = negativeBase-expBias-int(s[0]), s[1:len(s)-1]
	}
	for i := range len(pairs) {
		n := pairs[i] - 1
		if d.negative {
			n = 101 - pairs[i]
		}
		d.digits = append(d.digits, '0'+n/10, '0'+n%10)
	}
	d.exp = exp*2 + 1
	if d.digits[0] == '0' {
		d.digits, d.exp = d.digits[1:], d.exp-1
	}
	if n := len(d.digits); d.digits[n-1] == '0' {
		d.digits = d.digits[:n-1]
	}
	return d
}

// appendNumber writes the service's normal form: plain digits, no exponent, no
// superfluous zeros.
func appendNumber(dst []byte, sortable string) []byte {
	d := decodeNumber(sortable)
	if len(d.digits) == 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	if d.exp < 0 {
		dst = append(dst, "0."...)
		for range -d.exp - 1 {
			dst = append(dst, '0')
		}
		return append(dst, d.digits...)
	}
	whole := min(d.exp+1, len(d.digits))
	dst = append(dst, d.digits[:whole]...)
	for range d.exp + 1 - whole {
		dst = append(dst, '0')
	}
	if whole < len(d.digits) {
		dst = append(append(dst, '.'), d.digits[whole:]...)
	}
	return dst
}

// addNumbers is a + b, or a - b, in sortable form and exact; a result that
// does not fit is an error.
func addNumbers(a, b string, subtract bool) (string, error) {
	x, xe := decodeNumber(a).integer()
	y, ye := decodeNumber(b).integer()
	exp := min(xe, ye)
	scale(x, xe-exp)
	scale(y, ye-exp)
	if subtract {
		y.Neg(y)
	}
	sum := x.Add(x, y)
	if sum.Sign() == 0 {
		return zeroNumber, nil
	}
	return parseNumber(sum.String() + "e" + strconv.Itoa(exp))
}

// integer is the number as n × 10^exp.
func (d decimal) integer() (n *big.Int, exp int) {
	n = new(big.Int)
	if len(d.digits) == 0 {
		return n, 0
	}
	n.SetString(string(d.digits), 10)
	if d.negative {
		n.Neg(n)
	}
	return n, d.exp - len(d.digits) + 1
}

// scale multiplies n by 10^places.
func scale(n *big.Int, places int) {
	if places > 0 {
		n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
	}
}

// intNumber is a count in sortable form.
func intNumber(n int) string {
	s, err := parseNumber(strconv.Itoa(n))
	if err != nil {
		return zeroNumber // an int has at most 19 digits
	}
	return s
}
