package httpclient

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"firstwriter/idempotency"
)

// TestKeys: a key is taken as given, in both spellings (F49, F50), or is a new UUID, one for each operation.
func TestKeys(t *testing.T) {
	for name, c := range map[string]struct {
		header []string
		given  string // by the context
		bare   bool
		sent   string // "": refused
	}{
		"bare":              {[]string{"order-42"}, "", false, `"order-42"`},
		"quoted":            {[]string{`"order 42"`}, "", false, `"order 42"`},
		"escaped":           {[]string{`"a\"b\\c"`}, "", false, `"a\"b\\c"`},
		"context":           {nil, `a"b\c, d`, false, `"a\"b\\c, d"`},
		"both":              {[]string{"k"}, "k", false, `"k"`},
		"different":         {[]string{"k"}, "other", false, ""},
		"two":               {[]string{"k", "k"}, "", false, ""},
		"empty":             {[]string{""}, "", false, ""},
		"too long":          {nil, strings.Repeat("k", 256), false, ""},
		"longest":           {nil, strings.Repeat("k", 255), false, `"` + strings.Repeat("k", 255) + `"`},
		"not ASCII":         {nil, "ключ", false, ""},
		"line break":        {nil, "a\r\nb", false, ""},
		"sent bare":         {[]string{`"order-42"`}, "", true, "order-42"},
		"cannot be bare":    {nil, "order 42", true, ""},
		"bare, space":       {nil, "order-42 ", true, ""},
		"bare, space first": {nil, " order-42", true, ""},
		"bare, quotes":      {nil, `"order-42"`, true, ""},
		"bare from context": {nil, "order-42", true, "order-42"},
	} {
		s := &script{steps: []step{{status: 503}, {status: 201}}}
		tr := newTransport(t, quick(func(c0 *Config) { c0.Base, c0.BareKeys = s, c.bare }))
		req := post(t, "http://server/", "x")
		if c.header != nil {
			req.Header[idempotency.KeyHeader] = c.header
		}
		if c.given != "" {
			req = req.WithContext(WithKey(req.Context(), c.given))
		}
		_, _, err := tr.Do(req)
		if (err != nil) != (c.sent == "") || c.sent == "" && len(s.sent) != 0 {
			t.Errorf("%s: %v, sent %d times", name, err, len(s.sent))
			continue
		}
		for _, r := range s.sent {
			if got := r.Header[idempotency.KeyHeader]; len(got) != 1 || got[0] != c.sent {
				t.Errorf("%s: sent %q", name, got)
			}
		}
	}
}

// TestEmptyKey: a key that is empty, from a variable that is not set, does not become a new one. No method is sent then.
func TestEmptyKey(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		for _, header := range []string{"", "k"} {
			s := &script{steps: []step{{status: 201}}}
			tr := newTransport(t, quick(func(c *Config) { c.Base = s }))
			req := post(t, "http://server/", "x").WithContext(WithKey(t.Context(), ""))
			if req.Method = method; header != "" {
				req.Header.Set(idempotency.KeyHeader, header)
			}
			if _, _, err := tr.Do(req); !errors.Is(err, errEmptyKey) || len(s.sent) != 0 {
				t.Errorf("%s, header %q: %v, sent %d times", method, header, err, len(s.sent))
			}
		}
	}
}

func TestMintedKeys(t *testing.T) {
	s := &script{steps: []step{{status: 503}, {status: 201}}}
	seen := map[string]bool{}
	for range 100 {
		s.sent = nil
		tr := newTransport(t, quick(func(c *Config) { c.Base = s }))
		_, out, err := tr.Do(post(t, "http://server/", "x"))
		id, parseErr := uuid.Parse(out.Key)
		if err != nil || parseErr != nil || id.Version() != 4 || seen[out.Key] || out.Attempts != 2 {
			t.Fatalf("%+v, %v, %v", out, err, parseErr)
		}
		seen[out.Key] = true
	}
}

