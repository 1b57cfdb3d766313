package idempotency

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// TestWithhold: a response that is withheld reaches the first caller only. What becomes of its claim is decided on it.
func TestWithhold(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		decide Disposition // by the handler
		runs   int
		next   int
		code   string
	}{
		{"kept", 200, 0, 1, http.StatusConflict, "response-not-stored"},
		{"recorded refusal", 402, 0, 1, http.StatusConflict, "response-not-stored"},
		{"released", 500, 0, 2, 500, ""},
		{"the handler keeps it", 500, Keep, 1, http.StatusConflict, "response-not-stored"},
		{"the handler lets go", 200, LetGo, 2, 200, ""},
		{"the handler is in doubt", 200, Doubt, 1, http.StatusConflict, "outcome-unknown"},
	} {
		x := newTrial(t, func(g *Config) { g.Orphans = Refuse })
		run := func(ctx context.Context) (*Response, error) {
			x.runs++
			attempt := AttemptFrom(ctx)
			attempt.Withhold()
			if c.decide != 0 {
				attempt.Decide(c.decide)
			}
			return &Response{Status: c.status, Body: []byte("card 4111")}, nil
		}
		first := x.guard.Serve(t.Context(), post("k1", `{}`), run)
		if first.Status != c.status || string(first.Body) != "card 4111" || x.events[0].Status != c.status {
			t.Errorf("%s, first: %d %s, event %+v", c.name, first.Status, first.Body, x.events[0])
		}
		x.want(c.name+", next", x.guard.Serve(t.Context(), post("k1", `{}`), run), c.next, c.code)
		if x.runs != c.runs {
			t.Errorf("%s: %d runs, want %d", c.name, x.runs, c.runs)
		}
	}
}

// TestWithholdLost: the first caller gets the response also where its completion's acknowledgement is lost; but where
// another answer of the handler's was recorded, it gets that (F09, F99).
func TestWithholdLost(t *testing.T) {
	refusal := &BusinessError{Answer: &Response{Status: 409, Body: []byte("sold out")}, Reason: "stock"}
	for _, c := range []struct {
		name   string
		second bool // the first completion did not land, and the handler has another answer to that
		body   string
	}{{"landed", false, "card 4111"}, {"another answer landed", true, "sold out"}} {
		memory := &Memory{}
		x := newTrial(t, func(g *Config) {
			g.Store = &completing{memory, func(ctx context.Context, w Completion) error {
				if c.second && len(w.Enlisted) > 0 {
					return refusal
				}
				return errors.Join(memory.Complete(ctx, w), memory.Complete(ctx, w)) // the second call is refused by the first
			}}
		})
		r := x.guard.Serve(t.Context(), post("k1", `{}`), func(ctx context.Context) (*Response, error) {
			AttemptFrom(ctx).Withhold()
			AttemptFrom(ctx).Enlist(func() {})
			return &Response{Status: 201, Body: []byte("card 4111")}, nil
		})
		if string(r.Body) != c.body {
			t.Errorf("%s: %d %s", c.name, r.Status, r.Body)
		}
	}
}

// TestWithholdResult: a result that is withheld comes back to the first caller only.
func TestWithholdResult(t *testing.T) {
	g, op := newTrial(t, nil).guard, Op{Name: "issue-card", Scope: "acme", Key: "k1"}
	issue := func(ctx context.Context) (string, error) {
		AttemptFrom(ctx).Withhold()
		return "card 4111", nil
	}
	if card, err := Do(t.Context(), g, op, issue); card != "card 4111" || err != nil {
		t.Errorf("first: %q, %v", card, err)
	}
	if card, err := Do(t.Context(), g, op, issue); card != "" || !errors.Is(err, ErrResultNotStored) {
		t.Errorf("next: %q, %v", card, err)
	}
}

// completing is a store with another way to complete.
type completing struct {
	Store
	complete func(context.Context, Completion) error
}

func (s *completing) Complete(ctx context.Context, w Completion) error { return s.complete(ctx, w) }

func TestMaxBody(t *testing.T) {
	for set, want := range map[int]int{0: DefaultMaxBody, 7: 7} {
		if got := newTrial(t, func(c *Config) { c.MaxBody = set }).guard.MaxBody(); got != want {
			t.Errorf("%d: %d, want %d", set, got, want)
		}
	}
}

