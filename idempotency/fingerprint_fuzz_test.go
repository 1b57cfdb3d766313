package idempotency

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// wholeBody is the selection of endpoints that select nothing.
var wholeBody = new(selection)

// jsonForm is what the canonicalizer writes of a JSON body, its memory checked.
func jsonForm(t *testing.T, text []byte, s *selection) string {
	t.Helper()
	var c canonicalizer
	c.body(media{kind: mediaJSON}, s, text)
	if used := cap(c.out) + cap(c.scratch) + cap(c.members)*memberSize; used > 32*len(text)+1024 {
		t.Errorf("a text of %d bytes took %d bytes of memory", len(text), used)
	}
	return string(c.out)
}

// FuzzMeaning holds two texts against the reference: they have one form exactly if they mean the same.
func FuzzMeaning(f *testing.F) {
	for _, c := range spellingPairs {
		f.Add([]byte(c.a), []byte(c.b))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		same := reference(a, Selection{}) == reference(b, Selection{})
		if got := jsonForm(t, a, wholeBody) == jsonForm(t, b, wholeBody); got != same {
			t.Errorf("same = %v, the reference says %v:\n%q\n%q", got, same, a, b)
		}
	})
}

// FuzzSpelling spells a text anew, which must keep its form, and changes its meaning, which must not.
func FuzzSpelling(f *testing.F) {
	for i, c := range spellingPairs {
		f.Add([]byte(c.a), uint64(i))
		f.Add([]byte(c.b), uint64(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		tree, ok := parseReference(text)
		if !ok {
			return
		}
		again := respell(tree, seed)
		if _, ok := parseReference(again); !ok {
			return // the new spelling took an exponent over its limit
		}
		if jsonForm(t, text, wholeBody) != jsonForm(t, again, wholeBody) {
			t.Errorf("differ in spelling only:\n%q\n%q", text, again)
		}
		other := respell(changedTree(tree, rand.New(rand.NewPCG(seed, 2))), seed)
		if jsonForm(t, text, wholeBody) == jsonForm(t, other, wholeBody) {
			t.Errorf("differ in meaning:\n%q\n%q", text, other)
		}
	})
}

// FuzzSelection holds what a selection counts against the reference: of a text, its other spellings, and texts that
// mean something else.
func FuzzSelection(f *testing.F) {
	for i, c := range selectionPairs {
		f.Add([]byte(c.a), strings.Join(c.s.Include, " "), strings.Join(c.s.Exclude, " "), uint64(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, include, exclude string, seed uint64) {
		s := Selection{Version: 1, Include: strings.Fields(include), Exclude: strings.Fields(exclude)}
		made, err := s.compile()
		tree, ok := parseReference(text)
		if err != nil || !ok {
			return
		}
		r := rand.New(rand.NewPCG(seed, 3))
		for _, other := range []any{tree, changedTree(tree, r), changedTree(tree, r), changedTree(tree, r)} {
			again := respell(other, seed)
			same := reference(text, s) == reference(again, s)
			if got := jsonForm(t, text, made) == jsonForm(t, again, made); got != same {
				t.Errorf("same = %v, the reference says %v:\n%q\n%q", got, same, text, again)
			}
		}
	})
}

// FuzzRequest computes fingerprints of any request: no panic, the same each time, and another one for another path and,
// where bytes are compared, for another body.
func FuzzRequest(f *testing.F) {
	for _, c := range requestPairs {
		f.Add(c.a.Method, c.a.Path, c.a.RawQuery, c.a.Header.Get("Content-Type"), c.a.Body)
	}
	f.Fuzz(func(t *testing.T, method, path, query, contentType string, body []byte) {
		r := &Request{Method: method, Path: path, RawQuery: query, Header: http.Header{"Content-Type": {contentType}}, Body: body}
		first := wholeBody.fingerprint(r)
		if again := wholeBody.fingerprint(r); !bytes.Equal(first, again) {
			t.Errorf("two fingerprints of one request: %x, %x", first, again)
		}
		longer := *r
		longer.Path += "x"
		if bytes.Equal(first, wholeBody.fingerprint(&longer)) {
			t.Error("another path has the same fingerprint")
		}
		raw := selection{bytes: true}
		longer = *r
		longer.Body = append(bytes.Clone(body), 'x')
		if bytes.Equal(raw.fingerprint(r), raw.fingerprint(&longer)) {
			t.Error("other bytes have the same fingerprint")
		}
	})
}
