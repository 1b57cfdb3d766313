package main

import (
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestItemRoundTrip(t *testing.T) {
	for _, metadata := range []string{"", `{"a": 1}`} {
		o := testOrder
		o.Metadata = metadata
		want := newPayment("pay_1", o, "ch_1", stamp)
		item := itemOf("acme", want)
		if got, err := paymentOf(item); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		if _, ok := item["metadata"]; ok != (metadata != "") {
			t.Errorf("metadata %q is stored: %v", metadata, ok)
		}
	}
}

func TestPaymentOfBrokenItem(t *testing.T) {
	whole := itemOf("acme", newPayment("pay_1", testOrder, "ch_1", stamp))
	for _, name := range []string{"id", "amount", "currency", "status", "reference", "created_at", "provider_charge"} {
		for what, value := range map[string]types.AttributeValue{
			"missing": nil, "of another type": &types.AttributeValueMemberBOOL{Value: true},
		} {
			item := maps.Clone(whole)
			if item[name] = value; value == nil {
				delete(item, name)
			}
			if p, err := paymentOf(item); err == nil {
				t.Errorf("%s %s: got %+v", name, what, p)
			}
		}
	}
	whole["amount"] = &types.AttributeValueMemberN{Value: "12.5"}
	if p, err := paymentOf(whole); err == nil {
		t.Errorf("got %+v", p)
	}
}
