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

	"github.com/google/go-cmp/cmp"

	"firstwriter/idempotency"
)

// handlers write in all the ways there are.
var handlers = []struct {
	name  string
	write http.HandlerFunc
}{
	{"nothing", func(http.ResponseWriter, *http.Request) {}},
	{"text", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }},
	{"status and headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Location", "/payments/1")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"id":1}`)
	}},
	{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
	{"a body that is not allowed", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		if _, err := io.WriteString(w, "x"); err != http.ErrBodyNotAllowed {
			panic(err)
		}
	}},
	{"not modified, the length that it would have", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(http.StatusNotModified)
	}},
	{"binary, its type guessed", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("\x89PNG\x0D\x0A\x1A\x0A\x00\xff")) }},
	{"no type wanted", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		io.WriteString(w, "<html>")
	}},
	{"encoded, its type not guessed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		io.WriteString(w, "\x0b\x02\x80hello\x03")
	}},
	{"several values", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Link", "</a>; rel=a")
		w.Header().Add("Link", "</b>; rel=b")
		w.Header().Add("Set-Cookie", "a=1; Path=/")
		w.Header().Add("Set-Cookie", "b=2")
	}},
	{"headers after the status", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		w.Header().Set("X-Late", "1")
		w.WriteHeader(http.StatusTeapot)
	}},
	{"a length", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		io.WriteString(w, "hello")
	}},
	{"flushed halves", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			panic(err)
		}
		io.WriteString(w, "data: 2\n\n")
	}},
	{"an error", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusPaymentRequired) }},
}

// TestReplies: the first reply is what the handler wrote, as net/http would send it, and the second is the same without
// its cookies and with the replay header (F46, F48).
func TestReplies(t *testing.T) {
	for _, c := range handlers {
		bare, guarded := start(t, c.write), serve(t, newGuard(t, nil), Options{}, c.write)
		want := post(t, bare, "/payments", "k1", `{}`)
		if diff := cmp.Diff(want, post(t, guarded, "/payments", "k1", `{}`), compareReplies); diff != "" {
			t.Errorf("%s, first: %s", c.name, diff)
		}
		want.header.Del("Set-Cookie")
		want.header.Set("Idempotent-Replayed", "true")
		if diff := cmp.Diff(want, post(t, guarded, "/payments", "k1", `{}`), compareReplies); diff != "" {
			t.Errorf("%s, second: %s", c.name, diff)
		}
	}
}

var compareReplies = cmp.AllowUnexported(reply{})

// TestSend: an answer leaves with its length, where it can have a body, and without a type that nobody has given.
func TestSend(t *testing.T) {
	for _, c := range []struct {
		answer idempotency.Response
		want   http.Header
	}{
		{idempotency.Response{Status: 200, Body: []byte("<html>")}, http.Header{"Content-Type": nil, "Content-Length": {"6"}}},
		{idempotency.Response{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}}, http.Header{"Content-Type": {"text/html"}, "Content-Length": {"0"}}},
		{idempotency.Response{Status: 204}, http.Header{"Content-Type": nil}},
		{idempotency.Response{Status: 304}, http.Header{"Content-Type": nil}},
	} {
		w := httptest.NewRecorder()
		send(w, &c.answer)
		if diff := cmp.Diff(c.want, w.Header()); diff != "" || w.Code != c.answer.Status || w.Body.String() != string(c.answer.Body) {
			t.Errorf("%+v: %d %s %s", c.answer, w.Code, w.Body, diff)
		}
	}
}

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

// TestInformational: nothing leaves before the outcome is recorded, and trailers do not leave at all.
func TestInformational(t *testing.T) {
	h := Middleware(newGuard(t, nil), Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set(http.TrailerPrefix+"X-Other", "1")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "x")
		w.Header().Set("X-Sum", "1")
	}))
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/payments", nil)
	r.Header.Set("Idempotency-Key", "k0")
	h.ServeHTTP(w, r)
	if diff := cmp.Diff(http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Content-Length": {"1"}}, w.Header()); diff != "" || w.Code != 201 {
		t.Errorf("written: %d %s", w.Code, diff)
	}
	s := start(t, h)
	for range 2 {
		r := post(t, s, "/payments", "k1", `{}`)
		r.header.Del("Idempotent-Replayed")
		if diff := cmp.Diff(reply{201, http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, "x"}, r, compareReplies); diff != "" {
			t.Error(diff)
		}
	}
}

// TestOuterHeaders: what middlewares in front set is sent each time as they set it, and not recorded.
func TestOuterHeaders(t *testing.T) {
	n := 0
	guarded := Middleware(newGuard(t, nil), Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Run", w.Header().Get("X-Request"))
	}))
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		w.Header().Set("X-Request", fmt.Sprint(n))
		w.Header().Set("Vary", "Origin")
		w.Header().Set("Cache-Control", "no-cache")
		guarded.ServeHTTP(w, r)
	}))
	want := http.Header{"X-Request": {"1"}, "X-Run": {"1"}, "Vary": {"Origin", "Accept"}, "Cache-Control": {"no-store"}}
	if diff := cmp.Diff(want, post(t, s, "/payments", "k1", `{}`).header); diff != "" {
		t.Errorf("first: %s", diff)
	}
	want["X-Request"], want["Idempotent-Replayed"] = []string{"2"}, []string{"true"}
	if diff := cmp.Diff(want, post(t, s, "/payments", "k1", `{}`).header); diff != "" {
		t.Errorf("second: %s", diff)
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

// TestBadWrites: what is not a whole response is not recorded as one.
func TestBadWrites(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(http.ResponseWriter)
	}{
		{"too short", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "6"); io.WriteString(w, "hello") }},
		{"too long", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "4"); io.WriteString(w, "hello") }},
		{"no length", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "many"); io.WriteString(w, "hello") }},
	} {
		s := serve(t, newGuard(t, func(g *idempotency.Config) { g.Orphans = idempotency.Refuse }), Options{},
			func(w http.ResponseWriter, r *http.Request) { c.write(w) })
		if r := post(t, s, "/payments", "k1", `{}`); r.status != http.StatusInternalServerError || r.code() != "handler-failed" {
			t.Errorf("%s: %d %s", c.name, r.status, r.body)
		}
		if r := post(t, s, "/payments", "k1", `{}`); r.code() != "outcome-unknown" {
			t.Errorf("%s, next: %d %s", c.name, r.status, r.body)
		}
	}
	s := serve(t, newGuard(t, nil), Options{}, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(99) })
	if r, err := try(t, s, "/payments", "k1", `{}`); err == nil {
		t.Errorf("an impossible status is answered %d", r.status)
	}
}

// TestDisconnect: a client that goes away does not stop the handler, and its retry gets the response.
func TestDisconnect(t *testing.T) {
	begun, gone := make(chan struct{}), make(chan struct{})
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
			context.AfterFunc(r.Context(), func() { close(gone) }) // the server has noticed
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
