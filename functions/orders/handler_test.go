package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/endpoint/endpointtest"
	"firstwriter/functions/internal/provider/providertest"
	"firstwriter/idempotency/apigateway"
	"firstwriter/integration/dynamofake"
)

// function is the orders function as it is deployed, on a database, a provider and a Secrets Manager of the test's. There are
// 1,000 pieces of book at 12.99 and one of rare at 99.00.
type function struct {
	t      *testing.T
	handle apigateway.HTTPHandler
	db     *dynamofake.Server
	client *dynamodb.Client
	psp    *providertest.PSP
	log    *bytes.Buffer
}

func newFunction(t *testing.T) *function {
	t.Helper()
	f := &function{t: t, psp: providertest.NewPSP(t), log: &bytes.Buffer{}}
	f.db, f.client = dynamofake.Start(t)
	endpointtest.CreateTable(t, f.client, "records", []string{"id"})
	endpointtest.CreateTable(t, f.client, "stock", []string{"sku"})
	endpointtest.CreateTable(t, f.client, "orders", []string{"pk"})
	endpointtest.CreateTable(t, f.client, "outbox", []string{"order_key", "id"})
	f.put("stock", productItem("book", 1299, 1000))
	f.put("stock", productItem("rare", 9900, 1))
	f.start()
	f.db.Reset()
	return f
}

// start starts a process, which has read nothing yet.
func (f *function) start() {
	f.t.Helper()
	cfg := providertest.NewSecretsManager(f.t, providertest.Secret).Config
	s := settings{stockTable: "stock", ordersTable: "orders", outboxTable: "outbox", Settings: endpoint.Settings{IdempotencyTable: "records",
		ProviderURL: f.psp.URL, SecretARN: providertest.SecretARN, Metrics: "firstwriter/test"}}
	var err error
	if f.handle, err = newHandler(s, cfg, f.client, slog.New(slog.NewJSONHandler(f.log, nil))); err != nil {
		f.t.Fatal(err)
	}
}

func productItem(sku string, price, stock int64) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"sku": text(sku), "price": number(price), "currency": text("EUR"), "stock": number(stock)}
}

func (f *function) put(table string, item map[string]types.AttributeValue) {
	f.t.Helper()
	if _, err := f.client.PutItem(f.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *function) delete(table string, key map[string]types.AttributeValue) {
	f.t.Helper()
	if _, err := f.client.DeleteItem(f.t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *function) scan(table string) []map[string]types.AttributeValue {
	f.t.Helper()
	out, err := f.client.Scan(f.t.Context(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		f.t.Fatal(err)
	}
	return out.Items
}

// forgetRecords does to the idempotency records what the retention and TTL do.
func (f *function) forgetRecords() {
	f.t.Helper()
	for _, item := range f.scan("records") {
		f.delete("records", map[string]types.AttributeValue{"id": item["id"]})
	}
}

// send runs one request as Lambda does, with the time of the deployed function.
func (f *function) send(e request) response {
	f.t.Helper()
	return f.sendWithin(28*time.Second, e)
}

func (f *function) sendWithin(limit time.Duration, e request) response {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), limit)
	defer cancel()
	r, err := f.handle(ctx, e)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *function) post(key, body string) response {
	f.t.Helper()
	return f.send(endpointtest.Event("POST", "/orders", key, body))
}

func (f *function) get(tenant, location string) response {
	f.t.Helper()
	e := endpointtest.Event("GET", location, "", "")
	e.RouteKey, e.PathParameters = "GET /orders/{id}", map[string]string{"id": strings.TrimPrefix(location, "/orders/")}
	return f.send(endpointtest.As(e, tenant, "alice"))
}

// wantsWorld checks what is left of a product's pieces, what the provider has taken, how many orders there are of each
// status, and how many events.
func (f *function) wantsWorld(sku string, stock, charges, reserved, confirmed, events int) {
	f.t.Helper()
	for _, item := range f.scan("stock") {
		if n := item["stock"].(*types.AttributeValueMemberN).Value; item["sku"].(*types.AttributeValueMemberS).Value == sku && n != strconv.Itoa(stock) {
			f.t.Errorf("%s pieces of %s are left, want %d", n, sku, stock)
		}
	}
	statuses := map[string]int{}
	for _, item := range f.scan("orders") {
		statuses[item["status"].(*types.AttributeValueMemberS).Value]++
	}
	_, made := f.psp.Counts()
	if n := len(f.scan("outbox")); made != charges || statuses[statusReserved] != reserved || statuses[statusConfirmed] != confirmed || n != events {
		f.t.Errorf("%d charges, orders %v, %d events; want %d, %d reserved and %d confirmed, %d",
			made, statuses, n, charges, reserved, confirmed, events)
	}
}

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
	}{
		{"first of a process", "k1", body(), map[string]int{"GetItem": 1, "PutItem": 1, "TransactWriteItems": 2, "UpdateItem": 1}},
		{"with a known price", "k2", body(), map[string]int{"PutItem": 1, "TransactWriteItems": 2, "UpdateItem": 1}},
		{"replay", "k2", body(), map[string]int{"PutItem": 1}},
		{"declined", "k3", body("source", `"tok_declined"`), map[string]int{"PutItem": 1, "TransactWriteItems": 2, "UpdateItem": 3}},
	} {
		f.db.Reset()
		f.post(c.key, c.body)
		calls, total := f.db.Stats().Calls, 0
		for _, n := range calls {
			total += n
		}
		if fmt.Sprint(calls) != fmt.Sprint(c.want) || total > 6 {
			t.Errorf("%s: %v, want %v", c.what, calls, c.want)
		}
	}
}

