package dynamofake

import (
	"bytes"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// decoder reads a request token by token. Errors of form (no JSON, a string
// where an object must be) are SerializationExceptions and stop it. What is
// wrong with a value inside is kept as its first complaint, since the service
// reports that only after it has looked at the parameters.
type decoder struct {
	json      jsontext.Decoder
	in        bytes.Buffer
	complaint error
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decode reads one JSON object with read and wants nothing behind it. It
// returns the first complaint about a value apart from errors of form.
func decode(body []byte, read func(*decoder) error) (complaint, err error) {
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.in = *bytes.NewBuffer(body)
	d.json.Reset(&d.in, jsontext.AllowDuplicateNames(true))
	d.complaint = nil
	if err := read(d); err != nil {
		return nil, err
	}
	if _, err := d.json.ReadToken(); err != io.EOF {
		return nil, errNoJSON
	}
	return d.complaint, nil
}

// errNoJSON has no message, as in the service.
var errNoJSON = fail(codeSerialization, "")

// unexpected is the answer to a request of a wrong form.
func unexpected(message string) error { return fail(codeSerialization, "%s", message) }

// complain keeps what is wrong with a value, if it is the first.
func (d *decoder) complain(err error) {
	if d.complaint == nil {
		d.complaint = err
	}
}

// apart reads something whose first complaint is kept apart from the others.
func (d *decoder) apart(read func() error) (complaint, err error) {
	earlier := d.complaint
	d.complaint = nil
	err = read()
	complaint, d.complaint = d.complaint, earlier
	return complaint, err
}

// object reads an object and calls member for each member; member reads the
// value, and uses the name before that. A null is an object without members.
func (d *decoder) object(member func(name []byte) error) error {
	return d.collection('{', '}', func() error {
		raw, err := d.json.ReadValue()
		if err != nil {
			return errNoJSON
		}
		name := raw[1 : len(raw)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			if name, err = jsontext.AppendUnquote(nil, raw); err != nil {
				return errNoJSON
			}
		}
		return member(name)
	})
}

// array reads an array and calls element for each element. A null is an empty
// one.
func (d *decoder) array(element func() error) error {
	return d.collection('[', ']', element)
}

// collection reads what is between an opening and a closing bracket.
func (d *decoder) collection(open, closing jsontext.Kind, one func() error) error {
	token, err := d.json.ReadToken()
	if err != nil {
		return errNoJSON
	}
	switch kind := token.Kind(); {
	case kind == 'n':
		return nil
	case kind == '{' && open != '{':
		return unexpected("Start of structure or map found where not expected")
	case kind == '[' && open != '[':
		return unexpected("Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>")
	case kind != open:
		return unexpected("Unexpected field type")
	}
	for d.json.PeekKind() != closing {
		if d.json.PeekKind() == 0 {
			return errNoJSON
		}
		if err := one(); err != nil {
			return err
		}
	}
	if _, err := d.json.ReadToken(); err != nil {
		return errNoJSON
	}
	return nil
}

// skip reads a value that nobody needs.
func (d *decoder) skip() error {
	if err := d.json.SkipValue(); err != nil {
		return errNoJSON
	}
	return nil
}

// scalar reads a value that is not an object or array; ok is false for null.
func (d *decoder) scalar() (raw jsontext.Value, ok bool, err error) {
	switch d.json.PeekKind() {
	case '{':
		return nil, false, unexpected("Start of structure or map found where not expected")
	case '[':
		return nil, false, unexpected("Unrecognized collection type class java.lang.String")
	}
	if raw, err = d.json.ReadValue(); err != nil {
		return nil, false, errNoJSON
	}
	return raw, raw[0] != 'n', nil
}

// str reads a string; null leaves *to alone.
func (d *decoder) str(to *string) error {
	raw, ok, err := d.scalar()
	if err != nil || !ok {
		return err
	}
	if raw[0] != '"' {
		return unexpected(scalarName(raw) + " cannot be converted to String")
	}
	*to, err = unquote(raw)
	return err
}

// unquote is the text of a JSON string.
func unquote(raw jsontext.Value) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", errNoJSON
	}
	return string(text), nil
}

// choice reads the name of a choice; null leaves *to alone.
func (d *decoder) choice(to *choice) error {
	if d.json.PeekKind() == 'n' {
		return d.skip()
	}
	to.given = true
	return d.str(&to.value)
}

// optional is a string that may be absent: an empty one is not absent.
func (d *decoder) optional(to **string) error {
	if d.json.PeekKind() == 'n' {
		return d.skip()
	}
	*to = new(string)
	return d.str(*to)
}

// boolean reads true or false, which may also come as strings.
func (d *decoder) boolean(to *bool) error {
	raw, ok, err := d.scalar()
	if err != nil || !ok {
		return err
	}
	switch string(raw) {
	case "true", `"true"`:
		*to = true
	case "false", `"false"`:
		*to = false
	default:
		if raw[0] == '"' {
			return unexpected("Unexpected token received from parser")
		}
		return unexpected(scalarName(raw) + " cannot be converted to Boolean")
	}
	return nil
}

// integer reads a whole number; null leaves *to alone.
func (d *decoder) integer(to **int) error {
	raw, ok, err := d.scalar()
	if err != nil || !ok {
		return err
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return unexpected(scalarName(raw) + " cannot be converted to Integer")
	}
	n := int(f)
	*to = &n
	return nil
}

// scalarName is what the service calls a JSON scalar in its messages.
func scalarName(raw jsontext.Value) string {
	switch raw[0] {
	case '"':
		return "STRING_VALUE"
	case 't':
		return "TRUE_VALUE"
	case 'f':
		return "FALSE_VALUE"
	}
	if bytes.ContainsAny(raw, ".eE") {
		return "DECIMAL_VALUE"
	}
	return "NUMBER_VALUE"
}
