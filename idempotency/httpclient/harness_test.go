package httpclient

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// quick are limits for tests that talk to a server on this machine.
func quick(change ...func(*Config)) Config {
	c := Config{MinBackoff: time.Microsecond, MaxBackoff: time.Millisecond, MaxRetryAfter: time.Millisecond, Base: &http.Transport{}}
	for _, f := range change {
		f(&c)
	}
	return c
}

// newTransport makes a transport whose connections end with the test.
func newTransport(t testing.TB, c Config) *Transport {
	t.Helper()
	tr, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// serve starts a server.
func serve(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// post makes the request of an operation.
func post(t testing.TB, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// script is a base that answers as it was told, one step for each attempt; the last step stays.
type script struct {
	steps []step
	sent  []*http.Request
	text  []string // of the sent bodies
}

type step struct {
	status int
	header string // "Name: value", several by "; "
	body   string
	err    error
	hangs  bool // until the request's context ends
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	now := s.steps[min(len(s.sent), len(s.steps)-1)]
	text := []byte(nil)
	if req.Body != nil {
		text, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}
	s.sent, s.text = append(s.sent, req), append(s.text, string(text))
	if now.hangs {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if now.err != nil {
		return nil, now.err
	}
	h := http.Header{}
	for line := range strings.SplitSeq(now.header, "; ") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			h.Add(name, value)
		}
	}
	return &http.Response{StatusCode: now.status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(now.body))}, nil
}

// problemStep is an answer with a problem document.
func problemStep(status int, body string) step {
	return step{status: status, header: "Content-Type: application/problem+json", body: body}
}
