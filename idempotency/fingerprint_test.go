package idempotency

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

const (
	typeJSON = "application/json"
	typeForm = "application/x-www-form-urlencoded"
)

// post is a request whose body has a media type.
func sending(contentType, body string) *Request {
	return &Request{Method: "POST", Path: "/payments", Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)}
}

// with returns a changed copy of a request.
func altered(r *Request, change func(*Request)) *Request {
	c := *r
	c.Header = r.Header.Clone()
	change(&c)
	return &c
}

func sendingQuery(raw string) *Request {
	return altered(sending(typeJSON, `{}`), func(r *Request) { r.RawQuery = raw })
}

func sendingHeader(name string, values ...string) *Request {
	return altered(sending(typeJSON, `{"a":1}`), func(r *Request) { r.Header[name] = values })
}

var paymentRequest = sending(typeJSON, `{"amount":1299,"currency":"EUR"}`)

// requestPairs are pairs of requests that are the same, or are not. A number in front is the row of the failure catalogue.
var requestPairs = []struct {
	name string
	a, b *Request
	same bool
}{
	{"F36 other payload", paymentRequest, sending(typeJSON, `{"amount":1300,"currency":"EUR"}`), false},
	{"F36 other payload by a space in a string", paymentRequest, sending(typeJSON, `{"amount":1299,"currency":"EUR "}`), false},
	{"F36 no payload", paymentRequest, sending(typeJSON, ``), false},
	{"F39 other path", paymentRequest, altered(paymentRequest, func(r *Request) { r.Path = "/refunds" }), false},
	{"F39 other method", paymentRequest, altered(paymentRequest, func(r *Request) { r.Method = "PATCH" }), false},
	{"F40 path and query shifted", sendingQuery("a=1"), altered(sendingQuery(""), func(r *Request) { r.Path = "/payments?a=1" }), false},
	{"F40 method and path shifted", &Request{Method: "POST", Path: "X/a"}, &Request{Method: "POSTX", Path: "/a"}, false},
	{"F40 media type and body shifted", sending("text/plain", "ab"), sending("text/plaina", "b"), false},
	{"F40 names and values shifted", sending(typeForm, "a=bc"), sending(typeForm, "ab=c"), false},
	{"F40 values of names shifted", sending(typeForm, "a=1&a=b&b=2"), sending(typeForm, "a=1&b=b&b=2"), false},
	{"F55 duplicate members", sending(typeJSON, `{"a":1,"a":2}`), sending(typeJSON, `{"a":2,"a":1}`), false},
	{"F55 case-variant members", sending(typeJSON, `{"a":1,"A":2}`), sending(typeJSON, `{"A":2,"a":1}`), false},
	{"F56 big integers", sending(typeJSON, `9007199254740993`), sending(typeJSON, `9007199254740992`), false},
	{"F56 bad UTF-8", sending(typeJSON, "\"\xff\""), sending(typeJSON, "\"\ufffd\""), false},
	{"F57 deep nesting", sending(typeJSON, nestedArrays(1e6, "")), sending(typeJSON, nestedArrays(1e6, " ")), false},
	{"F57 deep nesting sent again", sending(typeJSON, nestedArrays(1e6, "")), sending(typeJSON, nestedArrays(1e6, "")), true},

	{"what does not count", paymentRequest, altered(paymentRequest, func(r *Request) {
		r.Route, r.RequestID = "POST /payments", "request-2"
		r.Header.Set("Date", "Sun, 29 Nov 2026 20:37:00 GMT")
	}), true},

	{"query in another order", sendingQuery("a=1&b=2"), sendingQuery("b=2&a=1"), true},
	{"query with escapes", sendingQuery("a=%41&b=c+d"), sendingQuery("a=A&b=c%20d"), true},
	{"query, names apart", sendingQuery("a=1&b=2&a=3"), sendingQuery("a=1&a=3&b=2"), true},
	{"query, values of one name", sendingQuery("a=1&a=2"), sendingQuery("a=2&a=1"), false},
	{"query, other value", sendingQuery("a=1"), sendingQuery("a=2"), false},
	{"query, none", sendingQuery("a=1"), sendingQuery(""), false},
	{"query, case", sendingQuery("a=1"), sendingQuery("A=1"), false},
	{"query that does not parse", sendingQuery("a=%zz&b=1"), sendingQuery("b=1&a=%zz"), false},
	{"query that does not parse, and one that does", sendingQuery("%zz"), sendingQuery("%25zz"), false},

	{"media type in another spelling", sending("application/json", `{"a":1}`), sending("Application/JSON ;  Charset=\"UTF-8\"", `{"a":1.0}`), true},
	{"media type of the usual spellings", sending("application/json; charset=utf-8", `{"a":1}`), sending("application/json;charset=utf-8", `{"a":1.0}`), true},
	{"parameters in another order", sending("application/json; v=1; p=x", `[1]`), sending(`application/json;p="x";v=1`, `[1.0]`), true},
	{"parameter of another value", sending("application/json; v=1", `1`), sending("application/json; v=2", `1`), false},
	{"other charset is bytes", sending("application/json; charset=utf-16", `1`), sending("application/json; charset=utf-16", `1.0`), false},
	{"structured suffix", sending("application/vnd.api+json", `1`), sending("application/vnd.api+json", `1.0`), true},
	{"structured suffix is another type", sending("application/vnd.api+json", `1`), sending(typeJSON, `1`), false},
	{"text/json", sending("text/json", `1`), sending("text/json", `1.0`), true},
	{"not JSON", sending("text/plain", `1`), sending("text/plain", `1.0`), false},
	{"no media type", sendingHeader("Content-Type"), sendingHeader("Content-Type", ""), false},
	{"no media type is bytes", &Request{Body: []byte(`1`)}, &Request{Body: []byte(`1.0`)}, false},
	{"media type that does not parse", sending("application/json; v", `1`), sending("application/json; v", `1.0`), false},
	{"media type beyond ASCII", sending("text/\u212a", `1`), sending("text/k", `1`), false},
	{"two media types", sendingHeader("Content-Type", typeJSON, "text/plain"), sendingHeader("Content-Type", typeJSON), false},
	{"JSON text as plain text", sending(typeJSON, `1`), sending("text/plain", `1`), false},
	{"empty bodies", sending(typeJSON, ``), altered(sending(typeJSON, ``), func(r *Request) { r.Body = nil }), true},
	{"content encoding", sendingHeader("Content-Encoding", "gzip"), sendingHeader("X-Encoding", "gzip"), false},
	{"content encoding is bytes", altered(sending(typeJSON, `1`), func(r *Request) { r.Header.Set("Content-Encoding", "br") }),
		altered(sending(typeJSON, `1.0`), func(r *Request) { r.Header.Set("Content-Encoding", "br") }), false},

	{"form in another order", sending(typeForm, "a=1&b=2"), sending(typeForm, "b=2&a=1"), true},
	{"form with repeated names, across names", sending(typeForm, "a=1&b=2&a=3"), sending(typeForm, "a=1&a=3&b=2"), true},
	{"form with repeated names", sending(typeForm, "a=1&a=3"), sending(typeForm, "a=3&a=1"), false},
	{"form with escapes", sending(typeForm, "a=%c3%a9+x"), sending(typeForm+"; charset=utf-8", "a=%C3%A9%20x"), true},
	{"form that does not parse", sending(typeForm, "a=1;b=2&c"), sending(typeForm, "c&a=1;b=2"), false},
	{"JSON under a form's type, + and space", sending(typeForm, `{"a":"b c"}`), sending(typeForm, `{"a":"b+c"}`), false},
	{"JSON under a form's type, escapes", sending(typeForm, `{"a":"?b=2"}`), sending(typeForm, `{"a":"?b=%32"}`), false},
	{"JSON under a form's type, as it was", sending(typeForm, `{"a":"b c"}`), sending(typeForm, `{"a":"b c"}`), true},
	{"form, empty", sending(typeForm, ""), sending(typeForm, "="), false},
	{"form in latin-1", sending(typeForm+"; charset=iso-8859-1", "a=1&b=2"), sending(typeForm+"; charset=iso-8859-1", "b=2&a=1"), false},
}

