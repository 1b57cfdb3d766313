package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"firstwriter/functions/internal/jsonbody"
)

// body is a valid body with some members set to other JSON texts, or left out where the text is "".
func body(changes ...string) string {
	members := map[string]string{"sku": `"book"`, "quantity": "1", "source": `"tok_ok"`, "reference": `"order-42"`}
	for i := 0; i < len(changes); i += 2 {
		members[changes[i]] = changes[i+1]
	}
	var parts []string
	for _, name := range []string{"sku", "quantity", "source", "reference", "note"} {
		if members[name] != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", name, members[name]))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestParsePurchase(t *testing.T) {
	want := purchase{SKU: "book", Quantity: 1, Source: "tok_ok", Reference: "order-42"}
	if got, err := parsePurchase([]byte(body())); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for name, text := range map[string]string{
		"most pieces":        body("quantity", "100"),
		"another spelling":   body("quantity", "1e2"),
		"longest sku":        body("sku", `"`+strings.Repeat("é", 64)+`"`),
		"sku with a space":   body("sku", `"a b/c#d"`),
		"escaped member":     strings.Replace(body(), `"sku"`, `"\u0073ku"`, 1),
		"white space around": " \n" + body() + "\t",
	} {
		if _, err := parsePurchase([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParsePurchaseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ body, says string }{
		"empty":                 {"", "JSON"},
		"array":                 {"[]", "must be a JSON object"},
		"two objects":           {body() + body(), "Nothing may follow"},
		"member twice":          {body("note", `1,"sku":"book"`), "An order has no member note."},
		"sku twice":             {strings.Replace(body(), "}", `,"sku":"book"}`, 1), "twice"},
		"unknown member":        {body("note", `"x"`), "An order has no member note."},
		"member in other case":  {strings.Replace(body(), `"sku"`, `"SKU"`, 1), "no member SKU"},
		"no sku":                {body("sku", ""), "sku is missing"},
		"no quantity":           {body("quantity", ""), "quantity is missing"},
		"no source":             {body("source", ""), "source is missing"},
		"no reference":          {body("reference", ""), "reference is missing"},
		"sku empty":             {body("sku", `""`), "sku must have"},
		"sku too long":          {body("sku", `"`+strings.Repeat("é", 65)+`"`), "sku must have"},
		"sku with a control":    {body("sku", `"a\u0000"`), "sku must have"},
		"sku a number":          {body("sku", "1"), "sku must be a JSON string"},
		"quantity zero":         {body("quantity", "0"), "from 1 to 100"},
		"quantity negative":     {body("quantity", "-1"), "from 1 to 100"},
		"quantity too large":    {body("quantity", "101"), "from 1 to 100"},
		"quantity far too much": {body("quantity", "1e300"), "from 1 to 100"},
		"quantity a fraction":   {body("quantity", "1.5"), "from 1 to 100"},
		"quantity as a string":  {body("quantity", `"1"`), "quantity must be a JSON number"},
		"quantity null":         {body("quantity", "null"), "quantity must be a JSON number"},
		"source without prefix": {body("source", `"ok"`), "source must be"},
		"reference too long":    {body("reference", `"`+strings.Repeat("r", 65)+`"`), "reference must have"},
	} {
		got, err := parsePurchase([]byte(c.body))
		if invalid := jsonbody.Invalid(""); !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %+v, %v; want %q", name, got, err, c.says)
		}
	}
}
