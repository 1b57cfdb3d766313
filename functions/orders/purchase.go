package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"firstwriter/functions/internal/jsonbody"
)

const (
	maxQuantity = 100
	maxSKU      = 64 // Unicode code points
)

// purchase is what a client asks for: the checked body of POST /orders.
type purchase struct {
	SKU       string
	Quantity  int64  // 1 to maxQuantity
	Source    string // the provider's token of the card
	Reference string // the client's own name for the order
}

// parsePurchase reads the body of POST /orders. Its errors are words for the client. Whether there is such a product is
// for the catalog to say.
func parsePurchase(body []byte) (purchase, error) {
	var p purchase
	if err := jsonbody.ReadObject(body, p.readMember); err != nil {
		return purchase{}, err
	}
	return p, p.missing()
}

// readMember reads and checks the value of one member.
func (p *purchase) readMember(name string, d *jsontext.Decoder) (err error) {
	switch name {
	case "sku":
		p.SKU, err = jsonbody.ReadString(d, name, checkSKU)
	case "quantity":
		p.Quantity, err = jsonbody.ReadWhole(d, name, "pieces", maxQuantity)
	case "source":
		p.Source, err = jsonbody.ReadString(d, name, jsonbody.CheckSource)
	case "reference":
		p.Reference, err = jsonbody.ReadString(d, name, jsonbody.CheckReference)
	default:
		err = jsonbody.Unknown("An order", name, "sku, quantity, source and reference")
	}
	return err
}

// missing is the refusal of a purchase that lacks a member: no checked value is a zero value.
func (p *purchase) missing() error {
	switch {
	case p.SKU == "":
		return jsonbody.Invalidf("sku is missing.")
	case p.Quantity == 0:
		return jsonbody.Invalidf("quantity is missing.")
	case p.Source == "":
		return jsonbody.Invalidf("source is missing.")
	case p.Reference == "":
		return jsonbody.Invalidf("reference is missing.")
	}
	return nil
}

// checkSKU refuses what no product can be called.
func checkSKU(sku string) error {
	if n := utf8.RuneCountInString(sku); n < 1 || n > maxSKU || strings.ContainsFunc(sku, unicode.IsControl) {
		return jsonbody.Invalidf("sku must have 1 to %d characters, none of them a control character.", maxSKU)
	}
	return nil
}
