package httpserver

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

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

// TestOuterHeadersDeleted: what the handler deletes of them does not go out, as without the guard, whenever it is told.
func TestOuterHeadersDeleted(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Del("X-Frame-Options")
		w.Header().Del("Content-Type")
		w.Header()["X-Nil"] = nil
		w.Header()["X-Empty"] = []string{}
		w.Header().Set("Idempotent-Replayed", "true") // of a service behind this one
		w.Header().Set("Vary", "Origin")
		io.WriteString(w, "hello")
	})
	front := func(h http.Handler) *httptest.Server {
		return start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, v := range map[string]string{"X-Frame-Options": "DENY", "Content-Type": "text/html", "X-Nil": "1", "X-Empty": "1", "X-Kept": "1"} {
				w.Header().Set(name, v)
			}
			h.ServeHTTP(w, r)
		}))
	}
	want := post(t, front(h), "/payments", "k1", `{}`)
	want.header.Del("Idempotent-Replayed")
	s := front(Middleware(newGuard(t, nil), Options{})(h))
	for _, when := range []string{"first", "replay"} {
		if diff := cmp.Diff(want, post(t, s, "/payments", "k1", `{}`), compareReplies); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
		want.header.Set("Idempotent-Replayed", "true")
	}
}

// TestReplayHeaderInFront: the replay header is the guard's to set, also where a middleware in front has set it.
func TestReplayHeaderInFront(t *testing.T) {
	guarded := Middleware(newGuard(t, nil), Options{})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Idempotent-Replayed", "true")
		guarded.ServeHTTP(w, r)
	}))
	for i, key := range []string{"k1", "k1", "k k"} {
		if r := post(t, s, "/payments", key, `{}`); r.replayed() != (i == 1) {
			t.Errorf("answer %d: %d %v", i, r.status, r.header)
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
