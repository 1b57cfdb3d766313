package dynamofake

import (
	"encoding/base64"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// writer builds a JSON answer by appending. Members are written with field and
// the value behind it; commas come by themselves.
type writer struct {
	out []byte
}

// open begins an object or array, close ends it.
func (w *writer) open(c byte) {
	w.comma()
	w.out = append(w.out, c)
}

func (w *writer) close(c byte) { w.out = append(w.out, c) }

// comma writes the comma that is due before a value or a name.
func (w *writer) comma() {
	if len(w.out) == 0 {
		return
	}
	switch w.out[len(w.out)-1] {
	case '{', '[', ':', ',':
		return
	}
	w.out = append(w.out, ',')
}

// field writes the name of a member.
func (w *writer) field(name string) {
	w.str(name)
	w.out = append(w.out, ':')
}

// str writes a string. Most need no escape and are copied.
func (w *writer) str(s string) {
	w.comma()
	if plainASCII(s) {
		w.out = append(append(append(w.out, '"'), s...), '"')
		return
	}
	out, err := jsontext.AppendQuote(w.out, s)
	if err == nil || len(out) > len(w.out) { // bad UTF-8 is written as U+FFFD
		w.out = out
	}
}

// plainASCII reports whether s needs no escape in JSON.
func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

func (w *writer) int(n int) {
	w.comma()
	w.out = strconv.AppendInt(w.out, int64(n), 10)
}

func (w *writer) float(f float64) {
	w.comma()
	w.out = strconv.AppendFloat(w.out, f, 'f', -1, 64)
}

func (w *writer) bool(b bool) {
	w.comma()
	w.out = strconv.AppendBool(w.out, b)
}

// item writes a map of attribute values.
func (w *writer) item(it item) {
	w.open('{')
	for i := range it {
		w.field(it[i].name)
		w.value(&it[i].value)
	}
	w.close('}')
}

// value writes {"TYPE": content}.
func (w *writer) value(v *value) {
	w.open('{')
	w.field(v.kind.String())
	switch v.kind {
	case kindBOOL:
		w.bool(v.text == boolTrue)
	case kindNULL:
		w.bool(true)
	case kindM:
		w.item(v.elems)
	case kindL:
		w.open('[')
		for i := range v.elems {
			w.value(&v.elems[i].value)
		}
		w.close(']')
	case kindSS, kindNS, kindBS:
		w.open('[')
		for i := range v.elems {
			w.text(&v.elems[i].value)
		}
		w.close(']')
	default:
		w.text(v)
	}
	w.close('}')
}

// text writes the string that S, N and B are sent as.
func (w *writer) text(v *value) {
	switch v.kind {
	case kindN:
		w.comma()
		w.out = append(w.out, '"')
		w.out = append(appendNumber(w.out, v.text), '"')
	case kindB:
		w.comma()
		w.out = append(w.out, '"')
		w.out = base64.StdEncoding.AppendEncode(w.out, []byte(v.text))
		w.out = append(w.out, '"')
	default:
		w.str(v.text)
	}
}

// plain is the content of a value as the service's messages show it.
func (v value) plain() string {
	var w writer
	if v.kind.ordered() && v.kind != kindS {
		w.text(&v)
		return string(w.out[1 : len(w.out)-1])
	}
	return v.text
}
