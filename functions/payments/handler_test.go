package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/endpoint/endpointtest"
	"firstwriter/functions/internal/provider/providertest"
	"firstwriter/idempotency/apigateway"
	"firstwriter/integration/dynamofake"
)

// function is the payments function as it is deployed, on a database, a provider and a Secrets Manager of the test's.
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
	endpointtest.CreateTable(t, f.client, "outbox", []string{"order_key", "id"})
	f.createTable()
	f.db.Reset()
	cfg := providertest.NewSecretsManager(t, providertest.Secret).Config
	s := settings{paymentsTable: "payments", outboxTable: "outbox", Settings: endpoint.Settings{IdempotencyTable: "records",
		ProviderURL: f.psp.URL, SecretARN: providertest.SecretARN, Metrics: "firstwriter/test"}}
	var err error
	if f.handle, err = newHandler(s, cfg, f.client, slog.New(slog.NewJSONHandler(f.log, nil))); err != nil {
		t.Fatal(err)
	}
	return f
}

// createTable makes the table of the payments, with its index.
func (f *function) createTable() {
	f.t.Helper()
	endpointtest.CreateTable(f.t, f.client, "payments", []string{"pk"}, types.GlobalSecondaryIndex{IndexName: aws.String(byReference),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		KeySchema:  endpointtest.Keys("tenant_reference", "created_at")})
}

// longestTenant is what endpoint.Tenant takes, in bytes.
const longestTenant = 1024

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// send runs one request as Lambda does, with the time of the deployed function.
func (f *function) send(e request) response {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 28*time.Second)
	defer cancel()
	return f.sendWithin(ctx, e)
}

func (f *function) sendWithin(ctx context.Context, e request) response {
	f.t.Helper()
	r, err := f.handle(ctx, e)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *function) post(key, body string) response {
	f.t.Helper()
	return f.send(endpointtest.Event("POST", "/payments", key, body))
}

func (f *function) get(tenant, path string) response {
	f.t.Helper()
	route, query, _ := strings.Cut(path, "?")
	e := endpointtest.Event("GET", route, "", "")
	e.RawQueryString = query
	if id, ok := strings.CutPrefix(route, "/payments/"); ok {
		e.RouteKey, e.PathParameters = "GET /payments/{id}", map[string]string{"id": id}
	}
	return f.send(endpointtest.As(e, tenant, "alice"))
}

func (f *function) wants(r response, status int, code string) {
	f.t.Helper()
	endpointtest.Wants(f.t, r, status, code)
}

func (f *function) wantsCharges(requests, charges int) {
	f.t.Helper()
	if r, c := f.psp.Counts(); r != requests || c != charges {
		f.t.Errorf("%d requests and %d charges at the provider, want %d and %d", r, c, requests, charges)
	}
}

func (f *function) wantsReplay(r, first response) {
	f.t.Helper()
	endpointtest.WantsReplay(f.t, r, first)
}

