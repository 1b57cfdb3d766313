package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/integration/dynamofake"
)

const orders = "orders"

var quiet = slog.New(slog.DiscardHandler)

// endpoint is a guarded handler on DynamoDB that puts an order together with its response.
type endpoint struct {
	t      *testing.T
	server *dynamofake.Server
	client *dynamodb.Client
	guard  *idempotency.Guard
	body   []byte // of the responses
	runs   int
	last   atomic.Pointer[idempotency.Event]
}

func newEndpoint(t *testing.T) *endpoint {
	server, raw := newTable(t)
	createTable(t, raw, orders, "pk")
	server.Reset()
	client := dynamodb.NewFromConfig(server.Config(), func(o *dynamodb.Options) {
		straight := o.HTTPClient // into the server, without a socket
		dynamostore.Tune(o)
		o.HTTPClient = straight
	})
	e := &endpoint{t: t, server: server, client: client, body: []byte(`{"ok":true}`)}
	guard, err := idempotency.New(idempotency.Config{Store: dynamostore.New(client, table), Scope: idempotency.SharedScope,
		Logger:  quiet,
		Observe: func(_ context.Context, event idempotency.Event) { e.last.Store(&event) }})
	if err != nil {
		t.Fatal(err)
	}
	e.guard = guard
	return e
}

// serve sends an order under a key, within the 28 s of a Lambda function.
func (e *endpoint) serve(key, order string) *idempotency.Response {
	ctx, cancel := context.WithTimeout(context.Background(), 28*time.Second)
	defer cancel()
	return e.guard.Serve(ctx, orderRequest(key, order), func(ctx context.Context) (*idempotency.Response, error) {
		e.runs++
		if err := dynamostore.OnRefused(ctx, exists); err != nil {
			return nil, err
		}
		return &idempotency.Response{Status: 201, Header: http.Header{"Location": {"/orders/" + order}}, Body: e.body}, dynamostore.Enlist(ctx, putOrder(order))
	})
}

func orderRequest(key, order string) *idempotency.Request {
	body, _ := json.Marshal(order)
	return &idempotency.Request{Method: "POST", Path: "/orders", Route: "POST /orders", Body: body,
		Header: http.Header{idempotency.KeyHeader: {key}, "Content-Type": {"application/json"}}}
}

func putOrder(order string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: aws.String(orders), ConditionExpression: aws.String("attribute_not_exists(pk)"),
		Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: order}}}}
}

// exists answers for an order that is there already.
func exists([]types.CancellationReason) *idempotency.Response {
	return &idempotency.Response{Status: 409, Header: http.Header{}, Body: []byte("exists")}
}

func (e *endpoint) want(what string, r *idempotency.Response, status int, replayed bool, text string) {
	e.t.Helper()
	if r.Status != status || (r.Header.Get(idempotency.ReplayHeader) == "true") != replayed || !bytes.Contains(r.Body, []byte(text)) {
		e.t.Errorf("%s: %d, headers %v, %.200s; want %d, replayed %v, %q", what, r.Status, r.Header, r.Body, status, replayed, text)
	}
}

func (e *endpoint) orders() int {
	e.t.Helper()
	out, err := e.client.Scan(e.t.Context(), &dynamodb.ScanInput{TableName: aws.String(orders)})
	if err != nil {
		e.t.Fatal(err)
	}
	return int(out.Count)
}

func (e *endpoint) inject(f dynamofake.Fault) {
	e.t.Helper()
	if err := e.server.Inject(f); err != nil {
		e.t.Fatal(err)
	}
}

