package httpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"firstwriter/idempotency"
)

// TestLargeResponses: a response over the limit goes to the first caller whole; what becomes of its claim is decided on
// it, and where it would have been recorded, later requests learn that it was not (F31).
func TestLargeResponses(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int
		status int
		decide idempotency.Disposition
		next   int
		code   string
		runs   int
	}{
		{"at the limit", 1000, 201, 0, 201, "", 1},
		{"over it", 1001, 201, 0, 409, "response-not-stored", 1},
		{"far over it", 3 << 20, 201, 0, 409, "response-not-stored", 1},
		{"a failure", 1001, 500, 0, 500, "", 2},
		{"a failure that is kept", 1001, 500, idempotency.Keep, 409, "response-not-stored", 1},
		{"let go", 1001, 201, idempotency.LetGo, 201, "", 2},
		{"in doubt", 1001, 201, idempotency.Doubt, 409, "outcome-unknown", 1},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		runs := 0
		s := serve(t, newGuard(t, func(g *idempotency.Config) { g.Orphans = idempotency.Refuse }), Options{MaxResponse: 1000}, func(w http.ResponseWriter, r *http.Request) {
			runs++
			if c.decide != 0 {
				idempotency.AttemptFrom(r.Context()).Decide(c.decide)
			}
			w.Header().Set("Location", "/payments/1")
			w.Header().Set("Idempotent-Replayed", "true") // of a service behind this one
			w.WriteHeader(c.status)
			for rest := c.size; rest > 0; rest -= 300 {
				io.WriteString(w, strings.Repeat("x", min(rest, 300)))
			}
		})
		first := post(t, s, "/payments", "k1", `{}`)
		if first.status != c.status || first.body != strings.Repeat("x", c.size) || first.replayed() ||
			first.header.Get("Location") != "/payments/1" || first.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s, first: %d, %d bytes, %v", c.name, first.status, len(first.body), first.header)
		}
		next := post(t, s, "/payments", "k1", `{}`)
		if next.status != c.next || next.code() != c.code || runs != c.runs {
			t.Errorf("%s, next: %d %.200s, %d runs", c.name, next.status, next.body, runs)
		}
		left, err := os.ReadDir(os.TempDir())
		if err != nil || len(left) != 0 {
			t.Errorf("%s: temporary files left: %v, %v", c.name, left, err)
		}
	}
}

// TestLargeLength: the length of a large response is told, so that a client notices if the connection breaks.
func TestLargeLength(t *testing.T) {
	s := serve(t, newGuard(t, nil), Options{MaxResponse: 10}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 5000))
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", "k1")
	got, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.ContentLength != 5000 {
		t.Errorf("content length %d", got.ContentLength)
	}
}

// TestLargeUnguarded: without a key, where it is optional, there is no record to speak of.
func TestLargeUnguarded(t *testing.T) {
	s := serve(t, newGuard(t, func(c *idempotency.Config) { c.OptionalKey = true }), Options{MaxResponse: 10}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Idempotent-Replayed", "true") // of a service behind this one
		io.WriteString(w, strings.Repeat("x", 5000))
	})
	for range 2 {
		if r := post(t, s, "/payments", "", `{}`); r.status != http.StatusOK || len(r.body) != 5000 {
			t.Errorf("%d, %d bytes", r.status, len(r.body))
		}
	}
}

// TestNoRoom: a response that could be kept nowhere is no response, and nobody knows what the run did.
func TestNoRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	s := serve(t, newGuard(t, func(g *idempotency.Config) { g.Orphans = idempotency.Refuse }), Options{MaxResponse: 10}, func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			if n, err := w.Write([]byte("12345678")); (n == 8) != (err == nil) {
				t.Errorf("%d written, %v", n, err)
			}
		}
	})
	if r := post(t, s, "/payments", "k1", `{}`); r.status != http.StatusInternalServerError || r.code() != "handler-failed" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := post(t, s, "/payments", "k1", `{}`); r.code() != "outcome-unknown" {
		t.Errorf("next: %d %s", r.status, r.body)
	}
}

// lossy is a store that tells less than it does.
type lossy struct {
	idempotency.Store
	complete func(context.Context, idempotency.Completion) error
}

func (l *lossy) Complete(ctx context.Context, w idempotency.Completion) error {
	return l.complete(ctx, w)
}

// TestLargeAndLost: the first caller gets a large response also where its completion is acknowledged late or never, and
// not where the run was fenced (F09, F10, F11).
func TestLargeAndLost(t *testing.T) {
	for _, c := range []struct {
		name     string
		complete func(context.Context, idempotency.Store, idempotency.Completion) error
		status   int
		code     string
	}{
		{"acknowledgement lost, then refused", func(ctx context.Context, s idempotency.Store, w idempotency.Completion) error {
			if err := s.Complete(ctx, w); err != nil {
				return err
			}
			return s.Complete(ctx, w) // as the client of the store does by itself
		}, 201, ""},
		{"not recorded", func(context.Context, idempotency.Store, idempotency.Completion) error {
			return errors.New("store is down")
		}, 201, ""},
		{"fenced by another run's large response", func(ctx context.Context, s idempotency.Store, w idempotency.Completion) error {
			seen, err := s.Get(ctx, w.Held.ID)
			if err != nil {
				return err
			}
			theirs := idempotency.Takeover{Seen: seen, Owner: "another", Epoch: seen.Epoch + 1, LeaseUntil: seen.LeaseUntil}
			if err := s.Takeover(ctx, theirs); err != nil {
				return err
			}
			held := *seen
			held.Owner = "another"
			if err := s.Complete(ctx, idempotency.Completion{Held: &held, Response: w.Response, CompletedAt: w.CompletedAt, ExpiresAt: w.ExpiresAt}); err != nil {
				return err
			}
			return s.Complete(ctx, w)
		}, 409, "response-not-stored"},
	} {
		memory := &idempotency.Memory{}
		store := &lossy{memory, func(ctx context.Context, w idempotency.Completion) error { return c.complete(ctx, memory, w) }}
		s := serve(t, newGuard(t, func(g *idempotency.Config) { g.Store = store }), Options{MaxResponse: 10}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, strings.Repeat("x", 5000))
		})
		r := post(t, s, "/payments", "k1", `{}`)
		if r.status != c.status || r.code() != c.code || c.status == 201 && len(r.body) != 5000 {
			t.Errorf("%s: %d %.100s", c.name, r.status, r.body)
		}
	}
}

// TestSpool: at every size around the limit, what comes out is what went in.
func TestSpool(t *testing.T) {
	for limit := range 4 {
		for size := range 8 {
			for piece := 1; piece < 5; piece++ {
				s := spool{limit: limit}
				want := "abcdefgh"[:size]
				for rest := want; rest != ""; rest = rest[min(piece, len(rest)):] {
					if n, err := s.Write([]byte(rest[:min(piece, len(rest))])); n != min(piece, len(rest)) || err != nil {
						t.Fatalf("%d, %v", n, err)
					}
				}
				var got strings.Builder
				if err := s.copyTo(&got); err != nil || got.String() != want || s.size != int64(size) || (s.tail != nil) != (size > limit) {
					t.Errorf("limit %d, %d bytes by %d: %q, %v", limit, size, piece, got.String(), err)
				}
				s.remove()
			}
		}
	}
}