func TestDeclineGivesTheStockBack(t *testing.T) {
	f := newFunction(t)
	ask := body("sku", `"rare"`, "source", `"tok_declined"`)
	first := f.post("k", ask)
	endpointtest.Wants(t, first, 402, "card-declined")
	endpointtest.WantsReplay(t, f.post("k", ask), first)
	f.wantsWorld("rare", 1, 0, 0, 0, 0)
	endpointtest.Wants(t, f.post("k2", body("sku", `"rare"`)), 201, "")
	f.wantsWorld("rare", 0, 1, 0, 1, 1)
}

func TestOutOfStockIsFinal(t *testing.T) {
	f := newFunction(t)
	ask := body("sku", `"rare"`, "quantity", "2")
	first := f.post("k", ask)
	endpointtest.Wants(t, first, 409, "out-of-stock")
	f.put("stock", productItem("rare", 9900, 100))
	endpointtest.WantsReplay(t, f.post("k", ask), first)
	f.wantsWorld("rare", 100, 0, 0, 0, 0)
}

// An answer that could not be recorded is not given: pieces may come back, and the next attempt gets another.
func TestOutOfStockIsNotToldUnrecorded(t *testing.T) {
	f := newFunction(t)
	if err := f.db.Inject(dynamofake.Fault{Op: "TransactWriteItems", Nth: 2, Times: 1000, Kind: dynamofake.FaultError}); err != nil {
		t.Fatal(err)
	}
	e := endpointtest.Event("POST", "/orders", "k", body("sku", `"rare"`, "quantity", "2"))
	endpointtest.Wants(t, f.sendWithin(time.Second, e), 503, "outcome-unknown")
	f.wantsWorld("rare", 1, 0, 0, 0, 0)
}

