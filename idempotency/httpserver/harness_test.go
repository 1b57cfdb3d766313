package httpserver

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"firstwriter/idempotency"
)

// newGuard makes a guard on a memory store, with one scope for all callers unless change says otherwise.
func newGuard(t *testing.T, change func(*idempotency.Config)) *idempotency.Guard {
	t.Helper()
	c := idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.SharedScope, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&c)
	}
	g, err := idempotency.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// serve starts a server of a guarded handler.
func serve(t *testing.T, g *idempotency.Guard, o Options, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	return start(t, Middleware(g, o)(h))
}

func start(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // panics are a test's own
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// reply is a response as the client gets it.
type reply struct {
	status int
	header http.Header // without what the connection brings
	body   string
}

// post sends a request with a key.
func post(t *testing.T, s *httptest.Server, path, key, body string) reply {
	t.Helper()
	r, err := try(t, s, path, key, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// try is post for requests that may have no answer.
func try(t *testing.T, s *httptest.Server, path, key, body string) (reply, error) {
	t.Helper()
	once := io.NopCloser(strings.NewReader(body)) // net/http cannot rewind it, and so does not send it again by itself
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, once)
	if err != nil {
		return reply{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	got, err := s.Client().Do(r)
	if err != nil {
		return reply{}, err
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		return reply{}, err
	}
	got.Header.Del("Date")
	got.Header.Del("Content-Length")
	return reply{got.StatusCode, got.Header, string(b)}, nil
}

// code is that of a problem document.
func (r reply) code() string {
	var doc struct{ Code string }
	_ = json.Unmarshal([]byte(r.body), &doc) // another body has no code
	return doc.Code
}

func (r reply) replayed() bool { return r.header.Get("Idempotent-Replayed") == "true" }