func TestFirstThenReplay(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body("metadata", "{ \"n\": 1.0 }"))
	f.wants(first, 201, "")
	var p struct{ ID, Created_at string }
	if err := json.Unmarshal([]byte(first.Body), &p); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"id":%q,"amount":1299,"currency":"EUR","status":"captured","reference":"order-42","created_at":%q,"metadata":{ "n": 1.0 }}`,
		p.ID, p.Created_at)
	if first.Body != want || first.Headers["Location"] != "/payments/"+p.ID || first.Headers["Content-Type"] != "application/json" {
		t.Errorf("got %+v, want %s", first, want)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", p.Created_at); err != nil || !isPaymentID(p.ID) {
		t.Errorf("id %q, created_at %q: %v", p.ID, p.Created_at, err)
	}
	if calls := f.db.Stats().Calls; calls["PutItem"] != 1 || calls["TransactWriteItems"] != 1 || len(calls) != 2 {
		t.Errorf("calls of a first run: %v", calls)
	}
	if units := f.db.Stats().WriteUnits; units != 9 { // 1 for the claim; 2 each for completion, payment and event; 2 for the index
		t.Errorf("a first run of %v units", units)
	}
	f.db.Reset()
	f.wantsReplay(f.post("k", body("metadata", "{ \"n\": 1.0 }")), first)
	f.wantsReplay(f.post("k", body("metadata", `{"n":1}`, "amount", "12.99e2")), first)
	if calls := f.db.Stats().Calls; calls["PutItem"] != 2 || len(calls) != 1 {
		t.Errorf("calls of two replays: %v", calls)
	}
	f.wantsCharges(1, 1)
	f.db.Reset()
	if got := f.get("acme", first.Headers["Location"]); got.StatusCode != 200 || got.Body != first.Body {
		t.Errorf("read: %+v", got)
	}
	if units := f.db.Stats().ReadUnits; units != 1 { // one 4 KB block, read consistently
		t.Errorf("a read of %v units", units)
	}
	if got := f.get("acme", "/payments?reference=order-42"); got.StatusCode != 200 || got.Body != "["+first.Body+"]" {
		t.Errorf("listed: %+v", got)
	}
}

func TestDeclineIsFinal(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body("source", `"tok_declined"`))
	f.wants(first, 402, "card-declined")
	f.wantsReplay(f.post("k", body("source", `"tok_declined"`)), first)
	f.wantsCharges(1, 0)
	if got := f.get("acme", "/payments?reference=order-42"); got.Body != "[]" {
		t.Errorf("a decline left %s", got.Body)
	}
}

// Whatever goes wrong at the provider short of a decline, the retry asks again with the same key, and there is one charge.
func TestProviderFailureIsNotFinal(t *testing.T) {
	for source, want := range map[string]struct {
		status  int
		code    string
		charges int // after the failed attempt
		logs    string
	}{
		"tok_lost":   {503, "provider-unavailable", 1, "WARN"},
		"tok_flaky":  {503, "provider-unavailable", 0, "WARN"},
		"tok_busy":   {429, "provider-busy", 0, "WARN"},
		"tok_reused": {502, "provider-unavailable", 0, "ERROR"},
	} {
		t.Run(source, func(t *testing.T) {
			f := newFunction(t)
			text := body("source", quoted(source))
			failed := f.post("the-raw-key", text)
			f.wants(failed, want.status, want.code)
			if failed.Headers["Retry-After"] == "" {
				t.Error("no Retry-After")
			}
			f.wantsCharges(1, want.charges)
			if logged := f.log.String(); !strings.Contains(logged, `"level":"`+want.logs+`","msg":"charge failed"`) {
				t.Errorf("logged %s", logged)
			}
			f.wants(f.post("the-raw-key", body("source", quoted(source), "amount", "1")), 422, "key-reused")
			paid := f.post("the-raw-key", text)
			f.wants(paid, 201, "")
			f.wantsReplay(f.post("the-raw-key", text), paid)
			f.wantsCharges(2, 1)
			for _, secret := range []string{"the-raw-key", source, providertest.Secret, "order-42"} {
				if strings.Contains(f.log.String(), secret) {
					t.Errorf("the log holds %q: %s", secret, f.log)
				}
			}
		})
	}
}

func TestProviderOutlastsTheRequest(t *testing.T) {
	f := newFunction(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.psp.Cut = cancel
	text := body("source", `"tok_cut"`)
	f.wants(f.sendWithin(ctx, endpointtest.Event("POST", "/payments", "k", text)), 503, "provider-unavailable")
	f.wantsCharges(1, 1)
	f.wants(f.post("k", text), 201, "")
	f.wantsCharges(2, 1)
}

// After the retention the same request runs again. The provider may remember the key: then it is the old payment.
func TestSameChargeIsTheSamePayment(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body())
	f.forgetRecords()
	again := f.post("k", body())
	if f.wants(again, 201, ""); again.Body != first.Body || again.Headers["Location"] != first.Headers["Location"] {
		t.Errorf("got %s, want %s", again.Body, first.Body)
	}
	f.wantsReplay(f.post("k", body()), first)
	f.wantsCharges(2, 1)
}

// Or the provider has forgotten the key and charges again: that is another payment, and both can be seen.
func TestAnotherChargeIsAnotherPayment(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body())
	f.forgetRecords()
	f.psp.Forget()
	again := f.post("k", body())
	if f.wants(again, 201, ""); again.Headers["Location"] == first.Headers["Location"] {
		t.Error("the second charge hides behind the first payment")
	}
	f.wantsCharges(2, 2)
	var list []any
	if got := f.get("acme", "/payments?reference=order-42"); json.Unmarshal([]byte(got.Body), &list) != nil || len(list) != 2 {
		t.Errorf("listed %s", got.Body)
	}
}

// forgetRecords does to the idempotency records what the retention and TTL do.
func (f *function) forgetRecords() {
	f.t.Helper()
	out, err := f.client.Scan(f.t.Context(), &dynamodb.ScanInput{TableName: aws.String("records")})
	if err != nil || len(out.Items) == 0 {
		f.t.Fatalf("%d records, %v", len(out.Items), err)
	}
	for _, item := range out.Items {
		if _, err := f.client.DeleteItem(f.t.Context(), &dynamodb.DeleteItemInput{
			TableName: aws.String("records"), Key: map[string]types.AttributeValue{"id": item["id"]}}); err != nil {
			f.t.Fatal(err)
		}
	}
}

func TestPaymentsStayInTheirTenant(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body())
	location := first.Headers["Location"]
	f.wants(f.get("globex", location), 404, "not-found")
	if got := f.get("globex", "/payments?reference=order-42"); got.Body != "[]" {
		t.Errorf("globex sees %s", got.Body)
	}
	other := f.post("k", body("amount", "1"))
	f.wants(other, 422, "key-reused")
	e := endpointtest.As(endpointtest.Event("POST", "/payments", "k", body("amount", "1")), "globex", "alice")
	if other = f.send(e); other.StatusCode != 201 || other.Headers["Location"] == location {
		t.Errorf("globex pays with its own key: %+v", other)
	}
}

func TestReplaysStayWithTheirPrincipal(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body())
	f.wants(f.send(endpointtest.As(endpointtest.Event("POST", "/payments", "k", body()), "acme", "bob")), 403, "replay-forbidden")
	f.wantsReplay(f.post("k", body()), first)
}

func TestCallerWithoutATenant(t *testing.T) {
	f := newFunction(t)
	for name, change := range map[string]func(request) request{
		"no claim": func(e request) request { return endpointtest.As(e, "", "alice") },
		"too long": func(e request) request { return endpointtest.As(e, strings.Repeat("t", longestTenant+1), "alice") },
		"no token": func(e request) request { e.RequestContext.Authorizer = nil; return e },
		"header, only": func(e request) request {
			e = endpointtest.As(e, "", "alice")
			e.Headers["x-tenant-id"] = "acme"
			return e
		},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.wants(f.send(change(endpointtest.Event("POST", "/payments", "k", body()))), 403, "caller-unknown")
			get := endpointtest.Event("GET", "/payments", "", "")
			get.RawQueryString = "reference=order-42&tenant_id=acme"
			f.wants(f.send(change(get)), 403, "caller-unknown")
		})
	}
	f.t = t
	f.wantsCharges(0, 0)
	longest := endpointtest.As(endpointtest.Event("POST", "/payments", "k", body()), strings.Repeat("t", longestTenant), "alice")
	f.wants(f.send(longest), 201, "")
}

func TestInvalidPaymentBurnsNoKey(t *testing.T) {
	f := newFunction(t)
	for _, text := range []string{"", "{", body("amount", "-5"), body("metadata", "[]"), body() + body()} {
		f.wants(f.post("k", text), 400, "invalid-request")
	}
	e := endpointtest.Event("POST", "/payments", "k", "not base64!")
	e.IsBase64Encoded = true
	f.wants(f.send(e), 400, "invalid-request")
	f.wantsCharges(0, 0)
	first := f.post("k", body())
	f.wants(first, 201, "")
	f.wants(f.post("k", body("amount", "-5")), 422, "key-reused")
}

func TestBodyLimit(t *testing.T) {
	f := newFunction(t)
	fill := func(size int) string { return body() + strings.Repeat(" ", size-len(body())) }
	f.wants(f.post("k1", fill(512*1024+1)), 413, "body-too-large")
	f.wants(f.post("k2", fill(512*1024)), 201, "")
}

func TestLargestPaymentFits(t *testing.T) {
	f := newFunction(t)
	text := body("metadata", metadataOf(maxMetadata), "reference", quoted(strings.Repeat("💶", 64)))
	e := endpointtest.As(endpointtest.Event("POST", "/payments", "k", text), strings.Repeat("t", longestTenant), "alice")
	first := f.send(e)
	f.wants(first, 201, "")
	f.wantsReplay(f.send(e), first)
}

func TestNoSuchPayment(t *testing.T) {
	f := newFunction(t)
	for _, id := range []string{"pay_none", "pay_" + strings.Repeat("A", 43), "", "x", strings.Repeat("x", 4000), "pay_" + strings.Repeat("#", 43)} {
		f.wants(f.get("acme", "/payments/"+id), 404, "not-found")
	}
	f.wants(f.send(endpointtest.Event("GET", "/other", "", "")), 404, "not-found")
}

func TestListRefusesQueries(t *testing.T) {
	f := newFunction(t)
	for _, query := range []string{
		"", "reference=", "reference", "ref=order-42", "Reference=a", "reference=a&reference=b", "reference=%zz", "reference=%00",
		"reference=%ff", "reference=" + strings.Repeat("r", 65),
	} {
		f.wants(f.get("acme", "/payments?"+query), 400, "invalid-request")
	}
}

func TestListFindsAnyReference(t *testing.T) {
	f := newFunction(t)
	for i, reference := range []string{"a,b", "a&b=c", "#1 +%", "é💶", `"q"`} {
		first := f.post(fmt.Sprintf("k%d", i), body("reference", string(must(json.Marshal(reference)))))
		if got := f.get("acme", "/payments?reference="+url.QueryEscape(reference)); got.Body != "["+first.Body+"]" {
			t.Errorf("%s: %+v, paid %+v", reference, got, first)
		}
	}
}

func TestListIsNewestFirstAndBounded(t *testing.T) {
	for name, c := range map[string]struct{ stored, metadata, want int }{
		"all":       {maxListed, 0, maxListed},
		"too many":  {maxListed + 1, 0, maxListed},
		"too large": {8, maxMetadata, 6},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFunction(t)
			f.store(c.stored, c.metadata)
			got := f.get("acme", "/payments?reference=order-42")
			var list []struct{ ID string }
			if err := json.Unmarshal([]byte(got.Body), &list); err != nil {
				t.Fatal(err)
			}
			if len(list) != c.want || len(got.Body) > maxList {
				t.Errorf("%d payments of %d bytes, want %d", len(list), len(got.Body), c.want)
			}
			for i, p := range list {
				if want := fmt.Sprintf("pay_%d", c.stored-i); p.ID != want {
					t.Fatalf("place %d: %s, want %s", i, p.ID, want)
				}
			}
		})
	}
}

// store puts payments into the table, the last one the newest.
func (f *function) store(n, metadata int) {
	f.t.Helper()
	o := testOrder
	if o.Metadata = ""; metadata > 0 {
		o.Metadata = metadataOf(metadata)
	}
	for i := range n {
		p := newPayment(fmt.Sprintf("pay_%d", i+1), o, "ch_1", stamp.Add(time.Duration(i)*time.Millisecond))
		if _, err := f.client.PutItem(f.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("payments"), Item: itemOf("acme", p)}); err != nil {
			f.t.Fatal(err)
		}
	}
}

func TestReadsWithoutAStore(t *testing.T) {
	f := newFunction(t)
	options := f.client.Options()
	options.RetryMaxAttempts = 1 // the SDK's waits are not the point
	a := &api{payments: table{client: dynamodb.New(options), name: "payments"}, log: slog.New(slog.NewJSONHandler(f.log, nil))}
	f.handle = a.handle
	for _, op := range []string{"GetItem", "Query"} {
		if err := f.db.Inject(dynamofake.Fault{Op: op, Times: -1, Kind: dynamofake.FaultError}); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/payments/pay_" + strings.Repeat("A", 43), "/payments?reference=order-42"} {
		got := f.get("acme", path)
		if f.wants(got, 503, "store-unavailable"); got.Headers["Retry-After"] == "" {
			t.Error("no Retry-After")
		}
		if strings.Contains(got.Body, "InternalServerError") || !strings.Contains(f.log.String(), "InternalServerError") {
			t.Errorf("the error belongs in the log, not in %s", got.Body)
		}
		f.log.Reset()
	}
}

// A database that does not answer at all costs a reader three seconds, whatever the function's own time.
func TestReadsGiveUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &function{t: t}
		f.db, f.client = dynamofake.Start(t)
		f.createTable()
		a := &api{payments: table{client: f.client, name: "payments"}, log: slog.New(slog.DiscardHandler)}
		f.handle = a.handle
		for op, path := range map[string]string{"GetItem": "/payments/pay_" + strings.Repeat("A", 43), "Query": "/payments?reference=r"} {
			if err := f.db.Inject(dynamofake.Fault{Op: op, Kind: dynamofake.FaultDelay, Delay: time.Minute}); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			f.wants(f.get("acme", path), 503, "store-unavailable")
			if took := time.Since(start); took != readBudget {
				t.Errorf("%s: %v", op, took)
			}
		}
	})
}

func TestPostNeedsTheGuard(t *testing.T) {
	a := &api{}
	if r, err := a.handle(t.Context(), endpointtest.Event("POST", "/payments", "k", body())); err == nil {
		t.Errorf("it answered %+v", r)
	}
}

// The sample events are what the gateway sends; make run and sam local use them too.
func TestSampleEvents(t *testing.T) {
	for _, c := range []struct {
		file   string
		status int
	}{
		{"http-v2-post.json", 201}, {"http-v2-post-base64.json", 201}, {"http-v2-get.json", 200}, {"http-v2-get-by-id.json", 404},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "events", c.file))
		if err != nil {
			t.Fatal(err)
		}
		var e request
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		if r := newFunction(t).send(e); r.StatusCode != c.status {
			t.Errorf("%s: %+v", c.file, r)
		}
	}
}

func TestBase64Body(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body())
	e := endpointtest.Event("POST", "/payments", "k", base64.StdEncoding.EncodeToString([]byte(body())))
	e.IsBase64Encoded = true
	f.wants(first, 201, "")
	f.wantsReplay(f.send(e), first)
}
