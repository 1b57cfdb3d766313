package main

import (
	"strconv"
	"time"

	"firstwriter/functions/internal/jsonbody"
	"firstwriter/idempotency/outbox"
)

// What the events of this function are called on the bus.
const (
	eventSource    = "firstwriter.orders"
	eventConfirmed = "OrderConfirmed"
)

// orderConfirmed is the event that tells of a confirmed order.
func orderConfirmed(tenant string, o order, now time.Time) outbox.Message {
	b := jsonbody.AppendMember([]byte{'{'}, "order_id", o.ID)
	b = jsonbody.AppendMember(append(b, ','), "tenant_id", tenant)
	b = jsonbody.AppendMember(append(b, ','), "sku", o.SKU)
	b = append(b, `,"quantity":`...)
	b = strconv.AppendInt(b, o.Quantity, 10)
	b = append(b, `,"amount":`...)
	b = strconv.AppendInt(b, o.Amount, 10)
	b = jsonbody.AppendMember(append(b, ','), "currency", o.Currency)
	b = jsonbody.AppendMember(append(b, ','), "reference", o.Reference)
	b = jsonbody.AppendMember(append(b, ','), "created_at", o.CreatedAt)
	return outbox.Message{Key: o.ID, Source: eventSource, DetailType: eventConfirmed, Time: now, Detail: append(b, '}')}
}
