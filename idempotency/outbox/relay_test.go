package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

// inserts makes a batch of a stream: one record for each "key:name", in order.
func inserts(names ...string) events.DynamoDBEvent {
	e := events.DynamoDBEvent{}
	for i, name := range names {
		key, _, _ := strings.Cut(name, ":")
		e.Records = append(e.Records, insert(i+1, key, name))
	}
	return e
}

// insert is the record of an event, of which id is all that a test looks at.
func insert(number int, key, id string) events.DynamoDBEventRecord {
	s := events.NewStringAttribute
	return events.DynamoDBEventRecord{
		EventName: "INSERT", EventSourceArn: "arn:stream",
		Change: events.DynamoDBStreamRecord{
			SequenceNumber: fmt.Sprint(number),
			Keys:           map[string]events.DynamoDBAttributeValue{"order_key": s(key), "id": s(id)},
			NewImage: map[string]events.DynamoDBAttributeValue{
				"order_key": s(key), "id": s(id), "source": s("shop"), "detail_type": s("T"), "time": s("2026-11-30T12:00:00.5Z"),
				"detail": s(`{"event_id":"` + id + `"}`), "expires_at": events.NewNumberAttribute("1"),
			},
		},
	}
}

// world is a bus and a dead-letter queue that do as they are told.
type world struct {
	answer    func(call int, e Entry) Answer // nil: takes everything
	fail      func(call int, batch []Entry) error
	asideFail error

	calls  [][]string // ids of each call's entries
	events []string   // ids, as they were published
	aside  []Poison
	log    strings.Builder
}

func (w *world) relay() *Relay {
	return &Relay{Publish: w.publish, SetAside: w.setAside, Log: slog.New(slog.NewTextHandler(&w.log, nil))}
}

func (w *world) publish(_ context.Context, batch []Entry) ([]Answer, error) {
	var ids []string
	for _, e := range batch {
		ids = append(ids, e.ID)
	}
	w.calls = append(w.calls, ids)
	if w.fail != nil {
		if err := w.fail(len(w.calls), batch); err != nil {
			return nil, err
		}
	}
	answers := make([]Answer, len(batch))
	for i, e := range batch {
		if w.answer != nil {
			answers[i] = w.answer(len(w.calls), e)
		}
		if answers[i].Code == "" {
			w.events = append(w.events, e.ID)
		}
	}
	return answers, nil
}

func (w *world) setAside(_ context.Context, p Poison) error {
	if w.asideFail == nil {
		w.aside = append(w.aside, p)
	}
	return w.asideFail
}

// throttle refuses the entries with these ids in the first calls.
func throttle(calls int, ids ...string) func(int, Entry) Answer {
	return func(call int, e Entry) Answer {
		if call <= calls && slices.Contains(ids, e.ID) {
			return Answer{Code: "ThrottlingException", Message: "slow down"}
		}
		return Answer{}
	}
}

func refuse(code, id string) func(int, Entry) Answer {
	return func(_ int, e Entry) Answer {
		if e.ID == id {
			return Answer{Code: code, Message: "no"}
		}
		return Answer{}
	}
}

