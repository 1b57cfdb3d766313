package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What a payment may be.
const (
	maxBody         = 512 * 1024 // bytes of a request body; the guard checks it
	maxReference    = 64         // Unicode code points
	maxMetadata     = 350 * 1024 // bytes as sent; with the rest of the item below DynamoDB's 400 KB
	maxNesting      = 64         // objects and arrays inside each other, metadata itself being the first
	sourcePrefix    = "tok_"
	maxSourceSuffix = 60 // characters after the prefix
)

// order is what a client asks for: the checked body of POST /payments.
type order struct {
	Amount    int64  // minor units of Currency, 1 to maxAmount
	Currency  string // ISO 4217
	Source    string // the provider's token of the card
	Reference string // the client's own name for the payment
	Metadata  string // JSON text of an object, byte for byte as sent; "" where there is none
}

// invalidError is a broken rule, in words for the client. It names the member and the rule and repeats no value: what
// is wrong here may be a secret elsewhere.
type invalidError string

func (e invalidError) Error() string { return string(e) }

func invalidf(format string, args ...any) error {
	return invalidError(fmt.Sprintf(format, args...))
}

// parseOrder reads the body of POST /payments. It is strict, because what passes is charged: one JSON object in valid
// UTF-8 with nothing behind it, every member known by its exact name and given once. Its errors are invalidErrors.
func parseOrder(body []byte) (order, error) {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if kind := d.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return order{}, invalidf("The body must be a JSON object.")
	}
	var o order
	if err := o.read(d); err != nil {
		return order{}, explain(err)
	}
	return o, o.missing()
}

// read fills the order from the one object that the decoder holds.
func (o *order) read(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil { // {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := o.readMember(name.String(), d); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil { // }
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return invalidf("Nothing may follow the JSON object.")
	}
	return nil
}

// readMember reads and checks the value of one member.
func (o *order) readMember(name string, d *jsontext.Decoder) (err error) {
	switch name {
	case "amount":
		o.Amount, err = readAmount(d)
	case "currency":
		o.Currency, err = readString(d, name, checkCurrency)
	case "source":
		o.Source, err = readString(d, name, checkSource)
	case "reference":
		o.Reference, err = readString(d, name, checkReference)
	case "metadata":
		o.Metadata, err = readMetadata(d)
	default:
		err = unknownMember(name)
	}
	return err
}

// unknownMember repeats a name only where it looks like a name.
func unknownMember(name string) error {
	foreign := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
	}
	which := "member " + name
	if name == "" || len(name) > 32 || strings.ContainsFunc(name, foreign) {
		which = "such member"
	}
	return invalidf("A payment has no %s. It has amount, currency, source, reference and metadata, in lower case.", which)
}

// missing is the refusal of an order that lacks a needed member: no checked value is a zero value.
func (o *order) missing() error {
	switch {
	case o.Amount == 0:
		return invalidf("amount is missing.")
	case o.Currency == "":
		return invalidf("currency is missing.")
	case o.Source == "":
		return invalidf("source is missing.")
	case o.Reference == "":
		return invalidf("reference is missing.")
	}
	return nil
}

// explain turns the decoder's error into one for the client. The decoder's own text may quote the input.
func explain(err error) error {
	var invalid invalidError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &invalid):
		return invalid
	case errors.Is(err, jsontext.ErrDuplicateName):
		return invalidf("The body names a member twice.")
	case errors.As(err, &syntax):
		return invalidf("The body is not valid JSON in UTF-8; see at or after byte %d.", syntax.ByteOffset)
	}
	return invalidf("The body is not complete JSON.")
}

// readAmount reads the amount, whose spelling is the client's: 1299, 1299.0 and 12.99e2 are one number.
func readAmount(d *jsontext.Decoder) (int64, error) {
	number, err := readKind(d, '0', "amount must be a JSON number.")
	if err != nil {
		return 0, err
	}
	amount, ok := parseAmount(string(number))
	if !ok {
		return 0, invalidf("amount must be a whole number of minor units, from 1 to %d.", int64(maxAmount))
	}
	return amount, nil
}

func readString(d *jsontext.Decoder, name string, check func(string) error) (string, error) {
	quoted, err := readKind(d, '"', name+" must be a JSON string.")
	if err != nil {
		return "", err
	}
	value, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return "", err
	}
	return string(value), check(string(value))
}

func readMetadata(d *jsontext.Decoder) (string, error) {
	object, err := readKind(d, '{', "metadata must be a JSON object.")
	if err != nil {
		return "", err
	}
	if len(object) > maxMetadata {
		return "", invalidf("metadata must be at most %d bytes of JSON text.", maxMetadata)
	}
	if nesting(object) > maxNesting {
		return "", invalidf("metadata must not nest deeper than %d objects and arrays, its own braces included.", maxNesting)
	}
	return string(object), nil
}

// readKind reads a whole value of the given kind; another kind is refused unread, with the rule.
func readKind(d *jsontext.Decoder, want jsontext.Kind, rule string) (jsontext.Value, error) {
	if kind := d.PeekKind(); kind != want && kind != jsontext.KindInvalid {
		return nil, invalidError(rule)
	}
	return d.ReadValue()
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
		return invalidf("currency must be an active ISO 4217 code in upper case.")
	}
	return nil
}

// checkReference is the rule for a reference, in a body and in a query. It is counted in code points and not
// normalised: what looks alike may be two references.
func checkReference(reference string) error {
	if n := utf8.RuneCountInString(reference); n < 1 || n > maxReference {
		return invalidf("reference must have 1 to %d characters.", maxReference)
	}
	if !utf8.ValidString(reference) || strings.ContainsFunc(reference, unicode.IsControl) {
		return invalidf("reference must be UTF-8 without control characters.")
	}
	return nil
}

// checkSource is ^tok_[a-z0-9_]{1,60}$.
func checkSource(source string) error {
	suffix, found := strings.CutPrefix(source, sourcePrefix)
	foreign := func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_') }
	if !found || suffix == "" || len(suffix) > maxSourceSuffix || strings.ContainsFunc(suffix, foreign) {
		return invalidf("source must be %s and then 1 to %d of a-z, 0-9 and _.", sourcePrefix, maxSourceSuffix)
	}
	return nil
}
