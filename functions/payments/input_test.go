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
	members := map[string]string{"amount": "1299", "currency": `"EUR"`, "source": `"tok_ok"`, "reference": `"order-42"`}
	for i := 0; i < len(changes); i += 2 {
		members[changes[i]] = changes[i+1]
	}
	var parts []string
	for _, name := range []string{"amount", "currency", "source", "reference", "metadata"} {
		if members[name] != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", name, members[name]))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestParseOrder(t *testing.T) {
	metadata := "{ \"b\": [1e400, 9007199254740993],\n\t\"a\": \"\\u00e9\" }"
	got, err := parseOrder([]byte(body("metadata", metadata)))
	want := order{Amount: 1299, Currency: "EUR", Source: "tok_ok", Reference: "order-42", Metadata: metadata}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestParseOrderAllows(t *testing.T) {
	for name, text := range map[string]string{
		"no metadata":               body(),
		"empty metadata":            body("metadata", "{}"),
		"white space around":        " \r\n\t" + body() + " \r\n\t",
		"escaped member names":      strings.Replace(body(), `"amount"`, `"\u0061mount"`, 1),
		"one character reference":   body("reference", `"r"`),
		"longest reference":         body("reference", quoted(strings.Repeat("r", 64))),
		"longest wide reference":    body("reference", quoted(strings.Repeat("💶", 64))),
		"reference with a space":    body("reference", `" a/b#c,d "`),
		"one character source":      body("source", `"tok__"`),
		"longest source":            body("source", quoted("tok_"+strings.Repeat("z", 60))),
		"largest metadata":          body("metadata", metadataOf(350*1024)),
		"deepest metadata":          body("metadata", nested(64)),
		"brackets inside strings":   body("metadata", `{"a":"`+strings.Repeat(`[{\"`, 100)+`"}`),
		"same name in other object": body("metadata", `{"amount":1,"a":{"amount":1}}`),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseOrder([]byte(text)); err != nil {
				t.Error(err)
			}
		})
	}
}

// refused are bodies, each with words of the rule that it breaks.
type refused map[string]struct{ body, says string }

