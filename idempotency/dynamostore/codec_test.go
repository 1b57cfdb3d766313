package dynamostore

import (
	"bytes"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

var t0 = time.UnixMilli(1_800_000_000_123)

func processing() *idempotency.Record {
	return &idempotency.Record{ID: strings.Repeat("i", 43), Version: idempotency.SchemaVersion, Status: idempotency.Processing,
		Owner: strings.Repeat("o", 22), Epoch: t0.UnixMilli(), Fingerprint: bytes.Repeat([]byte{7}, 33), Principal: strings.Repeat("p", 43),
		Endpoint: "POST /payments", RequestID: "req-1", LeaseUntil: t0.Add(30 * time.Second), ExpiresAt: time.Unix(1_800_600_000, 0), CreatedAt: t0}
}

// completedItem is the item of a completed record, as the expressions leave it.
func completedItem() item {
	it := encode(processing())
	delete(it, "lease_until")
	it["status"], it["completed_at"], it["response_status"] = str("completed"), millis(t0), num(201)
	it["response_headers"] = encodeHeader(http.Header{"Location": {"/x"}, "X-Many": {"a, b", "c", "caf\xe9"}})
	it["response_body"] = bin([]byte("{}"))
	return it
}

func TestDecode(t *testing.T) {
	if got, want := decode(encode(processing())), processing(); !reflect.DeepEqual(got, want) {
		t.Errorf("decoded %+v, want %+v", got, want)
	}
	never := processing()
	never.ExpiresAt, never.Principal = time.Time{}, ""
	if got := decode(encode(never)); !reflect.DeepEqual(got, never) {
		t.Errorf("decoded %+v, want %+v", got, never)
	}
	if decode(nil) != nil {
		t.Error("no item is a record")
	}
	r := decode(completedItem())
	want := &idempotency.Response{Status: 201, Header: http.Header{"Location": {"/x"}, "X-Many": {"a, b", "c", "caf\xe9"}}, Body: []byte("{}")}
	if r.Fault != nil || !reflect.DeepEqual(r.Response, want) {
		t.Errorf("response %+v (%v), want %+v", r.Response, r.Fault, want)
	}
}

// TestDamaged: an attribute that is needed and missing or of a wrong type makes a record unreadable, never another
// state: F34.
func TestDamaged(t *testing.T) {
	chunked := completedItem()
	delete(chunked, "response_body")
	chunked["body_chunks"], chunked["body_sum"] = num(2), bin(make([]byte, 32))
	optional := map[string]bool{"principal": true, "endpoint": true, "request_id": true, "response_body": true, "body_chunks": true}
	for name, sound := range map[string]item{"processing": encode(processing()), "completed": completedItem(), "chunked": chunked} {
		if r := decode(sound); r.Fault != nil {
			t.Fatalf("%s: %v", name, r.Fault)
		}
		for attribute := range sound {
			for what, v := range map[string]types.AttributeValue{"missing": nil, "wrong": &types.AttributeValueMemberBOOL{Value: true}} {
				damaged := maps.Clone(sound)
				if damaged[attribute] = v; v == nil {
					delete(damaged, attribute)
				}
				if v == nil && (optional[attribute] || name == "processing" && attribute == "expires_at") {
					continue
				}
				if r := decode(damaged); r.Fault == nil {
					t.Errorf("%s: %s %s is accepted: %+v", name, attribute, what, r)
				}
			}
		}
	}
	for what, change := range map[string]func(item){
		"unknown status":            func(it item) { it["status"] = str("done") },
		"fraction":                  func(it item) { it["epoch"] = &types.AttributeValueMemberN{Value: "1.5"} },
		"beyond 64 bits":            func(it item) { it["epoch"] = &types.AttributeValueMemberN{Value: "1e30"} },
		"no HTTP status":            func(it item) { it["response_status"] = num(7) },
		"a checksum without chunks": func(it item) { delete(it, "response_body"); it["body_sum"] = bin(make([]byte, 32)) },
		"no chunks":                 func(it item) { delete(it, "response_body"); it["body_chunks"] = num(0); it["body_sum"] = bin(nil) },
		"a million chunks": func(it item) {
			delete(it, "response_body")
			it["body_chunks"] = num(1000000)
			it["body_sum"] = bin(nil)
		},
		"headers of numbers":  func(it item) { it["response_headers"] = &types.AttributeValueMemberM{Value: item{"A": num(1)}} },
		"F24 TTL as a string": func(it item) { it["expires_at"] = str("1800600000") },
	} {
		it := completedItem()
		change(it)
		if r := decode(it); r.Fault == nil {
			t.Errorf("%s is accepted: %+v", what, r)
		}
	}
}

func TestUnknownVersion(t *testing.T) { // F33
	it := item{"id": str("i"), "v": num(99), "state": str("of a later release")}
	if r := decode(it); r.Version != 99 || r.Fault != nil {
		t.Errorf("decoded %+v", r)
	}
}

func TestSizes(t *testing.T) {
	if got, want := sizeOf(processing()), itemSize(encode(processing())); got != want {
		t.Errorf("a record's size is taken for %d, it is %d", got, want)
	}
}

// TestBodyPlacement: the record stays within one write unit, F31.
func TestBodyPlacement(t *testing.T) {
	held := processing()
	h := http.Header{"Content-Type": {"application/json"}}
	size := func(n int) int {
		b := prepare(held, &idempotency.Response{Status: 201, Header: h, Body: bytes.Repeat([]byte("x"), n)})
		it := encode(held)
		delete(it, "lease_until")
		it["completed_at"], it["response_status"], it["response_headers"] = millis(t0), num(201), encodeHeader(h)
		maps.Copy(it, b.attributes())
		return itemSize(it)
	}
	inline := 0
	for n := 0; n < 2000; n += 7 {
		if got := size(n); got > recordSize {
			t.Fatalf("a body of %d bytes makes a record of %d", n, got)
		}
		if b := prepare(held, &idempotency.Response{Header: h, Body: make([]byte, n)}); len(b.chunks) == 0 {
			inline = n
		}
	}
	if inline < 300 {
		t.Errorf("bodies of more than %d bytes are not inline; want at least 300", inline)
	}
	noise := make([]byte, chunkSize)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	for n, want := range map[int]int{inline: 0, inline + 1: 1, chunkSize: 1} {
		if b := prepare(held, &idempotency.Response{Header: h, Body: noise[:n]}); len(b.chunks) != want {
			t.Errorf("%d bytes go to %d items, want %d", n, len(b.chunks), want)
		}
	}
}
