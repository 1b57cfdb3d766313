package dynamofake

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

func TestNumberNormalForm(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.000", "0"}, {"0e10", "0"},
		{"7", "7"}, {"007", "7"}, {"+7", "7"}, {"-7", "-7"},
		{"1.500", "1.5"}, {".5", "0.5"}, {"5.", "5"},
		{"1e3", "1000"}, {"1E+3", "1000"}, {"1e-3", "0.001"}, {"12.34e1", "123.4"}, {"12.34e-5", "0.0001234"},
		{"1234567890.0987654321", "1234567890.0987654321"},
		{"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
		{"-0.00000000000000000000000000000000000001", "-0.00000000000000000000000000000000000001"},
		{"1e125", "1" + strings.Repeat("0", 125)},
		{"1e-130", "0." + strings.Repeat("0", 129) + "1"},
		{"100000000000000000000000000000000000000000", "100000000000000000000000000000000000000000"},
	} {
		s, err := parseNumber(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := string(appendNumber(nil, s)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestNumberRefused(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", errNotANumber}, {"abc", errNotANumber}, {"NaN", errNotANumber}, {"Infinity", errNotANumber}, {"0x10", errNotANumber},
		{"1e", errNotANumber}, {"1e+-2", errNotANumber}, {".", errNotANumber}, {"-", errNotANumber}, {"1.2.3", errNotANumber},
		{" 1", errNotANumber}, {"1_000", errNotANumber}, {"١", errNotANumber}, {"--1", errNotANumber}, {"1e2.5", errNotANumber},
		{"1e126", errOverflow}, {"-1e126", errOverflow}, {"1e2147483648", errOverflow}, {"1e9223372036854775807", errOverflow},
		{"0e126", errOverflow}, {"-0e126", errOverflow}, {"000e126", errOverflow}, {"0.0e127", errOverflow}, {"0e9223372036854775807", errOverflow},
		{"0e-131", errUnderflow}, {"0.0e-130", errUnderflow}, {"0." + strings.Repeat("0", 131), errUnderflow},
		{"1e9223372036854775808", errNotANumber}, {"1e-9223372036854775809", errNotANumber}, {"0e9223372036854775808", errNotANumber},
		{"1e-131", errUnderflow}, {"1e-2147483649", errUnderflow}, {"1e-9223372036854775808", errUnderflow},
		{"123456789012345678901234567890123456789", errPrecision}, {"1.00000000000000000000000000000000000001", errPrecision},
	} {
		if s, err := parseNumber(c.in); err != c.want {
			t.Errorf("%q: got %q, %v; want %v", c.in, s, err, c.want)
		}
	}
}

// randomNumber is a number of up to 38 digits, often close to others.
func randomNumber(r *rand.Rand) string {
	digits := 1 + r.IntN(maxDigits)
	if r.IntN(2) == 0 {
		digits = 1 + r.IntN(3)
	}
	var b strings.Builder
	if r.IntN(2) == 0 {
		b.WriteByte('-')
	}
	for range digits {
		b.WriteByte(byte('0' + r.IntN(10)))
	}
	return fmt.Sprintf("%se%d", b.String(), r.IntN(40)-20)
}

// TestNumberOrder checks the sortable form against another implementation:
// bytes in order means numbers in order, and equal bytes equal numbers.
func TestNumberOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type pair struct {
		sortable string
		number   *apd.Decimal
	}
	var all []pair
	for range 3000 {
		text := randomNumber(r)
		s, err := parseNumber(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		n, _, err := apd.NewFromString(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pair{s, n})
	}
	slices.SortFunc(all, func(a, b pair) int { return strings.Compare(a.sortable, b.sortable) })
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		cmp := a.number.Cmp(b.number)
		if same := a.sortable == b.sortable; cmp > 0 || same != (cmp == 0) {
			t.Fatalf("%s before %s, same %v", a.number, b.number, same)
		}
	}
}

// TestNumberArithmetic checks sums and differences against another
// implementation.
func TestNumberArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ctx := apd.BaseContext.WithPrecision(500)
	for range 3000 {
		a, b := randomNumber(r), randomNumber(r)
		x, _ := parseNumber(a)
		y, _ := parseNumber(b)
		subtract := r.IntN(2) == 0
		got, err := addNumbers(x, y, subtract)

		p, _, _ := apd.NewFromString(a)
		q, _, _ := apd.NewFromString(b)
		want := new(apd.Decimal)
		if subtract {
			_, _ = ctx.Sub(want, p, q)
		} else {
			_, _ = ctx.Add(want, p, q)
		}
		reduced, _ := new(apd.Decimal).Reduce(want)
		if reduced.NumDigits() > maxDigits {
			if err != errPrecision {
				t.Fatalf("%s, %s: got %v, want %v", a, b, err, errPrecision)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s, %s: %v", a, b, err)
		}
		if exact, _ := parseNumber(want.Text('f')); exact != got {
			t.Fatalf("%s, %s: got %s, want %s", a, b, appendNumber(nil, got), want)
		}
	}
}

// The sizes are the documented ones: about a byte for two digits, one more, and
// one for a negative number.
func TestNumberSize(t *testing.T) {
	for text, want := range map[string]int{
		"0": 1, "1": 2, "10": 2, "12": 2, "123": 3, "1234": 3, "-1": 3, "-1234": 4, "0.1": 2, "100": 2,
		"12345678901234567890123456789012345678": 20,
	} {
		s, err := parseNumber(text)
		if err != nil || len(s) != want {
			t.Errorf("%s: %d bytes, %v; want %d", text, len(s), err, want)
		}
	}
}