func TestCallsAndUnits(t *testing.T) {
	e := newEndpoint(t)
	for _, c := range []struct {
		what        string
		call        func()
		calls       string
		write, read float64
	}{
		{"first run", func() { e.want("first", e.serve("k", "1"), 201, false, "ok") }, "map[PutItem:1 TransactWriteItems:1]", 1 + 4, 0},
		{"replay", func() { e.want("replay", e.serve("k", "1"), 201, true, "ok") }, "map[PutItem:1]", 1, 0},
		{"mismatch", func() { e.want("mismatch", e.serve("k", "2"), 422, false, "key-reused") }, "map[PutItem:1]", 1, 0},
	} {
		e.server.Reset()
		c.call()
		s := e.server.Stats()
		if fmt.Sprint(s.Calls) != c.calls || s.WriteUnits != c.write || s.ReadUnits != c.read {
			t.Errorf("%s: %v, %v write and %v read units; want %s, %v and %v", c.what, s.Calls, s.WriteUnits, s.ReadUnits, c.calls, c.write, c.read)
		}
		if u := e.last.Load().Store; u.WriteUnits != c.write || u.ReadUnits != c.read || u.Calls != len(s.Calls) {
			t.Errorf("%s: the event tells of %+v", c.what, u)
		}
	}
	if e.orders() != 1 || e.runs != 1 {
		t.Errorf("%d orders, %d runs", e.orders(), e.runs)
	}
}

// TestLargeResponses runs on a clock that stands while there is work to do: a slow machine must not look like a slow
// store.
func TestLargeResponses(t *testing.T) { synctest.Test(t, testLargeResponses) } // F31

func testLargeResponses(t *testing.T) {
	e := newEndpoint(t)
	noise := rand.NewChaCha8([32]byte{})
	for _, c := range []struct {
		name  string
		size  int
		noisy bool
		read  float64 // units of a replay
	}{
		{"300 bytes", 300, true, 0}, {"100 KB that do not compress", 100_000, true, 25}, {"340 KB that compress", 340_000, false, 1},
		{"one item's limit", 390_000, true, 96}, {"one byte over it", 390_001, true, 97}, {"3 MB", 3_000_000, true, 738},
	} {
		e.body = bytes.Repeat([]byte("x"), c.size)
		if c.noisy {
			noise.Read(e.body)
		}
		e.want(c.name, e.serve(strings.ReplaceAll(c.name, " ", "-"), c.name), 201, false, "")
		e.server.Reset()
		r := e.serve(strings.ReplaceAll(c.name, " ", "-"), c.name)
		if !bytes.Equal(r.Body, e.body) || r.Header.Get(idempotency.ReplayHeader) != "true" {
			t.Errorf("%s: replayed as %d bytes, headers %v", c.name, len(r.Body), r.Header)
		}
		if s := e.server.Stats(); s.WriteUnits != 1 || s.ReadUnits > c.read {
			t.Errorf("%s: a replay costs %v write and %v read units; want 1 and at most %v", c.name, s.WriteUnits, s.ReadUnits, c.read)
		}
	}
}

// TestSlowLargeResponses: the items of a large body are written and read within their budgets where each call takes its
// time.
func TestSlowLargeResponses(t *testing.T) { // F31
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(t)
		e.body = make([]byte, 6<<20)
		rand.NewChaCha8([32]byte{}).Read(e.body)
		for _, op := range []string{"PutItem", "GetItem"} {
			if err := e.server.Inject(dynamofake.Fault{Op: op, Nth: 1, Times: -1, Kind: dynamofake.FaultDelay, Delay: 100 * time.Millisecond}); err != nil {
				t.Fatal(err)
			}
		}
		e.want("first", e.serve("k", "1"), 201, false, "")
		if got := e.last.Load().Outcome; got != idempotency.OutcomeFirst {
			t.Errorf("outcome %s", got)
		}
		if r := e.serve("k", "1"); !bytes.Equal(r.Body, e.body) {
			t.Errorf("replayed as %d, %d bytes", r.Status, len(r.Body))
		}
	})
}

