// Package outbox publishes an event if, and only if, the write that it tells of is committed.
//
// A handler makes the event with [Event] and enlists it beside its own writes: the event is an item of a table of its own,
// committed with the recorded response in one transaction.
//
//	event, err := outbox.Event(attempt, table, outbox.Message{Key: p.ID, Source: "shop.payments", DetailType: "PaymentCaptured", …})
//	dynamostore.Enlist(ctx, putPayment, event)
//
// The table's stream brings it to a [Relay], which publishes it to an EventBridge bus. That happens at least once, in the
// order of the commits for each key. Consumers tell duplicates by the member event_id of the detail, which is the same
// however often an event is published; the id that EventBridge gives is not.
//
// The table has the partition key order_key and the sort key id, both strings, a stream with new images, and expires_at
// as its TTL attribute. Deletions by TTL come by the stream too: they are no events.
package outbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// DefaultKeep is how long an event stays in the table where its [Message] does not say: longer than the 24 hours that
// DynamoDB keeps it in the stream, so that what was not published in that time can still be found.
const DefaultKeep = 7 * 24 * time.Hour

// EventID is the member of an event's detail that holds its id.
const EventID = "event_id"

// Limits of the service. A partition key has at most 2,048 bytes; an entry with its time must stay below 256 KB.
//
// Source: docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html
const (
	maxKey        = 2048
	maxSource     = 256
	maxDetailType = 128
	maxBytes      = 256 << 10
	timeBytes     = 14
)

// Message is an event as a handler tells of it.
type Message struct {
	// Key is what the event is about, such as a payment's id, in 1 to 2,048 bytes. Events of one key are published in the
	// order of their commits. It is part of the event's id: where the same request may have another effect one day, after
	// the retention, the key must be another one too. Never a client's raw idempotency key.
	Key string
	// Step names the event among those of one request that have the same Key. Default: DetailType.
	Step string
	// Source and DetailType are EventBridge's: "shop.payments", at most 256 bytes, not beginning with "aws."; and
	// "PaymentCaptured", at most 128.
	Source, DetailType string
	// Time is when it happened. EventBridge shows it in whole seconds.
	Time time.Time
	// Detail is a JSON object without a member event_id, which is added. With the other members the event must stay below
	// 256 KB.
	Detail []byte
	// Keep is how long the table keeps the event after Time. Default: [DefaultKeep].
	Keep time.Duration
}

// Event is the write of an event into the table. Enlist it in the attempt's transaction; it has no condition of its own,
// since the transaction is committed once. Its id is derived from the attempt's record, Key and Step, and so the same on
// every attempt. An event with that id that is there already, from before the retention, is overwritten and not published
// again.
//
// The error says what is wrong with the message, or that there is no attempt.
func Event(attempt *idempotency.Attempt, table string, m Message) (types.TransactWriteItem, error) {
	if attempt == nil {
		return types.TransactWriteItem{}, errors.New("outbox: an event needs the attempt that it belongs to: make it behind the guard")
	}
	if m.Step == "" {
		m.Step = m.DetailType
	}
	if m.Keep == 0 {
		m.Keep = DefaultKeep
	}
	e := Entry{
		ID: attempt.DeriveKey("outbox/" + strconv.Itoa(len(m.Key)) + "/" + m.Key + "/" + m.Step), Key: m.Key,
		Source: m.Source, DetailType: m.DetailType, Time: m.Time,
	}
	var err error
	if e.Detail, err = withID(m.Detail, e.ID); err == nil {
		err = e.check()
	}
	if err != nil {
		return types.TransactWriteItem{}, fmt.Errorf("outbox: event %s: %w", m.DetailType, err)
	}
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String(table), Item: e.item(m.Time.Add(m.Keep))}}, nil
}

// withID puts the event's id in front of the other members.
func withID(detail []byte, id string) (string, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(detail) || json.Unmarshal(detail, &members) != nil || members == nil {
		return "", errors.New("its detail must be a JSON object")
	}
	if _, taken := members[EventID]; taken {
		return "", fmt.Errorf("its detail must not have a member %s: the event's id is put there", EventID)
	}
	rest := bytes.TrimSpace(detail)[1:]
	if len(members) > 0 {
		rest = append([]byte(","), rest...)
	}
	return `{"` + EventID + `":"` + id + `"` + string(rest), nil
}

// check refuses what EventBridge would refuse later, when nobody is there to be told.
func (e *Entry) check() error {
	switch {
	case e.Key == "" || len(e.Key) > maxKey:
		return fmt.Errorf("its key has %d bytes; it must have 1 to %d", len(e.Key), maxKey)
	case e.Source == "" || len(e.Source) > maxSource || strings.HasPrefix(e.Source, "aws."):
		return fmt.Errorf(`its source must have 1 to %d bytes and not begin with "aws."`, maxSource)
	case e.DetailType == "" || len(e.DetailType) > maxDetailType:
		return fmt.Errorf("its detail type must have 1 to %d bytes", maxDetailType)
	case e.Time.IsZero():
		return errors.New("it has no time")
	case e.bytes() >= maxBytes:
		return fmt.Errorf("it has %d bytes; EventBridge takes less than %d: put the data elsewhere and a reference to it into the detail",
			e.bytes(), maxBytes)
	}
	return nil
}
