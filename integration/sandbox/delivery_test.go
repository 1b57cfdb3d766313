package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency/outbox"
	"firstwriter/integration/dynamofake"
)

// stage is a database with a table "items" that has a stream, and what a delivery needs beside it.
type stage struct {
	t      *testing.T
	client *dynamodb.Client
	to     services
	queues *queues
	log    *syncBuffer
	close  func()
}

func newStage(t *testing.T, set ...func(*dynamofake.Options)) *stage {
	t.Helper()
	var o dynamofake.Options
	for _, f := range set {
		f(&o)
	}
	fake, err := dynamofake.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake)
	messages, _ := openJournal[message]("", "")
	s := &stage{t: t, to: services{region: localRegion, database: server.URL}, log: &syncBuffer{}, close: func() {
		server.Close()
		if err := fake.Close(); err != nil {
			t.Error(err)
		}
	}}
	s.queues = &queues{region: localRegion, names: []string{"dead"}, messages: messages}
	if s.client, err = databaseClient(t.Context(), localRegion, server.URL, false); err != nil {
		t.Fatal(err)
	}
	key := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	items := table{name: "items", attrs: []types.AttributeDefinition{key("id")}, ttl: "expires_at", stream: "NEW_IMAGE",
		keys: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}}
	if err := createTables(t.Context(), s.client, &logger{to: s.log}, []table{items}); err != nil {
		t.Fatal(err)
	}
	return s
}

// put writes items with these ids.
func (s *stage) put(ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
		if name, ok := strings.CutPrefix(id, "expired "); ok {
			item["id"] = &types.AttributeValueMemberS{Value: name}
			item["expires_at"] = &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(-time.Hour).Unix())}
		}
		if _, err := s.client.PutItem(s.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// deliver runs a mapping of the table until stop, which waits for its end.
func (s *stage) deliver(m mapping, at *positions, function func(events.DynamoDBEvent) outcome) (stop func()) {
	s.t.Helper()
	stream, err := openStream(s.t.Context(), s.to, "items")
	if err != nil {
		s.t.Fatal(err)
	}
	m.function, m.table = "F", "items"
	d := &delivery{mapping: m, stream: stream, positions: at, arn: "arn:f", queues: s.queues, log: &logger{to: s.log},
		function: func(inv *invocation) outcome {
			var e events.DynamoDBEvent
			if err := json.Unmarshal(inv.payload, &e); err != nil {
				s.t.Error(err)
			}
			return function(e)
		}}
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); d.run(ctx) }()
	return func() { cancel(); <-done }
}

// idsOf are the items that an event's records tell of.
func idsOf(e events.DynamoDBEvent) []string {
	var ids []string
	for _, r := range e.Records {
		ids = append(ids, r.Change.Keys["id"].String())
	}
	return ids
}

// nextOf waits for the next value.
func nextOf[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(20 * time.Second):
		t.Fatal("waited in vain")
	}
	return v
}

func memoryPositions() *positions { return &positions{at: map[string]string{}} }

func TestDeliveryInOrderAndBatches(t *testing.T) {
	s := newStage(t)
	defer s.close()
	s.put("a", "b", "c", "d", "e")
	got := make(chan events.DynamoDBEvent, 10)
	stop := s.deliver(mapping{batchSize: 2, retries: -1}, memoryPositions(), func(e events.DynamoDBEvent) outcome { got <- e; return outcome{} })
	defer stop()
	for _, want := range []string{"[a b]", "[c d]", "[e]"} {
		if ids := fmt.Sprint(idsOf(nextOf(t, got))); ids != want {
			t.Errorf("%s, want %s", ids, want)
		}
	}
	s.put("f")
	r := nextOf(t, got).Records[0]
	if r.EventName != "INSERT" || r.EventSource != "aws:dynamodb" || !strings.Contains(r.EventSourceArn, ":table/items/stream/") || r.UserIdentity != nil ||
		r.Change.NewImage["id"].String() != "f" || r.Change.SequenceNumber == "" || r.Change.StreamViewType != "NEW_IMAGE" || r.Change.ApproximateCreationDateTime.IsZero() {
		t.Errorf("%+v", r)
	}
}

// A record that kills the function is found by halving, tried as often as the mapping says, and given up; the others
// are delivered.
func TestDeliveryAroundAKiller(t *testing.T) {
	s := newStage(t)
	defer s.close()
	s.put("a", "b", "killer", "c", "d")
	var tries atomic.Int32
	delivered := make(chan []string, 10)
	stop := s.deliver(mapping{batchSize: 10, retries: 2, bisect: true, onFailure: "dead"}, memoryPositions(), func(e events.DynamoDBEvent) outcome {
		if ids := idsOf(e); slices.Contains(ids, "killer") {
			if len(ids) == 1 {
				tries.Add(1)
			}
			return outcome{failure: crashed}
		}
		delivered <- idsOf(e)
		return outcome{}
	})
	defer stop()
	var ids []string
	for len(ids) < 4 {
		ids = append(ids, nextOf(t, delivered)...)
	}
	if fmt.Sprint(ids) != "[a b c d]" || tries.Load() != 3 {
		t.Errorf("delivered %v, the killer was tried %d times", ids, tries.Load())
	}
	messages := s.queues.messages.list()
	if len(messages) != 1 || messages[0].Queue != "dead" || !strings.Contains(string(messages[0].Body), `"batchSize":1`) ||
		!strings.Contains(string(messages[0].Body), `"approximateInvokeCount":3`) || !strings.Contains(s.log.String(), "F: gave up 1 records from ") {
		t.Errorf("%+v %s", messages, s.log)
	}
}