func TestHandle(t *testing.T) {
	const always = 1000
	bad := inserts("a:1", "b:1", "c:1")
	delete(bad.Records[1].Change.NewImage, "detail")
	elevenKeys := strings.Fields("a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1")
	for name, c := range map[string]struct {
		world  world
		batch  events.DynamoDBEvent
		calls  string // ids by call
		failed string // sequence number that Lambda is to go on from; "": none
		aside  string // reason
	}{
		"nothing":      {batch: events.DynamoDBEvent{}},
		"one":          {batch: inserts("a:1"), calls: "[[a:1]]"},
		"ten at once":  {batch: inserts(elevenKeys...), calls: "[[a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1] [k:1]]"},
		"one of a key": {batch: inserts("a:1", "b:1", "a:2", "c:1", "a:3"), calls: "[[a:1 b:1] [a:2 c:1] [a:3]]"},
		"throttled, then not": {world: world{answer: throttle(1, "b:1")}, batch: inserts("a:1", "b:1", "c:1", "b:2"),
			calls: "[[a:1 b:1 c:1] [b:1] [b:2]]"},
		"throttled for good": {world: world{answer: throttle(always, "b:1")}, batch: inserts("a:1", "b:1", "c:1", "b:2", "d:1"),
			calls: "[[a:1 b:1 c:1] [b:1] [b:1]]", failed: "2"},
		"two throttled, one recovers": {world: world{answer: func(call int, e Entry) Answer {
			if e.ID == "c:1" {
				return throttle(always, "c:1")(call, e)
			}
			return throttle(2, "a:1")(call, e)
		}}, batch: inserts("a:1", "b:1", "c:1"), calls: "[[a:1 b:1 c:1] [a:1 c:1] [a:1 c:1]]", failed: "3"},
		"bus away": {world: world{fail: func(int, []Entry) error { return errors.New("refused connection") }}, batch: inserts("a:1", "b:1", "a:2"),
			calls: "[[a:1 b:1] [a:1 b:1] [a:1 b:1]]", failed: "1"},
		"bus away for a moment": {world: world{fail: func(call int, _ []Entry) error {
			if call == 2 {
				return errors.New("reset")
			}
			return nil
		}}, batch: inserts("a:1", "a:2"), calls: "[[a:1] [a:2] [a:2]]"},
		"missing permission is not the event's fault": {world: world{answer: refuse("AccessDeniedException", "a:1")}, batch: inserts("a:1"),
			calls: "[[a:1] [a:1] [a:1]]", failed: "1"},
		"nor is one for its source": {world: world{answer: refuse("NotAuthorizedForSourceException", "a:1")}, batch: inserts("a:1"),
			calls: "[[a:1] [a:1] [a:1]]", failed: "1"},
		"refused for good": {world: world{answer: refuse("MalformedDetail", "a:1")}, batch: inserts("a:1", "b:1", "a:2"),
			calls: "[[a:1 b:1] [a:2]]", aside: "the bus answers MalformedDetail: no"},
		"unreadable": {batch: bad, calls: "[[a:1] [c:1]]", aside: "its item has no text in detail"},
		"unreadable, and the queue is away": {world: world{asideFail: errors.New("no queue")}, batch: bad,
			calls: "[[a:1]]", failed: "2"},
		"refused for good, and the queue is away": {world: world{answer: refuse("InvalidArgument", "b:1"), asideFail: errors.New("no queue")},
			batch: inserts("a:1", "b:1", "c:1"), calls: "[[a:1 b:1 c:1] [b:1] [b:1]]", failed: "2"},
		"request refused for one of its entries": {world: world{fail: func(_ int, batch []Entry) error {
			if slices.ContainsFunc(batch, func(e Entry) bool { return e.ID == "b:1" }) {
				return fmt.Errorf("bus: %w", ErrRefused)
			}
			return nil
		}}, batch: inserts("a:1", "b:1", "c:1"), calls: "[[a:1 b:1 c:1] [a:1] [b:1] [c:1]]", aside: "the bus answers RequestRefused: bus: the bus refused the request"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := c.world
				out, err := w.relay().Handle(t.Context(), c.batch)
				if err != nil {
					t.Fatal(err)
				}
				failed := ""
				if len(out.BatchItemFailures) > 0 {
					failed = out.BatchItemFailures[0].ItemIdentifier
				}
				if failed != c.failed || len(out.BatchItemFailures) > 1 {
					t.Errorf("failures %v, want %q", out.BatchItemFailures, c.failed)
				}
				if calls := fmt.Sprint(w.calls); calls != c.calls && !(c.calls == "" && len(w.calls) == 0) {
					t.Errorf("calls %s, want %s", calls, c.calls)
				}
				if len(w.aside) > 0 != (c.aside != "") || len(w.aside) > 0 && w.aside[0].Reason != c.aside {
					t.Errorf("set aside %+v, want %q", w.aside, c.aside)
				}
				if (failed != "" || len(w.aside) > 0) && !strings.Contains(w.log.String(), "level=ERROR") {
					t.Errorf("logged %s", w.log.String())
				}
			})
		})
	}
}

// F66: whatever the bus does, every event is published, at least once, and none before an earlier one of its key.
func TestEveryEventInOrder(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) { everyEventInOrder(t, seed) })
	}
}

func everyEventInOrder(t *testing.T, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 0))
	var names []string
	next := map[string]int{}
	for range 40 {
		key := string(rune('a' + dice.IntN(6)))
		next[key]++
		names = append(names, fmt.Sprintf("%s:%03d", key, next[key]))
	}
	stream := inserts(names...).Records
	w := &world{}
	w.answer = func(_ int, e Entry) Answer {
		if dice.IntN(4) == 0 {
			return Answer{Code: "InternalFailure"}
		}
		return Answer{}
	}
	w.fail = func(_ int, batch []Entry) error {
		switch dice.IntN(8) {
		case 0:
			return errors.New("refused connection")
		case 1: // the answer is lost
			for _, e := range batch {
				w.events = append(w.events, e.ID)
			}
			return errors.New("reset")
		}
		return nil
	}
	for rounds := 0; len(stream) > 0; rounds++ {
		if rounds == 1000 {
			t.Fatalf("seed %d: no end", seed)
		}
		batch := stream[:min(len(stream), 1+dice.IntN(20))]
		out, err := w.relay().Handle(t.Context(), events.DynamoDBEvent{Records: batch})
		if err != nil {
			t.Fatal(err)
		}
		stream = stream[goOnFrom(out, batch):]
	}
	seen := map[string]bool{}
	last := map[string]string{}
	for _, id := range w.events {
		key, _, _ := strings.Cut(id, ":")
		if !seen[id] && id < last[key] {
			t.Errorf("seed %d: %s after %s", seed, id, last[key])
		}
		seen[id], last[key] = true, max(last[key], id)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(names)), slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("seed %d: %s", seed, diff)
	}
}

