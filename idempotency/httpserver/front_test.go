package httpserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"firstwriter/idempotency"
)

// fronts are middlewares in front of the guard, by what they do to a body; form, json and so on say whether a request with
// such a body is served then, or refused.
var fronts = []struct {
	name                                 string
	front                                func(*http.Request)
	form, json, chunkedForm, chunkedJSON bool
}{
	{"nothing", func(*http.Request) {}, true, true, true, true},
	{"FormValue", func(r *http.Request) { r.FormValue("_method") }, false, true, false, true},
	{"ParseForm", func(r *http.Request) { _ = r.ParseForm() }, false, true, false, true},
	{"ParseMultipartForm", func(r *http.Request) { _ = r.ParseMultipartForm(1 << 10) }, false, true, false, true},
	{"a form, handed on", func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		_ = r.ParseForm()
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	}, true, true, true, true},
	{"all of it, handed on", func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
	}, true, true, true, true},
	{"one byte of it", func(r *http.Request) { _, _ = r.Body.Read(make([]byte, 1)) }, false, false, true, true}, // not told where chunked
	{"all of it and closed", func(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); r.Body.Close() }, false, false, false, false},
	{"closed", func(r *http.Request) { r.Body.Close() }, false, false, false, false},
	{"NoBody", func(r *http.Request) { r.Body = http.NoBody }, false, false, true, true}, // not told where chunked
	{"nil", func(r *http.Request) { r.Body = nil }, false, false, true, true},            // not told where chunked
	{"made longer", func(r *http.Request) {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(r.Body, strings.NewReader("&b=1")), r.Body}
	}, true, true, true, true},
	{"made shorter", func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("x")) }, false, false, true, true},
	{"made shorter, and its length told", func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), 1 }, true, true, true, true},
	{"made shorter, and its length unknown", func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), -1 }, true, true, true, true},
}

// TestReadInFront: where something in front has read a body, one request cannot be told from another: it is refused, never
// run or answered with another's response, and the operator is told what to do (F36).
func TestReadInFront(t *testing.T) {
	for _, c := range fronts {
		for _, way := range []struct {
			name, contentType, body string
			chunked, served         bool
		}{
			{"form", "application/x-www-form-urlencoded", "amount=10", false, c.form},
			{"form by another spelling", "Application/X-WWW-Form-Urlencoded ; Charset=utf-8", "amount=10", false, c.form},
			{"chunked form", "application/x-www-form-urlencoded", "amount=10", true, c.chunkedForm},
			{"json", "application/json", `{"amount":10}`, false, c.json},
			{"chunked json", "application/json", `{"amount":10}`, true, c.chunkedJSON},
		} {
			var log bytes.Buffer
			var outcome idempotency.Outcome
			g := newGuard(t, func(g *idempotency.Config) {
				g.Logger = slog.New(slog.NewTextHandler(&log, nil))
				g.Observe = func(_ context.Context, e idempotency.Event) { outcome = e.Outcome }
			})
			guarded, ran := Middleware(g, Options{})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})), false
			s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { ran = true; c.front(r); guarded.ServeHTTP(w, r) }))
			r := sendAs(t, s.URL, way.contentType, way.body, way.chunked)
			want, wantOutcome := 200, idempotency.OutcomeFirst
			if !way.served {
				want, wantOutcome = 500, idempotency.OutcomeRejected
			}
			if !ran || r.status != want || outcome != wantOutcome || !way.served && r.code() != "body-consumed" {
				t.Errorf("%s, %s: %d %s, outcome %s", c.name, way.name, r.status, r.body, outcome)
			}
			if told := strings.Contains(log.String(), "r.ContentLength"); told == way.served {
				t.Errorf("%s, %s: the log says %s", c.name, way.name, &log)
			}
		}
	}
}

// sendAs sends a request with the key k1.
func sendAs(t *testing.T, url, contentType, body string, chunked bool) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	if !chunked {
		r.ContentLength = int64(len(body))
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Idempotency-Key", "k1")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{got.StatusCode, got.Header, string(b)}
}

// TestMultipartReadInFront: what a parser of forms leaves behind the last part is not the body.
func TestMultipartReadInFront(t *testing.T) {
	for _, chunked := range []bool{false, true} {
		for name, front := range map[string]func(*http.Request){
			"FormValue":       func(r *http.Request) { r.FormValue("amount") },
			"MultipartReader": func(r *http.Request) { m, _ := r.MultipartReader(); _, _ = m.NextPart() },
		} {
			guarded := Middleware(newGuard(t, nil), Options{})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it runs") }))
			s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { front(r); guarded.ServeHTTP(w, r) }))
			var body strings.Builder
			m := multipart.NewWriter(&body)
			_ = m.WriteField("amount", "10")
			_ = m.Close()
			fmt.Fprint(&body, strings.Repeat("\r\nan epilogue", 10_000))
			if r := sendAs(t, s.URL, m.FormDataContentType(), body.String(), chunked); r.code() != "body-consumed" {
				t.Errorf("%s, chunked %t: %d %s", name, chunked, r.status, r.body)
			}
		}
	}
}

// TestReadInFrontUnguarded: without a key, where it is optional, the handler gets the form that was read.
func TestReadInFrontUnguarded(t *testing.T) {
	guarded := Middleware(newGuard(t, func(c *idempotency.Config) { c.OptionalKey = true }), Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s, %q, %v", r.FormValue("amount"), rest, err)
	}))
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { r.FormValue("_method"); guarded.ServeHTTP(w, r) }))
	got, err := http.Post(s.URL, "application/x-www-form-urlencoded", strings.NewReader("amount=10"))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if b, err := io.ReadAll(got.Body); string(b) != `10, "", <nil>` || err != nil {
		t.Errorf("%d %s, %v", got.StatusCode, b, err)
	}
}
