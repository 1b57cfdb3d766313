package main

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

// events are the details of the events in the outbox.
func (f *function) events() []map[string]any {
	f.t.Helper()
	out, err := f.client.Scan(f.t.Context(), &dynamodb.ScanInput{TableName: aws.String("outbox")})
	if err != nil {
		f.t.Fatal(err)
	}
	var details []map[string]any
	for _, item := range out.Items {
		var detail map[string]any
		if err := json.Unmarshal([]byte(item["detail"].(*types.AttributeValueMemberS).Value), &detail); err != nil {
			f.t.Fatal(err)
		}
		details = append(details, detail)
	}
	return details
}

func TestEventOfAPayment(t *testing.T) {
	f := newFunction(t)
	first := f.post("k", body("reference", `"a\"\u00e9"`, "metadata", metadataOf(maxMetadata)))
	f.wants(first, 201, "")
	f.post("k", body("reference", `"a\"\u00e9"`, "metadata", metadataOf(maxMetadata)))
	var p map[string]any
	if err := json.Unmarshal([]byte(first.Body), &p); err != nil {
		t.Fatal(err)
	}
	got := f.events()
	if len(got) != 1 || got[0]["event_id"] == nil {
		t.Fatalf("events %v", got)
	}
	delete(got[0], "event_id")
	want := map[string]any{"payment_id": p["id"], "tenant_id": "acme", "amount": 1299.0, "currency": "EUR", "reference": `a"é`, "created_at": p["created_at"]}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
}

// What was not charged is no event, and neither is a payment that is told of again after the retention.
func TestEventsOnlyOfPaymentsThatWereMade(t *testing.T) {
	f := newFunction(t)
	f.wants(f.post("declined", body("source", `"tok_declined"`)), 402, "card-declined")
	f.wants(f.post("busy", body("source", `"tok_busy"`)), 429, "provider-busy")
	f.wants(f.post("invalid", body("amount", "-1")), 400, "invalid-request")
	if got := f.events(); len(got) != 0 {
		t.Errorf("events %v", got)
	}
	first := f.post("k", body())
	f.forgetRecords()
	again := f.post("k", body())
	if got := f.events(); len(got) != 1 || again.Body != first.Body {
		t.Errorf("events %v", got)
	}
	f.forgetRecords()
	f.psp.Forget()
	f.wants(f.post("k", body()), 201, "")
	if got := f.events(); len(got) != 2 || got[0]["event_id"] == got[1]["event_id"] {
		t.Errorf("another charge, events %v", got)
	}
}
