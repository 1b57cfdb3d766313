package idempotency

import (
	"context"
	"net/http"
	"testing"
)

// TestUnstored: what becomes of the claim is decided on the response that cannot be kept, not on what stands for it.
func TestUnstored(t *testing.T) {
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
		{"released", 500, 0, 2, http.StatusConflict, "response-not-stored"},
		{"the handler keeps it", 500, Keep, 1, http.StatusConflict, "response-not-stored"},
		{"the handler lets go", 200, LetGo, 2, http.StatusConflict, "response-not-stored"},
		{"the handler is in doubt", 200, Doubt, 1, http.StatusConflict, "outcome-unknown"},
	} {
		x := newTrial(t, func(g *Config) { g.Orphans = Refuse })
		run := func(ctx context.Context) (*Response, error) {
			x.runs++
			attempt := AttemptFrom(ctx)
			if c.decide != 0 {
				attempt.Decide(c.decide)
			}
			return attempt.Unstored(&Response{Status: c.status}), nil
		}
		first := x.guard.Serve(t.Context(), post("k1", `{}`), run)
		x.want(c.name+", first", first, http.StatusConflict, "response-not-stored")
		if first.Header.Get(ReplayHeader) != "" {
			t.Errorf("%s: the first answer is marked as a replay", c.name)
		}
		x.want(c.name+", next", x.guard.Serve(t.Context(), post("k1", `{}`), run), c.next, c.code)
		if x.runs != c.runs {
			t.Errorf("%s: %d runs, want %d", c.name, x.runs, c.runs)
		}
	}
}

func TestMaxBody(t *testing.T) {
	for set, want := range map[int]int{0: DefaultMaxBody, 7: 7} {
		if got := newTrial(t, func(c *Config) { c.MaxBody = set }).guard.MaxBody(); got != want {
			t.Errorf("%d: %d, want %d", set, got, want)
		}
	}
}
