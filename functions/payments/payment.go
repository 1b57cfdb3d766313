package main

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// statusCaptured is the only status so far: a payment exists once its money is taken.
const statusCaptured = "captured"

// payment is a charged order.
type payment struct {
	ID        string // see paymentID
	Amount    int64  // minor units of Currency
	Currency  string
	Status    string
	Reference string
	CreatedAt string // as timestamp writes it
	Metadata  string // JSON text of an object; "" where the client gave none
	Charge    string // the provider's id of the charge; not shown to clients
}

// newPayment is what an order becomes when the provider has charged it.
func newPayment(id string, o order, charge string, now time.Time) payment {
	return payment{
		ID:        id,
		Amount:    o.Amount,
		Currency:  o.Currency,
		Status:    statusCaptured,
		Reference: o.Reference,
		CreatedAt: timestamp(now),
		Metadata:  o.Metadata,
		Charge:    charge,
	}
}

// timestamp is RFC 3339 in UTC with milliseconds: of one length, so that the order of the text is that of the times.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// appendJSON appends the payment as clients see it. The metadata is copied and not encoded: it returns byte for byte.
func (p payment) appendJSON(b []byte) []byte {
	b = appendMember(append(b, '{'), "id", p.ID)
	b = append(b, `,"amount":`...)
	b = strconv.AppendInt(b, p.Amount, 10)
	b = appendMember(append(b, ','), "currency", p.Currency)
	b = appendMember(append(b, ','), "status", p.Status)
	b = appendMember(append(b, ','), "reference", p.Reference)
	b = appendMember(append(b, ','), "created_at", p.CreatedAt)
	if p.Metadata != "" {
		b = append(b, `,"metadata":`...)
		b = append(b, p.Metadata...)
	}
	return append(b, '}')
}

// appendMember appends a member with a string value. The name needs no escapes.
func appendMember(b []byte, name, value string) []byte {
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `":`...)
	b, _ = jsontext.AppendQuote(b, value) // fails on invalid UTF-8 only, which it replaces
	return b
}