func TestFingerprint(t *testing.T) {
	f, err := newFingerprinter(Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range requestPairs {
		t.Run(c.name, func(t *testing.T) {
			same, known := f.of(c.a).matches(f.of(c.b).current)
			if same != c.same || !known {
				t.Errorf("same = %v, known = %v, want %v, true", same, known, c.same)
			}
			if same, known := f.of(c.a).matches(f.of(c.a).current); !same || !known {
				t.Errorf("with itself: same = %v, known = %v", same, known)
			}
		})
	}
}

// goldenFingerprint is a request whose fingerprint was stored by an earlier version of this code.
type goldenFingerprint struct {
	Name        string      `json:"name"`
	Method      string      `json:"method"`
	Path        string      `json:"path"`
	Query       string      `json:"query,omitzero"`
	Header      http.Header `json:"header,omitzero"`
	Body        string      `json:"body,omitzero"`
	BodyFile    string      `json:"body_file,omitzero"` // instead of the body
	Selection   Selection   `json:"selection,omitzero"`
	Fingerprint string      `json:"fingerprint"`
}

func (g goldenFingerprint) request(t *testing.T) *Request {
	r := &Request{Method: g.Method, Path: g.Path, RawQuery: g.Query, Header: g.Header, Body: []byte(g.Body)}
	if g.BodyFile != "" {
		r.Body = readDocument(t, g.BodyFile)
	}
	return r
}

// TestF94StoredFingerprintsStayGood computes the fingerprints that records out there have. A change of rules that
// makes it fail needs a new rulesVersion, and the old rules for records of version 1.
func TestF94StoredFingerprintsStayGood(t *testing.T) {
	text, err := os.ReadFile("testdata/fingerprints.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenFingerprint
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			f, err := newFingerprinter(c.Selection, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(f.of(c.request(t)).current); got != c.Fingerprint {
				t.Errorf("fingerprint is %s, was %s", got, c.Fingerprint)
			}
		})
	}
}

