package dynamostore

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"firstwriter/idempotency"
)

// TestGoldenRecords reads records as releases have written them, by schema version. They are never changed: a release
// that writes another version adds a folder, and still reads these: F35.
func TestGoldenRecords(t *testing.T) {
	sum := make([]byte, 32)
	for i := range sum {
		sum[i] = byte(i)
	}
	base := idempotency.Record{ID: "c0XHEGdqtahpBO_wotgyfVJtV0w3qFxH-QaFISwVrqk", Version: 1, Owner: "b3duZXItb2YtMTYtYnl0ZXM",
		Epoch: 1_800_000_000_000, Fingerprint: append([]byte{1, 0}, sum...), CreatedAt: time.UnixMilli(1_800_000_000_000)}
	record := func(change func(*idempotency.Record)) *idempotency.Record {
		r := base
		change(&r)
		return &r
	}
	want := map[string]*idempotency.Record{
		"v1/processing.json": record(func(r *idempotency.Record) {
			r.Status, r.LeaseUntil, r.ExpiresAt = idempotency.Processing, time.UnixMilli(1_800_000_030_000), time.Unix(1_800_604_800, 0)
			r.Principal, r.Endpoint, r.RequestID = "04QPbZVdTcu3_cuBQVBSAVRc4bG_0_CbYi24AGsAyN0", "POST /payments", "JKJaXmPLvHcESHA="
		}),
		"v1/released.json": record(func(r *idempotency.Record) {
			r.Status, r.Epoch, r.ExpiresAt = idempotency.Released, 1_800_000_000_001, time.Unix(1_800_086_400, 0)
		}),
		"v1/completed.json": record(func(r *idempotency.Record) {
			r.Status, r.ExpiresAt, r.CompletedAt, r.Endpoint = idempotency.Completed, time.Unix(1_800_086_401, 0), time.UnixMilli(1_800_000_000_250), "POST /payments"
			r.Response = &idempotency.Response{Status: 201, Body: []byte(`{"id":"pay_1"}`), Header: http.Header{"Location": {"/payments/pay_1"}, "X-Many": {"a, b", "c"}}}
		}),
		"v1/chunked.json": record(func(r *idempotency.Record) {
			r.Status, r.ExpiresAt, r.CompletedAt = idempotency.Completed, time.Unix(1_800_086_401, 0), time.UnixMilli(1_800_000_000_250)
			r.Response = &idempotency.Response{Status: 200, Header: http.Header{}}
			r.Body = idempotency.BodyItems{Chunks: 3, Encoding: "gzip", Sum: sum}
		}),
		"v1/steps.json": record(func(r *idempotency.Record) {
			r.Status, r.ExpiresAt = idempotency.Released, time.Unix(1_800_086_400, 0)
			r.Steps = []idempotency.RecordedStep{{Name: "reserve", Result: []byte(`{"left":3}`)}, {Name: "charge", Apart: idempotency.StepItems{
				Owner: "ZWFybGllci1vd25lci0xNmI", BodyItems: idempotency.BodyItems{Chunks: 1, Encoding: "gzip", Sum: sum}}}}
		}),
		"v1/compensating.json": record(func(r *idempotency.Record) {
			r.Status, r.LeaseUntil, r.ExpiresAt = idempotency.Processing, idempotency.Orphaned(), time.Unix(1_800_604_800, 0)
			r.Steps, r.UndoFailures = []idempotency.RecordedStep{{Name: "reserve", Result: []byte(`{"left":3}`)}, {Name: "charge", Result: []byte("null")},
				{Name: "failed:", Result: []byte(`{"status":402,"header":{"Content-Type":["application/problem+json"]},"body":"e30="}`)},
				{Name: "undo:charge", Result: []byte("null")}}, 2
		}),
	}
	files, err := filepath.Glob("testdata/v*/*.json")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d golden records, want %d (%v)", len(files), len(want), err)
	}
	for name, want := range want {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		it, err := attributevalue.UnmarshalMapJSON(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, decode(it), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
