package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint/endpointtest"
	"firstwriter/integration/dynamofake"
)

func TestFirstThenReplay(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body("quantity", "2"))
	endpointtest.Wants(t, first, 201, "")
	var o struct{ ID, Created_at string }
	if err := json.Unmarshal([]byte(first.Body), &o); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"id":%q,"sku":"book","quantity":2,"amount":2598,"currency":"EUR","status":"confirmed","reference":"order-42","created_at":%q}`,
		o.ID, o.Created_at)
	if first.Body != want || first.Headers["Location"] != "/orders/"+o.ID || first.Headers["Content-Type"] != "application/json" || !isOrderID(o.ID) {
		t.Errorf("got %+v, want %s", first, want)
	}
	endpointtest.WantsReplay(t, f.post("k", body("quantity", "2")), first)
	endpointtest.WantsReplay(t, f.post("k", body("quantity", "2.0")), first)
	f.wantsWorld("book", 998, 1, 0, 1, 1)
	if got := f.get("acme", first.Headers["Location"]); got.StatusCode != 200 || got.Body != first.Body {
		t.Errorf("read: %+v", got)
	}
	endpointtest.Wants(t, f.get("globex", first.Headers["Location"]), 404, "not-found")
}

// An order of three steps makes at most six calls of the database, and its replay one.
func TestCallsOfAnOrder(t *testing.T) {
	f := newFunction(t)
	for _, c := range []struct {
		what, key, body string
		want            map[string]int
		units           float64 // to write: 1 for a claim or checkpoint, 2 for each item of a transaction
	}{
		{"first of a process", "k1", body(), map[string]int{"GetItem": 1, "PutItem": 1, "TransactWriteItems": 2, "UpdateItem": 1}, 14},
		{"with a known price", "k2", body(), map[string]int{"PutItem": 1, "TransactWriteItems": 2, "UpdateItem": 1}, 14},
		{"replay", "k2", body(), map[string]int{"PutItem": 1}, 1},
		{"declined", "k3", body("source", `"tok_declined"`), map[string]int{"PutItem": 1, "TransactWriteItems": 2, "UpdateItem": 3}, 16},
		{"out of stock", "k4", body("quantity", "100", "sku", `"rare"`), map[string]int{"GetItem": 1, "PutItem": 1, "TransactWriteItems": 2}, 11},
	} {
		f.db.Reset()
		f.post(c.key, c.body)
		stats, total := f.db.Stats(), 0
		calls := stats.Calls
		for _, n := range calls {
			total += n
		}
		if fmt.Sprint(calls) != fmt.Sprint(c.want) || total > 6 || stats.WriteUnits != c.units {
			t.Errorf("%s: %v and %v units, want %v and %v", c.what, calls, stats.WriteUnits, c.want, c.units)
		}
	}
}

func TestInvalidOrderBurnsNoKey(t *testing.T) {
	f := newFunction(t)
	for _, ask := range []string{"", "{", body("quantity", "0"), body("quantity", "101"), body("sku", `""`)} {
		endpointtest.Wants(t, f.post("k", ask), 400, "invalid-request")
	}
	endpointtest.Wants(t, f.post("k", body("sku", `"unicorn"`)), 404, "not-found")
	first := f.post("k", body())
	endpointtest.Wants(t, first, 201, "")
	endpointtest.Wants(t, f.post("k", body("quantity", "101")), 422, "key-reused")
	endpointtest.Wants(t, f.post("k", body("sku", `"unicorn"`)), 422, "key-reused")
	f.wantsWorld("book", 999, 1, 0, 1, 1)
}

// A product may go while a client's retry is under way: the retry must get its replay all the same.
func TestReplayOutlivesTheProduct(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body("sku", `"rare"`))
	f.delete("stock", map[string]types.AttributeValue{"sku": text("rare")})
	f.start()
	endpointtest.WantsReplay(t, f.post("k", body("sku", `"rare"`)), first)
	endpointtest.Wants(t, f.post("k2", body("sku", `"rare"`)), 404, "not-found")
}

// Where prices cannot be read, nothing is known about the product: the request may be sent again.
func TestUnreadablePrice(t *testing.T) {
	f := newFunction(t)
	f.put("stock", map[string]types.AttributeValue{"sku": text("odd"), "price": number(0), "currency": text("EUR"), "stock": number(5)})
	got := f.post("k", body("sku", `"odd"`))
	if endpointtest.Wants(t, got, 503, "store-unavailable"); got.Headers["Retry-After"] == "" {
		t.Error("no Retry-After")
	}
	f.put("stock", productItem("odd", 100, 5))
	endpointtest.Wants(t, f.post("k", body("sku", `"odd"`)), 201, "")
	f.wantsWorld("odd", 4, 1, 0, 1, 1)
}

func TestProductGoesBeforeTheReservation(t *testing.T) {
	f := newFunction(t)
	if err := f.db.Inject(dynamofake.Fault{Op: "GetItem", Times: 3, Kind: dynamofake.FaultError}); err != nil {
		t.Fatal(err) // the hook cannot ask, and lets it pass
	}
	ask := body("sku", `"unicorn"`)
	endpointtest.Wants(t, f.post("k", ask), 404, "not-found")
	f.put("stock", productItem("unicorn", 100, 5))
	endpointtest.Wants(t, f.post("k", ask), 201, "")
}

func TestNoSuchOrder(t *testing.T) {
	f := newFunction(t)
	for _, id := range []string{"ord_none", "ord_" + strings.Repeat("A", 43), "", strings.Repeat("x", 4000)} {
		endpointtest.Wants(t, f.get("acme", "/orders/"+id), 404, "not-found")
	}
	endpointtest.Wants(t, f.send(endpointtest.Event("GET", "/other", "", "")), 404, "not-found")
	endpointtest.Wants(t, f.send(endpointtest.As(endpointtest.Event("POST", "/orders", "k", body()), "", "alice")), 403, "caller-unknown")
	endpointtest.Wants(t, f.get("", "/orders/ord_none"), 403, "caller-unknown")
}

func TestReadWithoutAStore(t *testing.T) {
	f := newFunction(t)
	if err := f.db.Inject(dynamofake.Fault{Op: "GetItem", Times: -1, Kind: dynamofake.FaultError}); err != nil {
		t.Fatal(err)
	}
	endpointtest.Wants(t, f.get("acme", "/orders/ord_"+strings.Repeat("A", 43)), 503, "store-unavailable")
}

func TestPostNeedsTheGuard(t *testing.T) {
	a := &api{}
	if r, err := a.handle(t.Context(), endpointtest.Event("POST", "/orders", "k", body())); err == nil {
		t.Errorf("it answered %+v", r)
	}
}

// The sample events are what the gateway sends; sam local uses them too.
func TestSampleEvents(t *testing.T) {
	for file, status := range map[string]int{"http-v2-post-order.json": 201, "http-v2-get-order.json": 404} {
		text, err := os.ReadFile(filepath.Join("..", "..", "events", file))
		if err != nil {
			t.Fatal(err)
		}
		var e request
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		if r := newFunction(t).send(e); r.StatusCode != status {
			t.Errorf("%s: %+v", file, r)
		}
	}
}

// A step that cannot be recorded is no answer of the handler's.
func TestOtherErrorsAreTheGuards(t *testing.T) {
	a := &api{log: slog.New(slog.DiscardHandler)}
	strange := errors.New("strange")
	if r, err := a.notCharged(t.Context(), nil, strange); !errors.Is(err, strange) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := a.notReserved(t.Context(), nil, strange); !errors.Is(err, strange) {
		t.Errorf("%+v, %v", r, err)
	}
}
