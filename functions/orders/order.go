package main

import (
	"strconv"

	"firstwriter/functions/internal/jsonbody"
)

// What an order goes through. One that is given up is deleted.
const (
	statusReserved  = "reserved"  // the pieces are taken off the stock; clients do not see it yet
	statusConfirmed = "confirmed" // and the money is taken
)

// order is a purchase for which stock is reserved.
type order struct {
	ID        string // see orderID
	SKU       string
	Quantity  int64
	Amount    int64 // of the whole order, in minor units of Currency
	Currency  string
	Status    string
	Reference string
	CreatedAt string // as endpoint.Timestamp writes it
}

// reservation is what the step "reserve" records: what is not known from the request alone.
type reservation struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	At       string `json:"at"` // the order's CreatedAt
}

// reserved is the order that a reservation makes of a purchase.
func (p purchase) reserved(id string, r reservation) order {
	return order{
		ID:        id,
		SKU:       p.SKU,
		Quantity:  p.Quantity,
		Amount:    r.Amount,
		Currency:  r.Currency,
		Status:    statusReserved,
		Reference: p.Reference,
		CreatedAt: r.At,
	}
}

// appendJSON appends the order as clients see it.
func (o order) appendJSON(b []byte) []byte {
	b = jsonbody.AppendMember(append(b, '{'), "id", o.ID)
	b = jsonbody.AppendMember(append(b, ','), "sku", o.SKU)
	b = append(b, `,"quantity":`...)
	b = strconv.AppendInt(b, o.Quantity, 10)
	b = append(b, `,"amount":`...)
	b = strconv.AppendInt(b, o.Amount, 10)
	b = jsonbody.AppendMember(append(b, ','), "currency", o.Currency)
	b = jsonbody.AppendMember(append(b, ','), "status", o.Status)
	b = jsonbody.AppendMember(append(b, ','), "reference", o.Reference)
	b = jsonbody.AppendMember(append(b, ','), "created_at", o.CreatedAt)
	return append(b, '}')
}
