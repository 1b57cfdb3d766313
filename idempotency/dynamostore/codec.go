package dynamostore

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// item is a DynamoDB item.
type item = map[string]types.AttributeValue

func bin(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

// millis and seconds are the two units of instants in a record: lease_until, created_at and completed_at are Unix
// milliseconds; expires_at is the table's TTL attribute, which DynamoDB takes in Unix seconds.
func millis(t time.Time) types.AttributeValue  { return num(t.UnixMilli()) }
func seconds(t time.Time) types.AttributeValue { return num(t.Unix()) }

// encode writes a processing record.
func encode(r *idempotency.Record) item {
	it := item{
		"id": str(r.ID), "v": num(r.Version), "status": str(string(r.Status)), "owner": str(r.Owner),
		"epoch": num(r.Epoch), "fingerprint": bin(r.Fingerprint), "lease_until": millis(r.LeaseUntil),
		"created_at": millis(r.CreatedAt),
	}
	if !r.ExpiresAt.IsZero() {
		it["expires_at"] = seconds(r.ExpiresAt)
	}
	for name, value := range map[string]string{"principal": r.Principal, "endpoint": r.Endpoint, "request_id": r.RequestID} {
		if value != "" {
			it[name] = str(value)
		}
	}
	return it
}

func encodeHeader(h http.Header) types.AttributeValue {
	m := item{}
	for name, values := range h {
		list := make([]types.AttributeValue, len(values))
		for i, v := range values {
			list[i] = fieldValue(v)
		}
		m[name] = &types.AttributeValueMemberL{Value: list}
	}
	return &types.AttributeValueMemberM{Value: m}
}

// fieldValue is one header value. HTTP allows bytes in it that are no UTF-8 (RFC 9110, section 5.5: obs-text), a string of
// DynamoDB does not.
func fieldValue(v string) types.AttributeValue {
	if utf8.ValidString(v) {
		return str(v)
	}
	return bin([]byte(v))
}

// decode reads a record. What is missing or of a wrong type becomes the record's Fault. An item of a schema version that
// this code does not read is decoded no further.
func decode(it item) *idempotency.Record {
	if it == nil {
		return nil
	}
	d := decoder{item: it}
	r := &idempotency.Record{ID: d.str("id"), Version: int(d.num("v"))}
	if d.err != nil || !slices.Contains(idempotency.ReadableVersions(), r.Version) {
		r.Fault = d.err
		return r
	}
	r.Status, r.Owner, r.Epoch = idempotency.Status(d.str("status")), d.str("owner"), d.num("epoch")
	r.Fingerprint, r.CreatedAt = d.bin("fingerprint"), time.UnixMilli(d.num("created_at"))
	r.Principal, r.Endpoint, r.RequestID = d.optional("principal"), d.optional("endpoint"), d.optional("request_id")
	d.steps(r)
	switch r.Status {
	case idempotency.Processing:
		r.LeaseUntil = time.UnixMilli(d.num("lease_until"))
		if d.has("expires_at") {
			r.ExpiresAt = time.Unix(d.num("expires_at"), 0)
		}
	case idempotency.Released:
		r.ExpiresAt = time.Unix(d.num("expires_at"), 0)
	case idempotency.Completed:
		r.ExpiresAt, r.CompletedAt = time.Unix(d.num("expires_at"), 0), time.UnixMilli(d.num("completed_at"))
		d.response(r)
	default:
		d.fail("status", "has an unknown value")
	}
	r.Fault = d.err
	return r
}

// decoder reads attributes and keeps the first thing that is wrong.
type decoder struct {
	item item
	err  error
}

func (d *decoder) fail(name, what string) {
	if d.err == nil {
		d.err = fmt.Errorf("dynamostore: unreadable record: attribute %q %s; look at the item, nothing changes it", name, what)
	}
}

func (d *decoder) has(name string) bool { return d.item[name] != nil }

// get reads an attribute that must be there, with the type that it must have.
func get[T types.AttributeValue](d *decoder, name string) (v T) {
	v, ok := d.item[name].(T)
	switch {
	case !d.has(name):
		d.fail(name, "is missing")
	case !ok:
		d.fail(name, "is of a wrong type")
	}
	return v
}

func (d *decoder) str(name string) string {
	if v := get[*types.AttributeValueMemberS](d, name); v != nil {
		return v.Value
	}
	return ""
}

func (d *decoder) optional(name string) string {
	if !d.has(name) {
		return ""
	}
	return d.str(name)
}

func (d *decoder) bin(name string) []byte {
	if v := get[*types.AttributeValueMemberB](d, name); v != nil {
		return v.Value
	}
	return nil
}

func (d *decoder) num(name string) int64 {
	v := get[*types.AttributeValueMemberN](d, name)
	if v == nil {
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		d.fail(name, "is no whole number of 64 bits")
	}
	return n
}

func (d *decoder) response(r *idempotency.Record) {
	status := d.num("response_status")
	if status < 100 || status > 999 {
		d.fail("response_status", "is no HTTP status")
	}
	r.Response = &idempotency.Response{Status: int(status), Header: d.header("response_headers")}
	switch {
	case d.has("response_body"):
		r.Response.Body = d.bin("response_body")
	case d.has("body_chunks"), d.has("body_sum"):
		r.Body = d.items("body_chunks", "body_encoding", "body_sum")
	}
}

// items reads where something is kept apart from the record.
func (d *decoder) items(chunks, encoding, sum string) idempotency.BodyItems {
	b := idempotency.BodyItems{Chunks: int(d.num(chunks)), Encoding: d.optional(encoding), Sum: d.bin(sum)}
	if b.Chunks < 1 || b.Chunks > maxChunks {
		d.fail(chunks, "is out of range")
	}
	return b
}

func (d *decoder) header(name string) http.Header {
	m := get[*types.AttributeValueMemberM](d, name)
	if m == nil {
		return nil
	}
	h := make(http.Header, len(m.Value))
	for field, v := range m.Value {
		values, err := decodeStrings(v)
		if err != nil {
			d.fail(name, err.Error())
		}
		h[field] = values
	}
	return h
}

var errNotStrings = errors.New("holds something else than lists of strings and binaries")

func decodeStrings(v types.AttributeValue) ([]string, error) {
	list, ok := v.(*types.AttributeValueMemberL)
	if !ok {
		return nil, errNotStrings
	}
	values := make([]string, len(list.Value))
	for i, e := range list.Value {
		switch e := e.(type) {
		case *types.AttributeValueMemberS:
			values[i] = e.Value
		case *types.AttributeValueMemberB:
			values[i] = string(e.Value)
		default:
			return nil, errNotStrings
		}
	}
	return values, nil
}
