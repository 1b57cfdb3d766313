package jsonbody

import (
	"strconv"
	"strings"
	"testing"
)

func TestParseWhole(t *testing.T) {
	zeros := strings.Repeat("0", 100_000)
	for number, want := range map[string]int64{
		"1": 1, "1299": 1299, "1299.0": 1299, "12.99e2": 1299, "12.99E+2": 1299, "129900e-2": 1299, "0.1299e4": 1299,
		"1e0": 1, "10e-1": 1, "0.000001e6": 1, "1e0002": 100, "1.50e1": 15,
		"999999999999": MaxWhole, "9.99999999999e11": MaxWhole, "999999999999.000": MaxWhole, "1e11": 100_000_000_000,
		"1" + zeros + "e-100000": 1, "0." + zeros + "1e100001": 1,
	} {
		if got, ok := ParseWhole(number); !ok || got != want {
			t.Errorf("%.40s: got %d, %v; want %d", number, got, ok, want)
		}
	}
}

func TestParseWholeRefuses(t *testing.T) {
	for _, number := range []string{
		"0", "-0", "0.0", "0e5", "0e1000000000", "-1", "-5", "-1299.0",
		"12.5", "0.5", "1e-1", "12.99e1", "1299.000000000000000000000000000001",
		"1000000000000", "1e12", "999999999999.5", "1e13", "18446744073709551617",
		"1e1000000000", "1e-1000000000", "1e9223372036854775807", "1e9223372036854775808", "1e-9223372036854775808",
		"10e9223372036854775807", "0.1e-9223372036854775808", "1e99999999999999999999999999",
	} {
		if got, ok := ParseWhole(number); ok {
			t.Errorf("%s: got %d", number, got)
		}
	}
}

// Whatever is accepted is what a correct reader of decimals makes of it.
func FuzzParseWhole(f *testing.F) {
	for _, seed := range []string{"1299", "12.99e2", "1e12", "0.5", "-1", "1e-400", "100e-2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, number string) {
		if len(number) > 15 { // a float64 holds that many digits exactly
			return
		}
		amount, ok := ParseWhole(number)
		float, err := strconv.ParseFloat(number, 64)
		if ok && err == nil && float != float64(amount) {
			t.Errorf("%q: got %d, ParseFloat says %v", number, amount, float)
		}
	})
}
