package jsonbody

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What the members that several endpoints have may be.
const (
	maxReference    = 64 // Unicode code points
	sourcePrefix    = "tok_"
	maxSourceSuffix = 60 // characters after the prefix
)

// ReadWhole reads a number as [ParseWhole] does, from 1 to most. unit says what is counted.
func ReadWhole(d *jsontext.Decoder, name, unit string, most int64) (int64, error) {
	number, err := ReadKind(d, '0', name+" must be a JSON number.")
	if err != nil {
		return 0, err
	}
	value, ok := ParseWhole(string(number))
	if !ok || value > most {
		return 0, Invalidf("%s must be a whole number of %s, from 1 to %d.", name, unit, most)
	}
	return value, nil
}

// ReadString reads a string and checks it.
func ReadString(d *jsontext.Decoder, name string, check func(string) error) (string, error) {
	quoted, err := ReadKind(d, '"', name+" must be a JSON string.")
	if err != nil {
		return "", err
	}
	value, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return "", err
	}
	return string(value), check(string(value))
}

// ReadKind reads a whole value of the given kind; another kind is refused unread, with the rule.
func ReadKind(d *jsontext.Decoder, want jsontext.Kind, rule string) (jsontext.Value, error) {
	if kind := d.PeekKind(); kind != want && kind != jsontext.KindInvalid {
		return nil, Invalid(rule)
	}
	return d.ReadValue()
}

// CheckReference is the rule for a reference, the client's own name for what it asks for: 1 to 64 code points, none of
// them a control character. Nothing is normalised: what looks alike may be two references.
func CheckReference(reference string) error {
	if n := utf8.RuneCountInString(reference); n < 1 || n > maxReference {
		return Invalidf("reference must have 1 to %d characters.", maxReference)
	}
	if !utf8.ValidString(reference) || strings.ContainsFunc(reference, unicode.IsControl) {
		return Invalid("reference must be UTF-8 without control characters.")
	}
	return nil
}

// CheckSource is the rule for the provider's token of a card: ^tok_[a-z0-9_]{1,60}$.
func CheckSource(source string) error {
	suffix, found := strings.CutPrefix(source, sourcePrefix)
	foreign := func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_') }
	if !found || suffix == "" || len(suffix) > maxSourceSuffix || strings.ContainsFunc(suffix, foreign) {
		return Invalidf("source must be %s and then 1 to %d of a-z, 0-9 and _.", sourcePrefix, maxSourceSuffix)
	}
	return nil
}

// AppendMember appends a member with a string value. The name needs no escapes.
func AppendMember(b []byte, name, value string) []byte {
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `":`...)
	b, _ = jsontext.AppendQuote(b, value) // fails on invalid UTF-8 only, which it replaces
	return b
}
