package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint/endpointtest"
	"firstwriter/functions/internal/provider/providertest"
	"firstwriter/integration/dynamofake"
)

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
	endpointtest.Wants(t, f.post("k", body("sku", `"rare"`, "quantity", "2")), 503, "outcome-unknown")
	f.wantsWorld("rare", 1, 0, 0, 0, 0)
}

// Nor is one that is not true any more when it would be recorded.
func TestPiecesComeBack(t *testing.T) {
	f := newFunction(t)
	transactions, cfg := 0, f.db.Config()
	cfg.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			if transactions++; transactions == 2 { // the refusal is on its way
				f.put("stock", productItem("rare", 9900, 2))
			}
		}
		return f.db.RoundTripper().RoundTrip(r)
	})}
	f.client = dynamodb.NewFromConfig(cfg)
	f.start()
	ask := body("sku", `"rare"`, "quantity", "2")
	endpointtest.Wants(t, f.post("k", ask), 500, "handler-failed")
	endpointtest.Wants(t, f.post("k", ask), 201, "")
	f.wantsWorld("rare", 0, 1, 0, 1, 1)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

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

// Where somebody has given the pieces away by hand, the money is taken and the order cannot be confirmed: that is no answer
// for a client, but for an operator.
func TestConfirmNeedsTheReservation(t *testing.T) {
	f := newFunction(t)
	ask := body("source", `"tok_flaky"`)
	endpointtest.Wants(t, f.post("k", ask), 503, "provider-unavailable")
	item := f.scan("orders")[0]
	f.delete("orders", map[string]types.AttributeValue{"pk": item["pk"]})
	for range 2 {
		endpointtest.Wants(t, f.post("k", ask), 500, "handler-failed")
	}
	f.wantsWorld("book", 999, 1, 0, 0, 0)
	f.put("orders", item)
	endpointtest.Wants(t, f.post("k", ask), 201, "")
	f.wantsWorld("book", 999, 1, 0, 1, 1)
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