// TestMethods: requests with other methods pass as they are, unless they bring a key.
func TestMethods(t *testing.T) {
	s := &script{steps: []step{{status: 503}, {status: 200}, {status: 503}, {status: 200}}}
	tr := newTransport(t, quick(func(c *Config) { c.Base = s }))
	get, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server/", nil)
	res, err := tr.RoundTrip(get)
	if err != nil || res.StatusCode != 503 || s.sent[0] != get {
		t.Errorf("a GET: %v, %v", res, err)
	}
	if _, ok := OutcomeOf(res); ok {
		t.Error("a GET has an outcome")
	}
	tr.RoundTrip(get)
	put, _ := http.NewRequestWithContext(WithKey(t.Context(), "k"), http.MethodPut, "http://server/", nil)
	if _, out, err := tr.Do(put); err != nil || out.Attempts != 2 || out.Key != "k" {
		t.Errorf("a PUT with a key: %+v, %v", out, err)
	}
}

// TestCallersRequest: the caller's request is not changed (F80), whatever a base does to what it is given.
func TestCallersRequest(t *testing.T) {
	tr := newTransport(t, quick(func(c *Config) {
		c.Base = roundTripper(func(req *http.Request) (*http.Response, error) {
			req.Header.Set("Authorization", "Bearer of the base")
			req.URL = nil
			io.Copy(io.Discard, req.Body)
			return &http.Response{StatusCode: 201, Body: http.NoBody}, nil
		})
	}))
	req := post(t, "http://server/payments?a=b", "x")
	before := req.Clone(req.Context())
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(req.Header, before.Header) || req.URL.String() != before.URL.String() || req.ContentLength != before.ContentLength {
		t.Errorf("changed: %v %v", req.Header, req.URL)
	}
	if out, ok := OutcomeOf(res); !ok || !out.Final {
		t.Errorf("%+v", out)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// watched is a body that can be read once, and says whether it was closed.
type watched struct {
	io.Reader
	closed int
}

func (w *watched) Close() error { w.closed++; return nil }

// TestBodies: each attempt sends the same bytes, or there is one attempt only; the body is closed.
func TestBodies(t *testing.T) {
	failing := io.MultiReader(strings.NewReader("half"), iotestErr{})
	for name, c := range map[string]struct {
		body     io.Reader
		text     string
		attempts int
		err      error
	}{
		"none":            {nil, "", 2, nil},
		"empty":           {strings.NewReader(""), "", 2, nil},
		"read once":       {strings.NewReader("12345"), "12345", 2, nil},
		"at the limit":    {strings.NewReader("1234567890"), "1234567890", 2, nil},
		"over the limit":  {strings.NewReader("12345678901"), "12345678901", 1, ErrBodyOnce},
		"cannot be read":  {failing, "", 0, errBroken},
		"endless, broken": {io.MultiReader(bytes.NewReader(make([]byte, 11)), iotestErr{}), string(make([]byte, 11)), 1, ErrBodyOnce},
	} {
		s := &script{steps: []step{{status: 503}, {status: 201}}}
		tr := newTransport(t, quick(func(c *Config) { c.Base, c.MaxBody = s, 10 }))
		req := post(t, "http://server/", "")
		var w *watched
		req.Body, req.GetBody = nil, nil
		if c.body != nil {
			w = &watched{Reader: c.body}
			req.Body, req.ContentLength = w, -1
		}
		_, out, err := tr.Do(req)
		if !errors.Is(err, c.err) || c.err == ErrBodyOnce && !errors.Is(err, ErrOutcomeUnknown) || out.Attempts != c.attempts || len(s.sent) != c.attempts {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		for i, text := range s.text {
			if text != c.text || c.attempts == 2 && s.sent[i].ContentLength != int64(len(text)) {
				t.Errorf("%s, attempt %d: %q, length %d", name, i+1, text, s.sent[i].ContentLength)
			}
		}
		if w != nil && w.closed == 0 {
			t.Errorf("%s: the body is not closed", name)
		}
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errBroken }

// TestCutBody: a body that ends too early is not sent as if it were whole.
func TestCutBody(t *testing.T) {
	s := &script{steps: []step{{status: 201}}}
	tr := newTransport(t, quick(func(c *Config) { c.Base = s }))
	req := post(t, "http://server/", "")
	req.Body, req.GetBody, req.ContentLength = io.NopCloser(strings.NewReader("half")), nil, 8
	if _, _, err := tr.Do(req); err == nil || len(s.sent) != 0 {
		t.Errorf("%v, sent %d times", err, len(s.sent))
	}
}

// TestGetBodyFails: what cannot be read again leaves an outcome that says so.
func TestGetBodyFails(t *testing.T) {
	s := &script{steps: []step{{status: 503}}}
	tr := newTransport(t, quick(func(c *Config) { c.Base = s }))
	req := post(t, "http://server/", "x")
	req.GetBody = func() (io.ReadCloser, error) { return nil, errBroken }
	if _, out, err := tr.Do(req); !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, errBroken) || out.Attempts != 1 {
		t.Errorf("%+v, %v", out, err)
	}
}

// redirecting starts a server that redirects by path, within its origin and to another, and tells of what both are sent.
func redirecting(t *testing.T) (keys chan string, url string) {
	keys = make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Method + " elsewhere " + r.Header.Get(idempotency.KeyHeader)
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/end", http.StatusFound)
		}
	}))
	t.Cleanup(other.Close)
	url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Method + " " + r.URL.Path + " " + r.Header.Get(idempotency.KeyHeader)
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/see":
			http.Redirect(w, r, other.URL, http.StatusSeeOther)
		}
	})
	return keys, url
}

