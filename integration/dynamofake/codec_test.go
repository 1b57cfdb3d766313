package dynamofake

import (
	"testing"
	"time"
)

const codecItem = `{"b":{"B":"AAH/"},"l":{"L":[{"N":"-1.5"},{"L":[]},{"M":{"":{"NULL":true}}}]},"pk":{"S":"é\u0000"},"ss":{"SS":["","a"]},"t":{"BOOL":true}}`

func TestCodec(t *testing.T) {
	it := document(t, codecItem)
	at := time.UnixMilli(1795953600123)
	var e encoder
	e.byte('x')
	e.time(at)
	e.str("text")
	e.item(it)
	p := &payload{in: e.out}
	if b, got, s := p.byte(), p.time(), p.str(); b != 'x' || !got.Equal(at) || s != "text" {
		t.Errorf("got %q %v %q", b, got, s)
	}
	if got := p.item(); !got.equal(it) {
		t.Errorf("got %s", wire(got))
	}
	if p.err != nil || len(p.in) > 0 {
		t.Errorf("error %v, %d bytes left", p.err, len(p.in))
	}
}

// A payload that ends too early, or lies about lengths, is an error: it never
// panics and never asks for more memory than there is.
func TestBadPayload(t *testing.T) {
	var e encoder
	e.item(document(t, codecItem))
	for end := range e.out {
		p := &payload{in: e.out[:end]}
		if p.item(); p.err == nil {
			t.Errorf("cut at %d: no error", end)
		}
	}
	for _, in := range []string{"", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80", "\x05ab"} {
		for name, read := range map[string]func(*payload){
			"string": func(p *payload) { p.str() },
			"item":   func(p *payload) { p.item() },
			"number": func(p *payload) { p.uint(); p.str() },
			"byte":   func(p *payload) { p.byte(); p.str(); p.str() },
		} {
			p := &payload{in: []byte(in)}
			if read(p); p.err == nil && in != "\x05ab" {
				t.Errorf("%s of %q: no error", name, in)
			}
		}
	}
	s := open(t, Options{})
	for _, record := range []string{"", "?", "T\x01\x01{", "W\x01\x00\x04none", "I\x04none", "S\x01"} {
		if err := s.replay([]byte(record)); err == nil {
			t.Errorf("record %q: no error", record)
		}
	}
}