func (r refused) test(t *testing.T) {
	for name, c := range r {
		t.Run(name, func(t *testing.T) {
			got, err := parseOrder([]byte(c.body))
			if invalid := jsonbody.Invalid(""); !errors.As(err, &invalid) {
				t.Fatalf("got %+v, %v; want words for the client", got, err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %q, not %q", err, c.says)
			}
		})
	}
}

func TestParseOrderRefusesBodies(t *testing.T) {
	const wantJSON, wantObject = "JSON", "must be a JSON object"
	refused{
		"empty":                     {"", wantJSON},
		"white space":               {"  ", wantJSON},
		"cut off":                   {"{", wantJSON},
		"cut off in a member":       {body()[:20], wantJSON},
		"null":                      {"null", wantObject},
		"array":                     {"[]", wantObject},
		"string":                    {`"amount"`, wantObject},
		"empty object":              {"{}", "amount is missing"},
		"unknown member":            {body("metadata", `{},"colour":"red"`), "no member colour."},
		"member in another case":    {strings.Replace(body(), `"amount"`, `"Amount"`, 1), "no member Amount."},
		"two spellings of one":      {body("metadata", `{},"AMOUNT":1`), "no member AMOUNT."},
		"unknown, empty name":       {body("metadata", `{},"":1`), "no such member"},
		"unknown, odd name":         {body("metadata", `{},"<b>":1`), "no such member"},
		"unknown, longest shown":    {body("metadata", `{},"`+strings.Repeat("n", 32)+`":1`), "no member nnnn"},
		"unknown, too long to show": {body("metadata", `{},"`+strings.Repeat("n", 33)+`":1`), "no such member"},
		"member twice":              {body("metadata", `{},"amount":1299`), "twice"},
		"member twice, escaped":     {body("metadata", `{},"\u0061mount":1299`), "twice"},
		"trailing comma":            {strings.Replace(body(), "}", ",}", 1), wantJSON},
		"trailing data":             {body() + "x", "Nothing may follow"},
		"two objects":               {body() + body(), "Nothing may follow"},
		"comment":                   {"/* */" + body(), wantJSON},
		"byte order mark":           {"\ufeff" + body(), wantJSON},
	}.test(t)
}

func TestParseOrderRefusesMembers(t *testing.T) {
	const wantJSON = "JSON"
	refused{
		"no amount":                 {body("amount", ""), "amount is missing"},
		"no currency":               {body("currency", ""), "currency is missing"},
		"no source":                 {body("source", ""), "source is missing"},
		"no reference":              {body("reference", ""), "reference is missing"},
		"amount as a string":        {body("amount", `"1299"`), "amount must be a JSON number"},
		"amount null":               {body("amount", "null"), "amount must be a JSON number"},
		"amount zero":               {body("amount", "0"), "amount must be a whole number"},
		"amount with a fraction":    {body("amount", "12.5"), "amount must be a whole number"},
		"amount with leading zero":  {body("amount", "01"), "amount must be a whole number"},
		"amount with a plus":        {body("amount", "+1"), wantJSON},
		"amount NaN":                {body("amount", "NaN"), wantJSON},
		"currency lower case":       {body("currency", `"eur"`), "currency must be"},
		"currency unknown":          {body("currency", `"EURO"`), "currency must be"},
		"currency empty":            {body("currency", `""`), "currency must be"},
		"currency null":             {body("currency", "null"), "currency must be a JSON string"},
		"reference empty":           {body("reference", `""`), "reference must have 1 to 64"},
		"reference too long":        {body("reference", quoted(strings.Repeat("r", 65))), "reference must have 1 to 64"},
		"wide reference too long":   {body("reference", quoted(strings.Repeat("💶", 65))), "reference must have 1 to 64"},
		"reference with a control":  {body("reference", `"a\u0000"`), "control characters"},
		"reference with C1":         {body("reference", `"a\u0085"`), "control characters"},
		"reference a number":        {body("reference", "42"), "reference must be a JSON string"},
		"reference not UTF-8":       {body("reference", "\"\xff\""), wantJSON},
		"reference half a pair":     {body("reference", `"\ud83d"`), wantJSON},
		"source without its prefix": {body("source", `"ok"`), "source must be tok_"},
		"source of the prefix only": {body("source", `"tok_"`), "source must be tok_"},
		"source too long":           {body("source", quoted("tok_"+strings.Repeat("z", 61))), "source must be tok_"},
		"source upper case":         {body("source", `"tok_OK"`), "source must be tok_"},
		"source wide":               {body("source", `"tok_é"`), "source must be tok_"},
		"source with a newline":     {body("source", `"tok_ok\n"`), "source must be tok_"},
		"source null":               {body("source", "null"), "source must be a JSON string"},
		"metadata null":             {body("metadata", "null"), "metadata must be a JSON object"},
		"metadata an array":         {body("metadata", "[]"), "metadata must be a JSON object"},
		"metadata too large":        {body("metadata", metadataOf(350*1024+1)), "metadata must be at most 358400 bytes"},
		"metadata too deep":         {body("metadata", nested(65)), "deeper than 64"},
		"metadata far too deep":     {body("metadata", nested(100_000)), wantJSON},
		"metadata names twice":      {body("metadata", `{"a":{"b":1,"b":2}}`), "twice"},
		"metadata not UTF-8":        {body("metadata", "{\"a\":\"\xc3\"}"), wantJSON},
		"metadata name not UTF-8":   {body("metadata", "{\"\xc3\":1}"), wantJSON},
	}.test(t)
}

// What a client sent in the wrong place may be a secret: a refusal goes into logs and tickets.
func TestRefusalRepeatsNoValue(t *testing.T) {
	for _, text := range []string{
		body("source", `"SECRET"`), body("currency", `"SECRET"`), body("reference", `"SECRET\u0001"`),
		body("amount", `"SECRET"`), body("metadata", `"SECRET"`), body("metadata", `{},"a":"SECRET"`),
		body("metadata", `{"SECRET":1,"SECRET":2}`), `{"amount":SECRET}`, body() + "SECRET", `{"amount" "SECRET"}`,
	} {
		_, err := parseOrder([]byte(text))
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNesting(t *testing.T) {
	for value, want := range map[string]int{
		`1`: 0, `"[{"`: 0, `{}`: 1, `{"a":1}`: 1, `{"a":[]}`: 2, `[[],[[]],[]]`: 3,
		`["\"[[["]`: 1, `["\\",[]]`: 2, `{"[":{"]":[]}}`: 3,
	} {
		if got := nesting([]byte(value)); got != want {
			t.Errorf("%s: got %d, want %d", value, got, want)
		}
	}
}

// A body that is accepted is accepted again, as the same order, when it is written out in another spelling.
func FuzzParseOrder(f *testing.F) {
	f.Add([]byte(body("metadata", `{"a":[1e9]}`)))
	f.Add([]byte(body("amount", "12.99e2")))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := parseOrder(text)
		if err != nil {
			return
		}
		again := newPayment("pay_x", o, "ch_x", stamp).appendJSON(nil)
		p, err := parseOrder(asOrder(t, again, o.Source))
		if err != nil || p != o {
			t.Errorf("%q became %q: %+v, %v", text, again, p, err)
		}
	})
}

func quoted(s string) string { return `"` + s + `"` }

// metadataOf is an object of exactly size bytes.
func metadataOf(size int) string { return `{"a":"` + strings.Repeat("x", size-len(`{"a":""}`)) + `"}` }

// nested is an object that nests to a depth.
func nested(depth int) string {
	return `{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
}