// TestBrokenBodies: a body that is not there whole is refused like one that is too large: after the scope and the key,
// as the endpoint words its answers, and not silently (F52).
func TestBrokenBodies(t *testing.T) {
	consumed := fmt.Errorf("adapter: %w: put the guard outside", ErrBodyRead)
	for _, c := range []struct {
		name      string
		err       error
		key, body string
		stranger  bool
		status    int
		code      string
		logged    bool
	}{
		{"cut off", io.ErrUnexpectedEOF, "k", "", false, 400, "body-incomplete", false},
		{"read in front", consumed, "k", "", false, 500, "body-consumed", true},
		{"over a limit in front", fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 7}), "k", "", false, 413, "body-too-large", false},
		{"over both limits", io.ErrUnexpectedEOF, "k", "12345678901", false, 413, "body-too-large", false},
		{"nobody", consumed, "k", "", true, 403, "caller-unknown", false},
		{"a bad key", consumed, "k k", "", false, 400, "key-invalid", false},
		{"no key", consumed, "", "", false, 400, "key-missing", false},
		{"whole", nil, "k", "", false, 201, "", false},
	} {
		var log strings.Builder
		x := newTrial(t, func(g *Config) {
			g.MaxBody, g.ProblemType, g.Logger = 10, "https://example.com/", slog.New(slog.NewTextHandler(&log, nil))
			g.Status = func(code string, status int) int { return status + 50 }
			g.Authorize = func(context.Context, *Request) *Response {
				if c.err != nil {
					t.Errorf("%s: authorized in front of its refusal", c.name)
				}
				return nil
			}
		})
		r := post(c.key, c.body)
		if r.BodyErr = c.err; c.stranger {
			r.Caller = Caller{}
		}
		answer := x.serve(r)
		outcome, status := OutcomeFirst, c.status
		if c.code != "" {
			outcome, status = OutcomeRejected, c.status+50
		}
		x.want(c.name, answer, status, c.code)
		if c.code != "" && !strings.Contains(string(answer.Body), `"type":"https://example.com/`+c.code+`"`) {
			t.Errorf("%s: %s", c.name, answer.Body)
		}
		if e := x.events; len(e) != 1 || e[0].Outcome != outcome || e[0].Status != status || len(x.store.calls) > 0 != (c.code == "") {
			t.Errorf("%s: events %+v, calls %v", c.name, e, x.store.calls)
		}
		if strings.Contains(log.String(), "put the guard outside") != c.logged {
			t.Errorf("%s: log %s", c.name, &log)
		}
	}
}

// TestBrokenBodyOfAnEarlierRun: another key is never called harmless to a client whose first request may have run.
func TestBrokenBodyOfAnEarlierRun(t *testing.T) {
	x := newTrial(t, nil)
	x.serve(post("k", `{}`))
	for _, err := range []error{io.ErrUnexpectedEOF, ErrBodyRead} {
		r := post("k", ``)
		r.BodyErr = err
		if answer := x.serve(r); !strings.Contains(string(answer.Body), `"retryable":true,"new_key":false`) {
			t.Errorf("%v: %s", err, answer.Body)
		}
	}
	x.want("the retry", x.serve(post("k", `{}`)), 201, "")
}

// TestBrokenBodyUnguarded: without a key, where it is optional, the handler sees to its body itself.
func TestBrokenBodyUnguarded(t *testing.T) {
	x := newTrial(t, func(c *Config) { c.OptionalKey = true })
	r := post("", "")
	r.BodyErr = ErrBodyRead
	if x.want("unguarded", x.serve(r), 201, ""); x.outcome() != OutcomeUnguarded {
		t.Errorf("outcome %s", x.outcome())
	}
}

// TestMethodSpellings: a write does not escape by the spelling of its method, and is another request by it.
func TestMethodSpellings(t *testing.T) {
	x := newTrial(t, nil)
	x.want("POST", x.serve(post("k", `{}`)), 201, "")
	for _, method := range []string{"post", "Post", "pOST"} {
		r := post("k", `{}`)
		if r.Method = method; !x.guard.Guards(method) {
			t.Errorf("%s is not guarded", method)
		}
		x.want(method, x.serve(r), 422, "key-reused")
	}
	for _, method := range []string{"GET", "PUT", "", "POSTS", "POS"} {
		if x.guard.Guards(method) {
			t.Errorf("%q is guarded", method)
		}
	}
}