// TestRedirects: a key stays with its origin. Within it the operation goes on under its key, to another one it does not go
// at all; what a client makes of a 303 goes there without the key.
func TestRedirects(t *testing.T) {
	keys, url := redirecting(t)
	client := http.Client{Transport: newTransport(t, quick())}
	for _, c := range []struct {
		path, key string
		want      []string
		err       error
	}{
		{"/moved", "", []string{"POST /moved KEY", "POST /end KEY"}, nil},
		{"/moved", "k", []string{"POST /moved KEY", "POST /end KEY"}, nil},
		{"/away", "", []string{"POST /away KEY"}, ErrOtherOrigin},
		{"/away", "k", []string{"POST /away KEY"}, ErrOtherOrigin},
		{"/see", "", []string{"POST /see KEY", "GET elsewhere ", "GET elsewhere "}, nil},
		{"/see", "k", []string{"POST /see KEY", "GET elsewhere ", "GET elsewhere "}, nil},
	} {
		for _, inContext := range []bool{false, true} {
			req := post(t, url+c.path, "x")
			switch {
			case c.key != "" && inContext:
				req = req.WithContext(WithKey(req.Context(), c.key))
			case c.key != "":
				req.Header.Set(idempotency.KeyHeader, c.key)
			}
			res, err := client.Do(req)
			if !errors.Is(err, c.err) {
				t.Errorf("%s: %v", c.path, err)
			}
			if err == nil {
				res.Body.Close()
			}
			key := ""
			for i, want := range c.want {
				got := <-keys
				if i == 0 {
					key = strings.Fields(got)[2]
				}
				if got != strings.ReplaceAll(want, "KEY", key) || c.key != "" && key != quote(c.key) {
					t.Errorf("%s, key %q: %q, want %q", c.path, c.key, got, want)
				}
			}
			if len(keys) != 0 {
				t.Fatalf("%s: more requests: %s", c.path, <-keys)
			}
		}
	}
}

