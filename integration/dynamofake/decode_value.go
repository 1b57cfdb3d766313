package dynamofake

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how many lists and maps may be nested in one another. The limit
// is 32 levels (developer guide, "Quotas in Amazon DynamoDB": nested
// attributes), of which the value in the innermost one is the last: so the
// service counts.
const maxDepth = 31

// item reads a map of attribute values. That a name is empty is told before
// what is wrong with the values, wherever it stands.
func (d *decoder) item(to *item) error {
	out := make(item, 0, 8)
	complaint, err := d.apart(func() error {
		return d.object(func(name []byte) error {
			out = append(out, attr{name: string(name)})
			v, err := d.value(0)
			out[len(out)-1].value = v
			return err
		})
	})
	*to = out.sortNames()
	if len(out) > 0 && (*to)[0].name == "" {
		complaint = errNoName
	}
	if complaint != nil {
		d.complain(complaint)
	}
	return err
}

// value reads one attribute value, which is an object with exactly one member
// that names the type.
func (d *decoder) value(depth int) (value, error) {
	var v value
	types := 0
	switch d.json.PeekKind() {
	case '"', '0', 't', 'f':
		return v, unexpected("Unexpected value type in payload")
	case '[':
		return v, unexpected("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue")
	}
	err := d.object(func(name []byte) error {
		k, known := kindNamed(string(name))
		if !known || d.json.PeekKind() == 'n' {
			return d.skip()
		}
		types++
		v = value{kind: k}
		return d.content(&v, depth)
	})
	switch {
	case types == 0:
		d.complain(invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"))
	case types > 1:
		d.complain(invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"))
	}
	return v, err
}

// content reads what belongs to v's kind.
func (d *decoder) content(v *value, depth int) error {
	switch v.kind {
	case kindBOOL, kindNULL:
		return d.flag(v)
	case kindM, kindL:
		if depth++; depth > maxDepth {
			d.complain(errTooDeep)
			return d.skip()
		}
		if v.kind == kindL {
			return d.array(func() error {
				element, err := d.value(depth)
				v.elems = append(v.elems, attr{value: element})
				return err
			})
		}
		err := d.object(func(name []byte) error {
			v.elems = append(v.elems, attr{name: string(name)})
			member, err := d.value(depth)
			v.elems[len(v.elems)-1].value = member
			return err
		})
		v.elems = v.elems.sortNames()
		return err
	case kindSS, kindNS, kindBS:
		return d.set(v)
	}
	return d.text(v)
}

// text reads the string that S, N and B are sent as.
func (d *decoder) text(v *value) error {
	raw, ok, err := d.scalar()
	switch {
	case err != nil:
		return err
	case !ok:
		return unexpected("Unexpected field type")
	case raw[0] != '"' && v.kind == kindB:
		return unexpected("only base-64-encoded strings are convertible to bytes")
	case raw[0] != '"':
		return unexpected(scalarName(raw) + " cannot be converted to String")
	case v.kind == kindB:
		v.text, err = decodeBase64(raw)
		return err
	}
	if v.text, err = unquote(raw); err != nil || v.kind == kindS {
		return err
	}
	text := v.text
	if v.text, err = parseNumber(text); err != nil {
		d.complain(numberComplaint(err, text))
	}
	return nil
}

// numberComplaint shows the text that is no number.
func numberComplaint(err error, text string) error {
	if err == errNotANumber && text != "" {
		return invalid("%s: %s", err, text)
	}
	return err
}

// decodeBase64 is strict: what is stored must come back in the same letters.
func decodeBase64(raw jsontext.Value) (string, error) {
	text := raw[1 : len(raw)-1]
	if len(text)%4 != 0 {
		return "", unexpected("Base64 encoded length is expected a multiple of 4 bytes but found: " + strconv.Itoa(len(text)))
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(out, text)
	if err != nil {
		return "", unexpected("Invalid last non-pad Base64 character dectected")
	}
	return string(out[:n]), nil
}

// flag reads the content of BOOL and NULL.
func (d *decoder) flag(v *value) error {
	var is bool
	if err := d.boolean(&is); err != nil {
		return err
	}
	switch {
	case v.kind == kindNULL && !is:
		d.complain(invalid("One or more parameter values were invalid: Null attribute value types must have the value of true"))
	case v.kind == kindBOOL && is:
		v.text = boolTrue
	}
	return nil
}

// set reads the members of a set and orders them. A set is not empty and has
// no member twice ("Supported data types and naming rules in Amazon DynamoDB");
// numbers are the same if they are equal.
func (d *decoder) set(v *value) error {
	var texts []string
	err := d.array(func() error {
		member := value{kind: v.kind.element()}
		err := d.text(&member)
		v.elems = append(v.elems, attr{value: member})
		texts = append(texts, member.text)
		return err
	})
	if len(v.elems) == 0 {
		d.complain(invalid("One or more parameter values were invalid: %s", emptySet[v.kind]))
	}
	slices.SortFunc(v.elems, func(a, b attr) int { return strings.Compare(a.text, b.text) })
	for i := range v.elems {
		if i > 0 && v.elems[i].text == v.elems[i-1].text {
			d.complain(duplicates(v.kind, texts))
		}
	}
	return err
}

var emptySet = map[kind]string{
	kindSS: "An string set  may not be empty",
	kindNS: "An number set  may not be empty",
	kindBS: "Binary sets should not be empty",
}

// duplicates is the complaint about a set with a member twice; the texts are in
// the order in which they came.
func duplicates(k kind, texts []string) error {
	switch k {
	case kindNS:
		return invalid("Input collection contains duplicates")
	case kindBS:
		for i, t := range texts {
			texts[i] = base64.StdEncoding.EncodeToString([]byte(t))
		}
		return invalid("One or more parameter values were invalid: Input collection [%s]of type BS contains duplicates.", strings.Join(texts, ", "))
	}
	return invalid("One or more parameter values were invalid: Input collection [%s] contains duplicates.", strings.Join(texts, ", "))
}
