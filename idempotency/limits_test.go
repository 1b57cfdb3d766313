package idempotency

import (
	"context"
	"errors"
	"net/http"
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
