package main

import "testing"

func TestIsCurrency(t *testing.T) {
	for _, code := range []string{"AED", "EUR", "JPY", "KWD", "SLE", "USD", "VED", "XAF", "XCG", "ZWG"} {
		if !isCurrency(code) {
			t.Errorf("%s is refused", code)
		}
	}
	for _, code := range []string{
		"", "EU", "eur", "Eur", "EURO", " EUR", "EUR ", "€", "978", "ZZZ",
		"DEM", "HRK", "BGN", "ANG", "ZWL", "SLL", // no longer in use
		"XXX", "XTS", "XAU", "XDR", "CLF", "CHE", // not money to pay with
	} {
		if isCurrency(code) {
			t.Errorf("%q is accepted", code)
		}
	}
}
