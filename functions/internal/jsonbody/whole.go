package jsonbody

import (
	"strconv"
	"strings"
)

// MaxWhole is the greatest number that [ParseWhole] takes: twelve digits, far below 2^53, so that every JSON reader
// downstream keeps it exactly.
const MaxWhole = 999_999_999_999

const maxDigits = 12

// ParseWhole reads a JSON number that is a whole number from 1 to [MaxWhole], in any spelling: 1299, 1299.0 and 12.99e2
// are the same. It computes on digits: nothing is rounded, and an exponent is never expanded.
func ParseWhole(number string) (int64, bool) {
	if strings.HasPrefix(number, "-") {
		return 0, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return 0, false // zero, however it is written
	}
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil {
			return 0, false // no body is long enough to make up for such an exponent
		}
	}
	zeros := power - len(fraction) + len(digits) - len(significant)
	if zeros < 0 || zeros > maxDigits || len(significant)+zeros > maxDigits {
		return 0, false // a fraction, or more digits than MaxWhole has
	}
	amount, err := strconv.ParseInt(significant+strings.Repeat("0", zeros), 10, 64)
	return amount, err == nil
}
