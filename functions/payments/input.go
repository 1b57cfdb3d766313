package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"firstwriter/functions/internal/jsonbody"
	"firstwriter/functions/internal/provider"
)

// What metadata may be.
const (
	maxMetadata = 350 * 1024 // bytes as sent; with the rest of the item below DynamoDB's 400 KB
	maxNesting  = 64         // objects and arrays inside each other, metadata itself being the first
)

// order is what a client asks for: the checked body of POST /payments.
type order struct {
	Amount    int64  // minor units of Currency, 1 to jsonbody.MaxWhole
	Currency  string // ISO 4217
	Source    string // the provider's token of the card
	Reference string // the client's own name for the payment
	Metadata  string // JSON text of an object, byte for byte as sent; "" where there is none
}

// charge is what the provider is asked for.
func (o order) charge() provider.Charge {
	return provider.Charge{Amount: o.Amount, Currency: o.Currency, Source: o.Source, Reference: o.Reference}
}

// parseOrder reads the body of POST /payments. Its errors are words for the client.
func parseOrder(body []byte) (order, error) {
	var o order
	if err := jsonbody.ReadObject(body, o.readMember); err != nil {
		return order{}, err
	}
	return o, o.missing()
}

// readMember reads and checks the value of one member.
func (o *order) readMember(name string, d *jsontext.Decoder) (err error) {
	switch name {
	case "amount":
		o.Amount, err = jsonbody.ReadWhole(d, name, "minor units", jsonbody.MaxWhole)
	case "currency":
		o.Currency, err = jsonbody.ReadString(d, name, checkCurrency)
	case "source":
		o.Source, err = jsonbody.ReadString(d, name, jsonbody.CheckSource)
	case "reference":
		o.Reference, err = jsonbody.ReadString(d, name, jsonbody.CheckReference)
	case "metadata":
		o.Metadata, err = readMetadata(d)
	default:
		err = jsonbody.Unknown("A payment", name, "amount, currency, source, reference and metadata")
	}
	return err
}

// missing is the refusal of an order that lacks a needed member: no checked value is a zero value.
func (o *order) missing() error {
	switch {
	case o.Amount == 0:
		return jsonbody.Invalidf("amount is missing.")
	case o.Currency == "":
		return jsonbody.Invalidf("currency is missing.")
	case o.Source == "":
		return jsonbody.Invalidf("source is missing.")
	case o.Reference == "":
		return jsonbody.Invalidf("reference is missing.")
	}
	return nil
}

func readMetadata(d *jsontext.Decoder) (string, error) {
	object, err := jsonbody.ReadKind(d, '{', "metadata must be a JSON object.")
	if err != nil {
		return "", err
	}
	if len(object) > maxMetadata {
		return "", jsonbody.Invalidf("metadata must be at most %d bytes of JSON text.", maxMetadata)
	}
	if nesting(object) > maxNesting {
		return "", jsonbody.Invalidf("metadata must not nest deeper than %d objects and arrays, its own braces included.", maxNesting)
	}
	return string(object), nil
}

// nesting is the depth of valid JSON: 0 for a scalar, 1 for {} and {"a":1}, 2 for {"a":[]}.
func nesting(value []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++ // the escaped character does not end the string
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

func checkCurrency(code string) error {
	if !isCurrency(code) {
		return jsonbody.Invalidf("currency must be an active ISO 4217 code in upper case.")
	}
	return nil
}
