// Package jsonbody reads the JSON bodies of requests strictly, because what passes is charged, and writes JSON member by
// member. Its refusals are words for the client.
package jsonbody

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Invalid is a broken rule, in words for the client. It names the member and the rule and repeats no value: what is
// wrong here may be a secret elsewhere.
type Invalid string

// Error implements error.
func (e Invalid) Error() string { return string(e) }

// Invalidf formats a broken rule.
func Invalidf(format string, args ...any) error {
	return Invalid(fmt.Sprintf(format, args...))
}

// ReadObject reads a body that is one JSON object in valid UTF-8 with nothing behind it and no member twice. member
// reads each value off the decoder, by one of the Read functions; a name that it does not know it refuses with
// [Unknown]. Every error is an [Invalid].
func ReadObject(body []byte, member func(name string, d *jsontext.Decoder) error) error {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if kind := d.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return Invalid("The body must be a JSON object.")
	}
	if err := readMembers(d, member); err != nil {
		return explain(err)
	}
	return nil
}

func readMembers(d *jsontext.Decoder, member func(string, *jsontext.Decoder) error) error {
	if _, err := d.ReadToken(); err != nil { // {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String(), d); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil { // }
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return Invalid("Nothing may follow the JSON object.")
	}
	return nil
}

// explain turns the decoder's error into one for the client. The decoder's own text may quote the input.
func explain(err error) error {
	var invalid Invalid
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &invalid):
		return invalid
	case errors.Is(err, jsontext.ErrDuplicateName):
		return Invalid("The body names a member twice.")
	case errors.As(err, &syntax):
		return Invalidf("The body is not valid JSON in UTF-8; see at or after byte %d.", syntax.ByteOffset)
	}
	return Invalid("The body is not complete JSON.")
}

// Unknown is the refusal of a member that is not known, of a thing such as "A payment", whose members are listed in words.
// The name is repeated only where it looks like a name.
func Unknown(thing, name, members string) error {
	foreign := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
	}
	which := "member " + name
	if name == "" || len(name) > 32 || strings.ContainsFunc(name, foreign) {
		which = "such member"
	}
	return Invalidf("%s has no %s. It has %s, in lower case.", thing, which, members)
}