// TestF94SelectionChangesInADeploy compares requests after a deploy with what was stored before it.
func TestF94SelectionChangesInADeploy(t *testing.T) {
	first := Selection{Version: 1, Exclude: []string{"/requestedAt"}}
	second := Selection{Version: 2, Exclude: []string{"/requestedAt", "/traceId"}}
	before, err := newFingerprinter(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	after, err := newFingerprinter(second, []Selection{first})
	if err != nil {
		t.Fatal(err)
	}
	stored := before.of(sending(typeJSON, `{"amount":1,"requestedAt":1,"traceId":1}`)).current
	for _, c := range []struct {
		name        string
		f           *fingerprinter
		body        string
		stored      Fingerprint
		same, known bool
	}{
		{"an honest retry", after, `{"traceId":1.0,"amount":1.0,"requestedAt":2}`, stored, true, true},
		{"another request", after, `{"amount":2,"requestedAt":1,"traceId":1}`, stored, false, true},
		{"what only the new selection leaves out", after, `{"amount":1,"requestedAt":1,"traceId":2}`, stored, false, true},
		{"the old code meets a new record", before, `{"amount":1}`, after.of(paymentRequest).current, false, false},
		{"from before there was a selection", after, `{"amount":1.0}`, wholeBody.fingerprint(sending(typeJSON, `{"amount":1}`)), true, true},
		{"rules to come", after, `{"amount":1}`, append(Fingerprint{rulesVersion + 1}, stored[1:]...), false, false},
		{"cut off", after, `{"amount":1}`, stored[:len(stored)-1], false, false},
		{"nothing", after, `{"amount":1}`, nil, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			same, known := c.f.of(sending(typeJSON, c.body)).matches(c.stored)
			if same != c.same || known != c.known {
				t.Errorf("same = %v, known = %v, want %v, %v", same, known, c.same, c.known)
			}
		})
	}
}

// TestUnmarkedChangeDiffers gives two selections one version: requests differ, they do not match by chance.
func TestUnmarkedChangeDiffers(t *testing.T) {
	before, _ := newFingerprinter(Selection{Version: 1, Exclude: []string{"/x"}}, nil)
	after, _ := newFingerprinter(Selection{Version: 1, Exclude: []string{"/y"}}, nil)
	stored := before.of(sending(typeJSON, `{"a":1,"x":2}`)).current
	if same, known := after.of(sending(typeJSON, `{"a":1,"y":5}`)).matches(stored); same || !known {
		t.Errorf("same = %v, known = %v, want false, true", same, known)
	}
}

func TestFingerprintsDoNotShareMemory(t *testing.T) {
	first := wholeBody.fingerprint(paymentRequest)
	before := bytes.Clone(first)
	wholeBody.fingerprint(sending(typeJSON, strings.Repeat("x", 100)))
	if !bytes.Equal(first, before) {
		t.Error("a later fingerprint changed an earlier one")
	}
}

func TestFingerprintAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	for _, name := range []string{"orders.json", "floats.json"} {
		r := jsonRequest(readDocument(t, name))
		if n := testing.AllocsPerRun(100, func() { wholeBody.fingerprint(r) }); n > 2 {
			t.Errorf("%s: %v allocations, want at most 2", name, n)
		}
	}
}
