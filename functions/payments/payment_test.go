package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

var stamp = time.Date(2026, 11, 29, 21, 5, 7, 89_999_999, time.FixedZone("", 3600))

var testOrder = order{Amount: 1299, Currency: "EUR", Source: "tok_ok", Reference: "order-42", Metadata: `{"a":1}`}

func TestPaymentJSON(t *testing.T) {
	o := order{Amount: 1299, Currency: "EUR", Source: "tok_ok", Reference: `a"<é>` + "\u2028"}
	for _, c := range []struct{ metadata, want string }{
		{"", `{"id":"pay_1","amount":1299,"currency":"EUR","status":"captured","reference":"a\"<é>` + "\u2028" +
			`","created_at":"2026-11-29T20:05:07.089Z"}`},
		{"{ \"b\": 1.0,\n\"a\": \"\\u003c\" }", `{"id":"pay_1","amount":1299,"currency":"EUR","status":"captured","reference":"a\"<é>` + "\u2028" +
			`","created_at":"2026-11-29T20:05:07.089Z","metadata":{ "b": 1.0,` + "\n" + `"a": "\u003c" }}`},
	} {
		o.Metadata = c.metadata
		got := newPayment("pay_1", o, "ch_1", stamp).appendJSON(nil)
		if string(got) != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if !json.Valid(got) {
			t.Errorf("not valid JSON: %s", got)
		}
	}
}

// asOrder turns a payment's JSON back into the body of an order.
func asOrder(t *testing.T, text []byte, source string) []byte {
	t.Helper()
	var p struct {
		Amount                        json.RawMessage
		Currency, Reference, Metadata json.RawMessage
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if p.Metadata == nil {
		return fmt.Appendf(nil, `{"amount":%s,"currency":%s,"source":%q,"reference":%s}`, p.Amount, p.Currency, source, p.Reference)
	}
	return fmt.Appendf(nil, `{"amount":%s,"currency":%s,"source":%q,"reference":%s,"metadata":%s}`, p.Amount, p.Currency, source, p.Reference, p.Metadata)
}