// What a function reports as failed comes again, with what follows it, and nothing that came before.
func TestDeliveryGoesOnWhereTheFunctionSays(t *testing.T) {
	s := newStage(t)
	defer s.close()
	s.put("a", "b", "c")
	got := make(chan []string, 10)
	var calls atomic.Int32
	stop := s.deliver(mapping{batchSize: 10, retries: -1, partial: true}, memoryPositions(), func(e events.DynamoDBEvent) outcome {
		got <- idsOf(e)
		if calls.Add(1) == 1 {
			return outcome{payload: fmt.Appendf(nil, `{"batchItemFailures":[{"itemIdentifier":%q}]}`, e.Records[1].Change.SequenceNumber)}
		}
		return outcome{}
	})
	defer stop()
	if first, second := fmt.Sprint(nextOf(t, got)), fmt.Sprint(nextOf(t, got)); first != "[a b c]" || second != "[b c]" {
		t.Errorf("%s, then %s", first, second)
	}
}

// A record that was committed before everything was killed is delivered after the restart, and what was done is not
// delivered anew.
func TestDeliveryAfterARestart(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	onDisk := func(o *dynamofake.Options) { o.Dir = dir }
	open := func() *positions {
		at, err := openPositions(data)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	m := mapping{batchSize: 1, retries: -1}
	got := make(chan []string, 10)
	take := func(e events.DynamoDBEvent) outcome { got <- idsOf(e); return outcome{} }

	s := newStage(t, onDisk)
	s.put("a")
	stop := s.deliver(m, open(), take)
	nextOf(t, got)
	eventually(t, "the position is noted", func() bool { return len(open().at) == 1 })
	stop()
	s.put("b", "c")
	reached, never := make(chan struct{}), make(chan struct{})
	defer close(never)
	stop = s.deliver(m, open(), func(events.DynamoDBEvent) outcome { close(reached); <-never; return outcome{} })
	nextOf(t, reached) // it has b, and is killed with it
	stop()
	s.close()

	s = newStage(t, onDisk)
	defer s.close()
	stop = s.deliver(m, open(), take)
	defer stop()
	if b, c := fmt.Sprint(nextOf(t, got)), fmt.Sprint(nextOf(t, got)); b != "[b]" || c != "[c]" {
		t.Errorf("after the restart: %s, %s", b, c)
	}
}

func TestDeliveryGoesOnAfterTrimming(t *testing.T) {
	var ahead atomic.Int64
	s := newStage(t, func(o *dynamofake.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	defer s.close()
	at := memoryPositions()
	got := make(chan []string, 10)
	take := func(e events.DynamoDBEvent) outcome { got <- idsOf(e); return outcome{} }
	s.put("a")
	stop := s.deliver(mapping{batchSize: 1, retries: -1}, at, take)
	nextOf(t, got)
	eventually(t, "the position is noted", func() bool { at.mu.Lock(); defer at.mu.Unlock(); return len(at.at) == 1 })
	stop()
	s.put("b")
	ahead.Store(int64(25 * time.Hour))
	s.put("c")
	stop = s.deliver(mapping{batchSize: 1, retries: -1}, at, take)
	defer stop()
	if ids := fmt.Sprint(nextOf(t, got)); ids != "[c]" || !strings.Contains(s.log.String(), "the stream has lost the records") {
		t.Errorf("%s; %s", ids, s.log)
	}
}

// F67: a deletion by TTL is in the stream, and no event: the mapping's filter keeps it from the function, and without
// the filter the relay knows it.
func TestTTLDeletionsAreNoEvents(t *testing.T) {
	s := newStage(t, func(o *dynamofake.Options) { o.TTLDelay = -1 })
	defer s.close()
	insertsOnly, err := parsePattern([]byte(`{"eventName":["INSERT"]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan events.DynamoDBEvent, 10)
	take := func(e events.DynamoDBEvent) outcome { got <- e; return outcome{} }
	s.put("expired a", "b")
	stop := s.deliver(mapping{batchSize: 10, retries: -1, filters: []*pattern{insertsOnly}}, memoryPositions(), take)
	if ids := fmt.Sprint(idsOf(nextOf(t, got))); ids != "[a b]" {
		t.Errorf("filtered: %s", ids)
	}
	stop()
	stop = s.deliver(mapping{batchSize: 10, retries: -1}, memoryPositions(), take)
	defer stop()
	e := nextOf(t, got)
	e.Records = slices.DeleteFunc(e.Records, func(r events.DynamoDBEventRecord) bool { return r.EventName == "INSERT" })
	if len(e.Records) != 1 || e.Records[0].UserIdentity == nil || e.Records[0].UserIdentity.PrincipalID != "dynamodb.amazonaws.com" {
		t.Fatalf("not a deletion by TTL: %+v", e.Records)
	}
	relay := outbox.Relay{Log: slog.New(slog.DiscardHandler)} // it panics if it publishes or sets aside
	if out, err := relay.Handle(t.Context(), e); err != nil || len(out.BatchItemFailures) != 0 {
		t.Errorf("%+v %v", out, err)
	}
}

func TestTableWithoutAStream(t *testing.T) {
	s := newStage(t)
	defer s.close()
	plain := table{name: "plain", attrs: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		keys: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}}
	if err := createTables(t.Context(), s.client, &logger{to: s.log}, []table{plain}); err != nil {
		t.Fatal(err)
	}
	if _, err := openStream(t.Context(), s.to, "plain"); err == nil || err.Error() != "its table plain has no stream on this database server" {
		t.Errorf("%v", err)
	}
}

func TestRetryPauseGrowsToItsLimit(t *testing.T) {
	for failed, want := range map[int]time.Duration{0: 0, 1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 6: 3200 * time.Millisecond, 7: 5 * time.Second, 1000: 5 * time.Second} {
		if got := retryPause(failed); got != want {
			t.Errorf("%d: %v, want %v", failed, got, want)
		}
	}
}
