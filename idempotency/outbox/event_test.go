package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"firstwriter/idempotency"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 123_000_000, time.UTC)

// captured is a message that is in order.
func captured(change func(*Message)) Message {
	m := Message{Key: "pay_1", Source: "shop.payments", DetailType: "PaymentCaptured", Time: noon, Detail: []byte(`{"amount":1299}`)}
	if change != nil {
		change(&m)
	}
	return m
}

// attempts runs f as the handler of each attempt with one key, each but the last of which leaves an orphan.
func attempts(t *testing.T, n int, f func(*idempotency.Attempt)) {
	t.Helper()
	guard, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: func(*idempotency.Request) string { return "acme" }})
	if err != nil {
		t.Fatal(err)
	}
	op := idempotency.Op{Name: "pay", Scope: "acme", Key: "k"}
	for i := range n {
		_, err := idempotency.Do(t.Context(), guard, op, func(ctx context.Context) (int, error) {
			f(idempotency.AttemptFrom(ctx))
			if i < n-1 {
				return 0, errors.New("crash")
			}
			return 0, nil
		})
		if err != nil && i == n-1 {
			t.Fatal(err)
		}
	}
}

// itemOf is the item of an event that can be made.
func itemOf(t *testing.T, attempt *idempotency.Attempt, m Message) map[string]types.AttributeValue {
	t.Helper()
	write, err := Event(attempt, "outbox", m)
	if err != nil {
		t.Fatal(err)
	}
	if write.Put == nil || *write.Put.TableName != "outbox" || write.Put.ConditionExpression != nil {
		t.Fatalf("not a plain put into the table: %+v", write)
	}
	return write.Put.Item
}

func text(item map[string]types.AttributeValue, name string) string {
	v, _ := item[name].(*types.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

func TestEventItem(t *testing.T) {
	attempts(t, 1, func(attempt *idempotency.Attempt) {
		item := itemOf(t, attempt, captured(nil))
		id := text(item, "id")
		s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
		want := map[string]types.AttributeValue{
			"order_key": s("pay_1"), "id": s(id), "source": s("shop.payments"), "detail_type": s("PaymentCaptured"),
			"time": s("2026-11-30T12:00:00.123Z"), "detail": s(`{"event_id":"` + id + `","amount":1299}`),
			"expires_at": &types.AttributeValueMemberN{Value: "1796644800"}, // noon and seven days
		}
		if diff := cmp.Diff(want, item, cmp.AllowUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{})); diff != "" || len(id) != 43 {
			t.Errorf("id %q %s", id, diff)
		}
		if id == attempt.ID() || strings.Contains(text(item, "detail"), attempt.ID()) {
			t.Error("the record's id is shown to consumers")
		}
	})
}

// F66: consumers tell duplicates by the id, which is the same on every attempt and another one for every other event.
func TestEventIDIsDerived(t *testing.T) {
	first := map[string]string{}
	changes := map[string]func(*Message){
		"as it is": nil, "key": func(m *Message) { m.Key = "pay_2" }, "step": func(m *Message) { m.Step = "refund" },
		"type":         func(m *Message) { m.DetailType = "PaymentRefunded" },
		"key and step": func(m *Message) { m.Key, m.Step = "pay_1/9", "x" },
		"step and key": func(m *Message) { m.Key, m.Step = "pay_1", "9/x" },
	}
	run := 0
	attempts(t, 3, func(attempt *idempotency.Attempt) {
		run++
		seen := map[string]string{}
		for name, change := range changes {
			m := captured(change)
			m.Time = m.Time.Add(time.Duration(run) * time.Second) // a later attempt tells another time
			id := text(itemOf(t, attempt, m), "id")
			if other, ok := seen[id]; ok {
				t.Errorf("%s and %s have one id", name, other)
			}
			if seen[id] = name; run > 1 && first[name] != id {
				t.Errorf("%s: attempt %d has another id", name, run)
			}
			first[name] = id
		}
	})
}

func TestDetailKeepsItsBytes(t *testing.T) {
	for detail, want := range map[string]string{
		`{}`: `{"event_id":"x"}`, ` { } `: `{"event_id":"x" }`, "{\n\"a\": 1.0, \"a\":\"\\u003c\"}\n": `{"event_id":"x",` + "\n\"a\": 1.0, \"a\":\"\\u003c\"}",
		`{"Event_ID":1}`: `{"event_id":"x","Event_ID":1}`,
	} {
		got, err := withID([]byte(detail), "x")
		if err != nil || got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, %v", detail, got, err)
		}
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	fill := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n) + `"}`) }
	// 14 for the time, then source, type and detail with the id in front.
	most := 256<<10 - 1 - 14 - len("shop.payments") - len("PaymentCaptured") - len(`{"event_id":"","a":""}`) - 43
	for name, c := range map[string]struct {
		change func(*Message)
		want   string // "": none
	}{
		"as it is":      {nil, ""},
		"no key":        {func(m *Message) { m.Key = "" }, "its key has 0 bytes"},
		"longest key":   {func(m *Message) { m.Key = strings.Repeat("k", 2048) }, ""},
		"long key":      {func(m *Message) { m.Key = strings.Repeat("k", 2049) }, "its key has 2049 bytes; it must have 1 to 2048"},
		"no source":     {func(m *Message) { m.Source = "" }, "its source must have 1 to 256 bytes"},
		"AWS's source":  {func(m *Message) { m.Source = "aws.s3" }, `not begin with "aws."`},
		"long source":   {func(m *Message) { m.Source = strings.Repeat("s", 257) }, "its source must"},
		"no type":       {func(m *Message) { m.DetailType = "" }, "its detail type must have 1 to 128 bytes"},
		"long type":     {func(m *Message) { m.DetailType = strings.Repeat("s", 129) }, "its detail type must"},
		"no time":       {func(m *Message) { m.Time = time.Time{} }, "it has no time"},
		"no detail":     {func(m *Message) { m.Detail = nil }, "its detail must be a JSON object"},
		"a list":        {func(m *Message) { m.Detail = []byte(`[]`) }, "its detail must be a JSON object"},
		"null":          {func(m *Message) { m.Detail = []byte(`null`) }, "its detail must be a JSON object"},
		"two objects":   {func(m *Message) { m.Detail = []byte(`{}{}`) }, "its detail must be a JSON object"},
		"not UTF-8":     {func(m *Message) { m.Detail = []byte("{\"a\":\"\xff\"}") }, "its detail must be a JSON object"},
		"an id":         {func(m *Message) { m.Detail = []byte(`{"event_id":1}`) }, "its detail must not have a member event_id"},
		"largest":       {func(m *Message) { m.Detail = fill(most) }, ""},
		"one byte more": {func(m *Message) { m.Detail = fill(most + 1) }, "it has 262144 bytes; EventBridge takes less than 262144: put the data elsewhere"},
	} {
		attempts(t, 1, func(attempt *idempotency.Attempt) {
			_, err := Event(attempt, "outbox", captured(c.change))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "outbox: event ") || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		})
	}
	if _, err := Event(nil, "outbox", captured(nil)); err == nil || !strings.Contains(err.Error(), "behind the guard") {
		t.Errorf("without an attempt: %v", err)
	}
}