// goOnFrom is where Lambda goes on in a batch.
func goOnFrom(out events.DynamoDBEventResponse, batch []events.DynamoDBEventRecord) int {
	if len(out.BatchItemFailures) == 0 {
		return len(batch)
	}
	return slices.IndexFunc(batch, func(r events.DynamoDBEventRecord) bool {
		return r.Change.SequenceNumber == out.BatchItemFailures[0].ItemIdentifier
	})
}

// F67: the item of an event is deleted by TTL days after it was published. That is no event, and no news either; a
// deletion by somebody else is news.
func TestDeletionsAreNoEvents(t *testing.T) {
	for file, logs := range map[string]bool{"dynamodb-outbox-ttl.json": false, "dynamodb-outbox-delete.json": true, "dynamodb-outbox-modify.json": true} {
		w := &world{}
		out, err := w.relay().Handle(t.Context(), sample(t, file))
		if err != nil || len(out.BatchItemFailures) > 0 || len(w.calls) > 0 || len(w.aside) > 0 {
			t.Errorf("%s: %v %v, published %v, set aside %v", file, out, err, w.calls, w.aside)
		}
		if (w.log.Len() > 0) != logs {
			t.Errorf("%s: logged %q", file, w.log.String())
		}
	}
}

func TestSampleInsert(t *testing.T) {
	w := &world{}
	if _, err := w.relay().Handle(t.Context(), sample(t, "dynamodb-outbox-insert.json")); err != nil || len(w.events) != 1 || len(w.aside) != 0 {
		t.Errorf("published %v, set aside %+v, %v", w.events, w.aside, err)
	}
}

// sample reads an event of the folder events.
func sample(t *testing.T, file string) (e events.DynamoDBEvent) {
	t.Helper()
	text, err := os.ReadFile("../../events/" + file)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil || len(e.Records) == 0 {
		t.Fatalf("%s: %v", file, err)
	}
	return e
}

// A deadline ends the work in time to say how far it came.
func TestHandleStopsBeforeItsDeadline(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{3 * time.Second: 2 * time.Second, time.Second: time.Second / 2} {
		synctest.Test(t, func(t *testing.T) { stopsBeforeItsDeadline(t, limit, want) })
	}
}

func stopsBeforeItsDeadline(t *testing.T, limit, want time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	w := &world{}
	r := w.relay()
	r.Publish = func(ctx context.Context, batch []Entry) ([]Answer, error) {
		if batch[0].ID == "a:1" {
			return w.publish(ctx, batch)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	start := time.Now()
	out, err := r.Handle(ctx, inserts("a:1", "a:2", "b:1"))
	if err != nil || len(out.BatchItemFailures) != 1 || out.BatchItemFailures[0].ItemIdentifier != "2" || time.Since(start) != want {
		t.Errorf("%+v, %v after %v", out, err, time.Since(start))
	}
}

func TestBatchesStayBelowTheLimitOfARequest(t *testing.T) {
	big := strings.Repeat("x", 100_000)
	batch := inserts("a:1", "b:1", "c:1", "d:1")
	for _, r := range batch.Records {
		r.Change.NewImage["detail"] = events.NewStringAttribute(`{"a":"` + big + `"}`)
	}
	w := &world{}
	if _, err := w.relay().Handle(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(w.calls); got != "[[a:1 b:1] [c:1 d:1]]" {
		t.Errorf("calls %s", got)
	}
}

func TestUnreadableItems(t *testing.T) {
	s := events.NewStringAttribute
	for name, c := range map[string]struct {
		attribute string
		value     events.DynamoDBAttributeValue
		want      string
	}{
		"a number":    {"detail", events.NewNumberAttribute("1"), "its item has no text in detail"},
		"no time":     {"time", s("yesterday"), "its item has no RFC 3339 time in time"},
		"AWS's":       {"source", s("aws.s3"), "its source must"},
		"too large":   {"detail", s(strings.Repeat("x", 256<<10)), "it has 262163 bytes"},
		"binary type": {"detail_type", events.NewBinaryAttribute(nil), "its item has no text in detail_type"},
	} {
		r := insert(1, "a", "a:1")
		r.Change.NewImage[c.attribute] = c.value
		if a := arrivalOf(r); a.wrong == nil || !strings.HasPrefix(a.wrong.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, a.wrong, c.want)
		}
	}
}

func TestPoisonMessage(t *testing.T) {
	r := insert(7, "a", "a:1")
	p := arrivalOf(r).poison(errors.New("why"))
	text, err := p.Message(10_000)
	var got map[string]any
	if err != nil || json.Unmarshal([]byte(text), &got) != nil {
		t.Fatalf("%s: %v", text, err)
	}
	id := map[string]any{"S": "a:1"}
	if item, _ := got["item"].(map[string]any); got["reason"] != "why" || got["event_id"] != "a:1" || got["stream"] != "arn:stream" ||
		got["sequence_number"] != "7" || !cmp.Equal(got["keys"], any(map[string]any{"order_key": map[string]any{"S": "a"}, "id": id})) || !cmp.Equal(item["id"], any(id)) {
		t.Errorf("%s", text)
	}
	if short, err := p.Message(len(text) - 1); err != nil || strings.Contains(short, `"item"`) || !strings.Contains(short, `"keys"`) {
		t.Errorf("%s, %v", short, err)
	}
}