// Nor is one that is not true any more when it would be recorded.
func TestPiecesComeBack(t *testing.T) {
	f := newFunction(t)
	if err := f.db.Inject(dynamofake.Fault{Op: "TransactWriteItems", Nth: 2, Kind: dynamofake.FaultDelay, Delay: 300 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	ask := body("sku", `"rare"`, "quantity", "2")
	told := make(chan response)
	go func() {
		r, _ := f.handle(t.Context(), endpointtest.Event("POST", "/orders", "k", ask))
		told <- r
	}()
	for f.db.Stats().Calls["TransactWriteItems"] < 2 {
		time.Sleep(time.Millisecond) // until the refusal is on its way
	}
	f.put("stock", productItem("rare", 9900, 2))
	endpointtest.Wants(t, <-told, 500, "handler-failed")
	endpointtest.Wants(t, f.post("k", ask), 201, "")
	f.wantsWorld("rare", 0, 1, 0, 1, 1)
}

// Whatever goes wrong at the provider short of a decline, the reservation stays, the retry asks again with the same key,
// and there is one charge.
func TestProviderFailureIsNotFinal(t *testing.T) {
	for source, want := range map[string]struct {
		status  int
		code    string
		charges int // after the failed attempt
	}{
		"tok_lost":   {503, "provider-unavailable", 1},
		"tok_flaky":  {503, "provider-unavailable", 0},
		"tok_busy":   {429, "provider-busy", 0},
		"tok_reused": {502, "provider-unavailable", 0},
	} {
		t.Run(source, func(t *testing.T) {
			f := newFunction(t)
			ask := body("source", strconv.Quote(source))
			failed := f.post("the-raw-key", ask)
			endpointtest.Wants(t, failed, want.status, want.code)
			if failed.Headers["Retry-After"] == "" {
				t.Error("no Retry-After")
			}
			f.wantsWorld("book", 999, want.charges, 1, 0, 0)
			paid := f.post("the-raw-key", ask)
			endpointtest.Wants(t, paid, 201, "")
			endpointtest.WantsReplay(t, f.post("the-raw-key", ask), paid)
			f.wantsWorld("book", 999, 1, 0, 1, 1)
			for _, secret := range []string{"the-raw-key", source, providertest.Secret, "order-42"} {
				if strings.Contains(f.log.String(), secret) {
					t.Errorf("the log holds %q: %s", secret, f.log)
				}
			}
		})
	}
}

// A price holds from the reservation on, for the charge as well, whatever becomes of the product.
func TestPriceIsFixedByTheReservation(t *testing.T) {
	f := newFunction(t)
	ask := body("source", `"tok_flaky"`)
	endpointtest.Wants(t, f.post("k", ask), 503, "provider-unavailable")
	f.put("stock", productItem("book", 9999, 999))
	f.start()
	paid := f.post("k", ask)
	if endpointtest.Wants(t, paid, 201, ""); !strings.Contains(paid.Body, `"amount":1299,`) {
		t.Errorf("got %s", paid.Body)
	}
}

// After the retention the same request runs again. It meets the order that it made.
func TestForgottenOrderIsTheSameOrder(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body())
	f.forgetRecords()
	f.psp.Forget()
	again := f.post("k", body())
	if endpointtest.Wants(t, again, 201, ""); again.Body != first.Body || again.Headers["Location"] != first.Headers["Location"] {
		t.Errorf("got %s, want %s", again.Body, first.Body)
	}
	endpointtest.WantsReplay(t, f.post("k", body()), first)
	f.wantsWorld("book", 999, 1, 0, 1, 1)
}

// A reservation outlives the record of the order that was never finished, and is carried on: it is not made twice.
func TestForgottenReservationIsCarriedOn(t *testing.T) {
	for source, want := range map[string]struct{ status, stock, charges, confirmed int }{
		"tok_flaky":          {201, 0, 1, 1},
		"tok_flaky_declined": {402, 1, 0, 0},
	} {
		t.Run(source, func(t *testing.T) {
			f := newFunction(t)
			ask := body("sku", `"rare"`, "source", strconv.Quote(source))
			endpointtest.Wants(t, f.post("k", ask), 503, "provider-unavailable")
			f.wantsWorld("rare", 0, 0, 1, 0, 0)
			f.forgetRecords()
			if again := f.post("k", ask); again.StatusCode != want.status {
				t.Errorf("got %+v", again)
			}
			f.wantsWorld("rare", want.stock, want.charges, 0, want.confirmed, want.confirmed)
		})
	}
}

// Until it is confirmed, an order is nobody's to see.
func TestReservedOrderIsNotFound(t *testing.T) {
	f := newFunction(t)
	endpointtest.Wants(t, f.post("k", body("source", `"tok_flaky"`)), 503, "provider-unavailable")
	o, err := orderOf(f.scan("orders")[0])
	if err != nil || o.Status != statusReserved {
		t.Fatalf("%+v, %v", o, err)
	}
	endpointtest.Wants(t, f.get("acme", "/orders/"+o.ID), 404, "not-found")
}

// Stock that cannot be given back must not vanish: the failure is not recorded before it can.
func TestUndoWaitsForItsProduct(t *testing.T) {
	f := newFunction(t)
	ask := body("sku", `"rare"`, "source", `"tok_flaky_declined"`)
	endpointtest.Wants(t, f.post("k", ask), 503, "provider-unavailable") // reserved
	f.delete("stock", map[string]types.AttributeValue{"sku": text("rare")})
	for range 2 {
		endpointtest.Wants(t, f.post("k", ask), 500, "handler-failed")
	}
	if orders := f.scan("orders"); len(orders) != 1 {
		t.Errorf("%d orders", len(orders))
	}
	f.put("stock", productItem("rare", 9900, 0))
	first := f.post("k", ask)
	endpointtest.Wants(t, first, 402, "card-declined")
	endpointtest.WantsReplay(t, f.post("k", ask), first)
	f.wantsWorld("rare", 1, 0, 0, 0, 0)
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
