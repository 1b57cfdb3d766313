package main

import (
	"strconv"
	"time"

	"firstwriter/functions/internal/jsonbody"
	"firstwriter/idempotency/outbox"
)

// What the events of this function are called on the bus.
const (
	eventSource   = "firstwriter.payments"
	eventCaptured = "PaymentCaptured"
)

// paymentCaptured is the event that tells of a payment. It has no metadata: that is the client's own, and may be larger than an
// event can be. The payment's id is the event's key, so that another charge, after the retention, is another event.
func paymentCaptured(tenant string, p payment, now time.Time) outbox.Message {
	b := jsonbody.AppendMember([]byte{'{'}, "payment_id", p.ID)
	b = jsonbody.AppendMember(append(b, ','), "tenant_id", tenant)
	b = append(b, `,"amount":`...)
	b = strconv.AppendInt(b, p.Amount, 10)
	b = jsonbody.AppendMember(append(b, ','), "currency", p.Currency)
	b = jsonbody.AppendMember(append(b, ','), "reference", p.Reference)
	b = jsonbody.AppendMember(append(b, ','), "created_at", p.CreatedAt)
	return outbox.Message{Key: p.ID, Source: eventSource, DetailType: eventCaptured, Time: now, Detail: append(b, '}')}
}