func TestSameOrigin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"http://a/x", "http://a/y", true}, {"http://a/", "http://a:80/", true}, {"https://a:443/", "https://a/", true},
		{"http://a/", "https://a/", false}, {"http://a/", "http://b/", false}, {"http://a:81/", "http://a/", false}, {"http://a/", "http://a.b/", false},
		{"http://[::1]/", "http://[::1]:80/", true}, {"http://A/", "http://a/", true},
	} {
		a, _ := http.NewRequest("POST", c.a, nil)
		b, _ := http.NewRequest("POST", c.b, nil)
		if sameOrigin(a, b) != c.same {
			t.Errorf("%s and %s", c.a, c.b)
		}
	}
}

// TestResends: net/http sends again by itself where a kept connection is dead; it is counted, and the key is the same.
func TestResends(t *testing.T) {
	var n atomic.Int32
	var keys sync.Map
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			return // leaves the connection open for the next
		}
		keys.Store(r.Header.Get(idempotency.KeyHeader), true)
		if n.Load() == 2 {
			panic(http.ErrAbortHandler)
		}
	})
	var traced atomic.Int32
	var attempts []Attempt
	tr := newTransport(t, quick(func(c *Config) { c.OnAttempt = func(a Attempt) { attempts = append(attempts, a) } }))
	for i := range 2 {
		req := post(t, url, "x")
		ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { traced.Add(1) }})
		_, out, err := tr.Do(req.WithContext(ctx))
		if err != nil || out.Attempts != 1 || out.Resends != i {
			t.Errorf("operation %d: %+v, %v", i, out, err)
		}
	}
	distinct := 0
	keys.Range(func(any, any) bool { distinct++; return true })
	if n.Load() != 3 || distinct != 1 || traced.Load() != 3 || len(attempts) != 2 || attempts[1].Resends != 1 {
		t.Errorf("%d requests, %d keys, %d connections told to the caller's trace, %+v", n.Load(), distinct, traced.Load(), attempts)
	}
}

// TestResentThenRefused: what net/http had sent before, on the dead connection, may have had its effect, whatever the
// answer to the second sending says about that one.
func TestResentThenRefused(t *testing.T) {
	for _, status := range []int{401, 429} {
		var n atomic.Int32
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch n.Add(1) {
			case 1: // leaves the connection open for the next
			case 2:
				panic(http.ErrAbortHandler) // after its effect
			default:
				w.WriteHeader(status)
			}
		})
		tr := newTransport(t, quick(func(c *Config) { c.MaxAttempts = 1 }))
		if _, _, err := tr.Do(post(t, url, "first")); err != nil {
			t.Fatal(err)
		}
		if _, out, err := tr.Do(post(t, url, "x")); !errors.Is(err, ErrOutcomeUnknown) || out.Resends != 1 || out.Status != status {
			t.Errorf("%d: %+v, %v", status, out, err)
		}
	}
}

// TestTLS: HTTP/2 counts no resends where there are none, and a certificate that nobody trusts is final at once.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that fails
	s.StartTLS()
	defer s.Close()
	tr := newTransport(t, quick(func(c *Config) { c.Base = s.Client().Transport }))
	for range 3 {
		res, out, err := tr.Do(post(t, s.URL, "x"))
		if err != nil || out.Resends != 0 || res.ProtoMajor != 2 {
			t.Fatalf("%+v, %v", out, err)
		}
		res.Body.Close()
	}
	_, out, err := newTransport(t, quick()).Do(post(t, s.URL, "x"))
	var untrusted *tls.CertificateVerificationError
	if !errors.Is(err, ErrNotDone) || !errors.As(err, &untrusted) || out.Attempts != 1 {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestBadBases: a request without a URL, and an answer without a body.
func TestBadBases(t *testing.T) {
	tr := newTransport(t, quick(func(c *Config) {
		c.Base = roundTripper(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 204}, nil })
	}))
	if res, err := tr.RoundTrip(post(t, "http://server/", "x")); err != nil || res.Body == nil {
		t.Errorf("%v, %v", res, err)
	}
	if _, err := tr.RoundTrip(&http.Request{Method: http.MethodPost}); err == nil {
		t.Error("sent without a URL")
	}
}