// TestHopelessWrites: a transaction that can never be committed fails at once, and says so: nobody is told to wait for its
// outcome.
func TestHopelessWrites(t *testing.T) {
	put := func(name string, it map[string]types.AttributeValue) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: aws.String(name), Item: it}}
	}
	pk := func(s string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: s}}
	}
	large := pk("large")
	large["data"] = &types.AttributeValueMemberB{Value: make([]byte, 401<<10)}
	for name, writes := range map[string][]types.TransactWriteItem{
		"100 beside the record": slices.Repeat([]types.TransactWriteItem{putOrder("x")}, 100),
		"two on one item":       {putOrder("x"), putOrder("x")},
		"no key":                {put(orders, nil)},
		"too large":             {put(orders, large)},
		"key of another type":   {put(orders, map[string]types.AttributeValue{"pk": &types.AttributeValueMemberN{Value: "1"}})},
		"nothing":               {{}},
	} {
		e := newEndpoint(t)
		r := e.guard.Serve(context.Background(), orderRequest("k", "1"), func(ctx context.Context) (*idempotency.Response, error) {
			return &idempotency.Response{Status: 201}, dynamostore.Enlist(ctx, writes...)
		})
		if got := e.last.Load().Outcome; r.Status != 500 || got != idempotency.OutcomeOrphaned {
			t.Errorf("%s: %d %s, outcome %s", name, r.Status, r.Body, got)
		}
		e.want(name+": the next attempt runs at once", e.serve("k", "1"), 201, false, "")
	}
}

// TestBodyItemsLost: a missing or damaged body item is 503, and never a rerun: F32, F96.
func TestBodyItemsLost(t *testing.T) {
	for what, damage := range map[string]func(item map[string]types.AttributeValue){
		"missing": nil,
		"damaged": func(item map[string]types.AttributeValue) {
			item["data"].(*types.AttributeValueMemberB).Value[50000] ^= 1
		},
		"of no bytes": func(item map[string]types.AttributeValue) { item["data"] = &types.AttributeValueMemberS{Value: "x"} },
	} {
		e := newEndpoint(t)
		e.body = make([]byte, 100_000)
		rand.NewChaCha8([32]byte{}).Read(e.body)
		e.serve("k", "1")
		out, err := e.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table)})
		if err != nil || out.Count != 2 {
			t.Fatalf("%d items, %v", out.Count, err)
		}
		var expires, bodyExpires int64
		for _, item := range out.Items {
			id := item["id"].(*types.AttributeValueMemberS)
			n, err := strconv.ParseInt(item["expires_at"].(*types.AttributeValueMemberN).Value, 10, 64)
			if !strings.Contains(id.Value, "#body#") {
				expires = n
				continue
			}
			bodyExpires = n
			_, errDelete := e.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: map[string]types.AttributeValue{"id": id}})
			if err := errors.Join(err, errDelete); err != nil {
				t.Fatal(err)
			}
			if damage == nil {
				continue
			}
			damage(item)
			if _, err = e.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}); err != nil {
				t.Fatal(err)
			}
		}
		if bodyExpires != expires+3600 {
			t.Errorf("the body item expires %d s after its record, want an hour", bodyExpires-expires)
		}
		e.want(what, e.serve("k", "1"), 503, false, "store-unavailable")
		if e.runs != 1 {
			t.Errorf("%s: %d runs", what, e.runs)
		}
	}
}

