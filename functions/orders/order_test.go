package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var testOrder = order{ID: "ord_1", SKU: "book", Quantity: 2, Amount: 2598, Currency: "EUR", Status: statusConfirmed,
	Reference: `a"<é>` + "\u2028", CreatedAt: "2026-11-29T20:05:07.089Z"}

func TestOrderJSON(t *testing.T) {
	want := `{"id":"ord_1","sku":"book","quantity":2,"amount":2598,"currency":"EUR","status":"confirmed","reference":"a\"<é>` + "\u2028" +
		`","created_at":"2026-11-29T20:05:07.089Z"}`
	if got := testOrder.appendJSON(nil); string(got) != want || !json.Valid(got) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOrderConfirmed(t *testing.T) {
	now := time.Date(2026, 11, 29, 20, 5, 8, 0, time.UTC)
	m := orderConfirmed("acme", testOrder, now)
	want := `{"order_id":"ord_1","tenant_id":"acme","sku":"book","quantity":2,"amount":2598,"currency":"EUR","reference":"a\"<é>` + "\u2028" +
		`","created_at":"2026-11-29T20:05:07.089Z"}`
	if string(m.Detail) != want || m.Key != "ord_1" || m.DetailType != "OrderConfirmed" || !m.Time.Equal(now) {
		t.Errorf("got %+v %s", m, m.Detail)
	}
}

func TestItemRoundTrip(t *testing.T) {
	if got, err := orderOf(itemOf("acme", testOrder)); err != nil || got != testOrder {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestOrderOfBrokenItem(t *testing.T) {
	whole := itemOf("acme", testOrder)
	for _, name := range []string{"id", "sku", "quantity", "amount", "currency", "status", "reference", "created_at"} {
		for what, value := range map[string]types.AttributeValue{
			"missing": nil, "of another type": &types.AttributeValueMemberBOOL{Value: true},
		} {
			item := maps.Clone(whole)
			if item[name] = value; value == nil {
				delete(item, name)
			}
			if o, err := orderOf(item); err == nil {
				t.Errorf("%s %s: got %+v", name, what, o)
			}
		}
	}
	whole["amount"] = &types.AttributeValueMemberN{Value: "12.5"}
	if o, err := orderOf(whole); err == nil {
		t.Errorf("got %+v", o)
	}
}

func TestProductOf(t *testing.T) {
	for price, want := range map[string]bool{"1": true, "1299": true, "9999999999": true, "10000000000": false, "0": false, "-1": false, "12.5": false} {
		item := productItem("book", 1, 1)
		item["price"] = &types.AttributeValueMemberN{Value: price}
		if p, err := productOf(item); (err == nil) != want {
			t.Errorf("%s: %+v, %v", price, p, err)
		}
	}
	for _, name := range []string{"price", "currency"} {
		item := productItem("book", 1, 1)
		delete(item, name)
		if p, err := productOf(item); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %+v, %v", name, p, err)
		}
	}
}
