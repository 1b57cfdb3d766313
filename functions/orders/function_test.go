package main

import (
	"bytes"
	"context"
	"log/slog"
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
	ctx, cancel := context.WithTimeout(f.t.Context(), 28*time.Second)
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