// TestFaults lets the database go wrong at each call of a first run. Whatever happens, the client that retries ends
// with one order.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  dynamofake.Fault
		status int // of the first answer
		text   string
	}{
		{"F04 claim's acknowledgement lost", dynamofake.Fault{Op: "PutItem", Nth: 1, Times: 1, Kind: "drop-ack"}, 201, "ok"},
		{"claim fails once", dynamofake.Fault{Op: "PutItem", Nth: 1, Times: 1, Kind: "error"}, 201, "ok"},
		{"F58 claim throttled", dynamofake.Fault{Op: "PutItem", Nth: 1, Times: 2, Kind: "throttle"}, 201, "ok"},
		{"F60 claim fails for good", dynamofake.Fault{Op: "PutItem", Nth: 1, Times: 3, Kind: "error"}, 503, "store-unavailable"},
		{"F58 throttled for good", dynamofake.Fault{Op: "PutItem", Nth: 1, Times: 3, Kind: "throttle"}, 503, "store-unavailable"},
		{"F05 claim's acknowledgement lost for good", dynamofake.Fault{Op: "PutItem", Nth: 1, Times: 3, Kind: "drop-ack"}, 503, "store-unavailable"},
		{"F09 transaction's acknowledgement lost", dynamofake.Fault{Op: "TransactWriteItems", Nth: 1, Times: 1, Kind: "drop-ack"}, 201, "ok"},
		{"F63 its token replay's acknowledgement lost too", dynamofake.Fault{Op: "TransactWriteItems", Nth: 1, Times: 3, Kind: "drop-ack"}, 201, "ok"},
		{"transaction throttled", dynamofake.Fault{Op: "TransactWriteItems", Nth: 1, Times: 5, Kind: "throttle"}, 201, "ok"},
		{"transaction fails a few times", dynamofake.Fault{Op: "TransactWriteItems", Nth: 1, Times: 7, Kind: "error"}, 201, "ok"},
		{"F10 transaction fails for good", dynamofake.Fault{Op: "TransactWriteItems", Nth: 1, Times: 1000, Kind: "error"}, 503, "outcome-unknown"},
		{"F99 transaction lands long after", dynamofake.Fault{Op: "TransactWriteItems", Nth: 1, Times: 1000, Kind: "delay", Delay: 3 * time.Second}, 503, "outcome-unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEndpoint(t)
				e.inject(c.fault)
				start := time.Now()
				first := e.serve("k", "1")
				e.want("first answer", first, c.status, false, c.text)
				if took := time.Since(start); took > 4*time.Second {
					t.Errorf("answered after %v", took)
				}
				if first.Status == 503 && first.Header.Get("Retry-After") == "" {
					t.Errorf("no Retry-After: %v", first.Header)
				}
				e.server.Reset()
				final := first
				for tries := 0; final.Status != 201 && tries < 40; tries++ {
					time.Sleep(time.Second)
					final = e.serve("k", "1")
				}
				e.want("final answer", final, 201, final != first && final.Header.Get(idempotency.ReplayHeader) == "true", "ok")
				e.want("replay", e.serve("k", "1"), 201, true, "ok")
				if n := e.orders(); n != 1 {
					t.Errorf("%d orders", n)
				}
			})
		})
	}
}

func TestBusinessConditionOnDynamoDB(t *testing.T) { // F89
	e := newEndpoint(t)
	e.want("first", e.serve("k", "1"), 201, false, "ok")
	e.want("the order exists", e.serve("l", "1"), 409, false, "exists")
	e.want("recorded", e.serve("l", "1"), 409, true, "exists")
	if e.orders() != 1 || e.runs != 2 {
		t.Errorf("%d orders, %d runs", e.orders(), e.runs)
	}
}

// TestFencedTransaction: a late owner commits neither its response nor its writes: F11.
func TestFencedTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(t)
		slow := func(ctx context.Context) (*idempotency.Response, error) {
			time.Sleep(40 * time.Second) // does not look at its context
			return &idempotency.Response{Status: 200, Header: http.Header{}}, dynamostore.Enlist(ctx, putOrder("late"))
		}
		req := func() *idempotency.Request {
			return &idempotency.Request{Method: "POST", Path: "/orders", Header: http.Header{idempotency.KeyHeader: {"k"}}}
		}
		late := make(chan *idempotency.Response)
		go func() { late <- e.guard.Serve(context.Background(), req(), slow) }()
		time.Sleep(33 * time.Second)
		e.want("takeover", e.guard.Serve(context.Background(), req(), func(ctx context.Context) (*idempotency.Response, error) {
			return &idempotency.Response{Status: 201, Header: http.Header{}, Body: []byte("winner")}, dynamostore.Enlist(ctx, putOrder("winner"))
		}), 201, false, "winner")
		if r := <-late; r.Status == 200 {
			t.Errorf("the late owner is told %d %s", r.Status, r.Body)
		}
		e.want("replay", e.guard.Serve(context.Background(), req(), slow), 201, true, "winner")
		if n := e.orders(); n != 1 {
			t.Errorf("%d orders", n)
		}
	})
}

func TestTableMissing(t *testing.T) { // F60
	e := newEndpoint(t)
	if _, err := e.client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(table)}); err != nil {
		t.Fatal(err)
	}
	e.want("no table", e.serve("k", "1"), 503, false, "store-unavailable")
	if e.runs != 0 {
		t.Errorf("%d runs", e.runs)
	}
}
