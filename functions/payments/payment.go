package main

import (
	"strconv"
	"time"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/jsonbody"
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
	CreatedAt string // as endpoint.Timestamp writes it
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
		CreatedAt: endpoint.Timestamp(now),
		Metadata:  o.Metadata,
		Charge:    charge,
	}
}

// appendJSON appends the payment as clients see it. The metadata is copied and not encoded: it returns byte for byte.
func (p payment) appendJSON(b []byte) []byte {
	b = jsonbody.AppendMember(append(b, '{'), "id", p.ID)
	b = append(b, `,"amount":`...)
	b = strconv.AppendInt(b, p.Amount, 10)
	b = jsonbody.AppendMember(append(b, ','), "currency", p.Currency)
	b = jsonbody.AppendMember(append(b, ','), "status", p.Status)
	b = jsonbody.AppendMember(append(b, ','), "reference", p.Reference)
	b = jsonbody.AppendMember(append(b, ','), "created_at", p.CreatedAt)
	if p.Metadata != "" {
		b = append(b, `,"metadata":`...)
		b = append(b, p.Metadata...)
	}
	return append(b, '}')
}
