package httpserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"firstwriter/idempotency"
)

// TestOnce: of many copies at once, one runs (F01, F74).
func TestOnce(t *testing.T) {
	var runs atomic.Int32
	s := serve(t, newGuard(t, func(c *idempotency.Config) { c.Wait = 20 * time.Second }), Options{}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "run %d", runs.Add(1))
	})
	var wg sync.WaitGroup
	var first atomic.Int32
	for range 20 {
		wg.Go(func() {
			r, err := try(t, s, "/payments", "k1", `{}`)
			if err != nil || r.status != http.StatusOK || r.body != "run 1" {
				t.Errorf("%d %s, %v", r.status, r.body, err)
			}
			if !r.replayed() {
				first.Add(1)
			}
		})
	}
	wg.Wait()
	if runs.Load() != 1 || first.Load() != 1 {
		t.Errorf("%d runs, %d first answers", runs.Load(), first.Load())
	}
}

// TestUntouched: requests with other methods reach the handler with nothing between it and the connection.
func TestUntouched(t *testing.T) {
	s := serve(t, newGuard(t, nil), Options{Caller: func(*http.Request) idempotency.Caller {
		t.Error("the caller of a GET is asked for")
		return idempotency.Caller{}
	}}, func(w http.ResponseWriter, r *http.Request) {
		if _, captured := w.(*capture); captured || idempotency.AttemptFrom(r.Context()) != nil {
			t.Error("a GET is guarded")
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhijacked")
	})
	r, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); string(b) != "hijacked" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// TestMethodSpellings: a pattern that names no method serves "post" too, and so the guard guards it.
func TestMethodSpellings(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/payments", Middleware(newGuard(t, nil), Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if idempotency.AttemptFrom(r.Context()) == nil {
			t.Errorf("%s runs unguarded", r.Method)
		}
	})))
	s := start(t, mux)
	for _, method := range []string{"POST", "post", "Patch"} {
		for key, status := range map[string]int{"": http.StatusBadRequest, method: http.StatusOK} {
			r, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/payments", nil)
			if err != nil {
				t.Fatal(err)
			}
			if key != "" {
				r.Header.Set("Idempotency-Key", key)
			}
			got, err := s.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			got.Body.Close()
			if got.StatusCode != status {
				t.Errorf("%s with key %q: %d, want %d", method, key, got.StatusCode, status)
			}
		}
	}
}

// TestNoConnection: a guarded handler cannot reach the connection.
func TestNoConnection(t *testing.T) {
	s := serve(t, newGuard(t, nil), Options{}, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if _, _, err := w.(http.Hijacker).Hijack(); err != http.ErrNotSupported {
			t.Errorf("Hijack: %v", err)
		}
		if _, _, err := control.Hijack(); err != http.ErrNotSupported {
			t.Errorf("Hijack by the controller: %v", err)
		}
		if err := control.SetWriteDeadline(time.Now()); err == nil {
			t.Error("the write deadline of the connection can be set")
		}
		if _, leaks := w.(interface{ Unwrap() http.ResponseWriter }); leaks {
			t.Error("the writer underneath can be reached")
		}
	})
	if r := post(t, s, "/payments", "k1", `{}`); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestPanics: nothing is sent, the claim is orphaned, and the policy decides for the next attempt (F25).
func TestPanics(t *testing.T) {
	for _, c := range []struct {
		name   string
		panics any
		policy idempotency.OrphanPolicy
		status int
		code   string
	}{
		{"a bug", "boom", idempotency.Rerun, 200, ""},
		{"an abort", http.ErrAbortHandler, idempotency.Rerun, 200, ""},
		{"an abort that is not to be repeated", http.ErrAbortHandler, idempotency.Refuse, 409, "outcome-unknown"},
	} {
		first := true
		s := serve(t, newGuard(t, func(g *idempotency.Config) { g.Orphans = c.policy }), Options{}, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "half of it")
			if first {
				first = false
				panic(c.panics)
			}
		})
		if r, err := try(t, s, "/payments", "k1", `{}`); err == nil {
			t.Errorf("%s: answered %d %s", c.name, r.status, r.body)
		}
		if r := post(t, s, "/payments", "k1", `{}`); r.status != c.status || r.code() != c.code || r.replayed() {
			t.Errorf("%s, next: %d %s", c.name, r.status, r.body)
		}
	}
}

// TestDisconnect: a client that goes away does not stop the handler, and its retry gets the response.
func TestDisconnect(t *testing.T) {
	begun, gone := make(chan struct{}), make(chan struct{})
	leftOnce := sync.OnceFunc(func() { close(gone) }) // the end of the retry is noticed too, if it overtakes this
	var handlerErr error
	s := serve(t, newGuard(t, func(c *idempotency.Config) { c.Wait = 20 * time.Second }), Options{}, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-gone
		handlerErr = r.Context().Err()
		io.WriteString(w, "charged")
	})
	server := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-gone:
		default:
			context.AfterFunc(r.Context(), leftOnce) // the server has noticed
		}
		server.ServeHTTP(w, r)
	})
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/payments", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", "k1")
	r.Header.Set("Content-Type", "application/json")
	go func() { <-begun; leave() }()
	if got, err := s.Client().Do(r); err == nil {
		got.Body.Close()
		t.Fatal("the client has not gone away")
	}
	if r := post(t, s, "/payments", "k1", `{}`); r.status != http.StatusOK || r.body != "charged" || !r.replayed() {
		t.Errorf("the retry: %d %s", r.status, r.body)
	}
	if handlerErr != nil {
		t.Errorf("the handler's context: %v", handlerErr)
	}
}

// TestContexts: the handler's context ends with the lease, or with a deadline that a middleware has set, and carries the
// attempt and the values of the request's.
func TestContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, func(c *idempotency.Config) { c.Lease = 9 * time.Second })
		type key struct{}
		for _, c := range []struct {
			name   string
			limit  time.Duration // 0: none
			within time.Duration
		}{{"the lease", 0, 9 * time.Second}, {"a deadline", 3 * time.Second, 3 * time.Second}} {
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
			if c.limit > 0 {
				ctx, cancel = context.WithTimeout(ctx, c.limit)
			}
			start := time.Now()
			h := Middleware(g, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				cancel()
				if r.Context().Err() != nil || r.Context().Value(key{}) != "value" || idempotency.AttemptFrom(r.Context()) == nil {
					t.Errorf("%s: the context is not that of the attempt", c.name)
				}
				<-r.Context().Done()
			}))
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(ctx, "POST", "/payments", nil)
			r.Header.Set("Idempotency-Key", fmt.Sprint(c.limit))
			h.ServeHTTP(w, r)
			if took := time.Since(start); took < c.within/2 || took >= c.within || w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: %d after %s", c.name, w.Code, took)
			}
		}
	})
}

func TestOptions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a negative limit is taken")
		}
	}()
	Middleware(newGuard(t, nil), Options{MaxResponse: -1})
}
