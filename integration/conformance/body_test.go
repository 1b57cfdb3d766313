package conformance

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// slow is a client whose first PutItem arrives at the database once more, late.
type slow struct {
	dynamostore.Client
	first *dynamodb.PutItemInput
}

func (s *slow) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if s.first == nil {
		s.first = in
	}
	return s.Client.PutItem(ctx, in, opts...)
}

// TestLateBodyItem: an attempt gives its answer to a refused business write in place of the handler's response. A body
// item of that response, which arrives afterwards, does not spoil the recorded one: F32.
func TestLateBodyItem(t *testing.T) {
	d := newDatabase(t)
	client := &slow{Client: d.client}
	honest, late := d.store(), dynamostore.New(client, records)
	now := time.Now().Truncate(time.Second)
	held := &idempotency.Record{ID: "id", Version: idempotency.SchemaVersion, Status: idempotency.Processing, Owner: "me", Fingerprint: make([]byte, 34),
		LeaseUntil: now.Add(time.Minute), ExpiresAt: now.Add(time.Hour), CreatedAt: now}
	if err := honest.Claim(t.Context(), idempotency.Claim{Record: *held, Now: now, Skew: time.Second}); err != nil {
		t.Fatal(err)
	}
	w := idempotency.Completion{Held: held, CompletedAt: now, ExpiresAt: now.Add(time.Hour), Enlisted: []any{d.refused()},
		Response: &idempotency.Response{Status: 201, Body: bytes.Repeat([]byte("created"), 500)}}
	var business *idempotency.BusinessError
	if err := late.Complete(t.Context(), w); !errors.As(err, &business) {
		t.Fatalf("the handler's response: %v", err)
	}
	w.Enlisted, w.Response = nil, &idempotency.Response{Status: 409, Body: bytes.Repeat([]byte("sold out"), 500)}
	if err := late.Complete(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if _, err := d.client.PutItem(t.Context(), client.first); err != nil {
		t.Fatal(err)
	}
	r, err := honest.Get(t.Context(), "id")
	if err == nil {
		err = honest.LoadBody(t.Context(), r)
	}
	if err != nil || !bytes.Equal(r.Response.Body, w.Response.Body) {
		t.Errorf("the recorded body: %v", err)
	}
}
