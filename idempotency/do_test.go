package idempotency

import (
	"context"
	"errors"
	"testing"
	"time"
)

type invoice struct {
	Number string
	Cents  int
}

func TestDo(t *testing.T) {
	x := newTrial(t, nil)
	runs := 0
	settle := func(op Op) (invoice, error) {
		return Do(t.Context(), x.guard, op, func(ctx context.Context) (invoice, error) {
			runs++
			return invoice{"R-1", 1299}, nil
		})
	}
	op := Op{Name: "settle", Scope: "acme", Key: "message-1", Input: map[string]any{"order": 42}}
	for range 2 {
		if got, err := settle(op); err != nil || got != (invoice{"R-1", 1299}) {
			t.Errorf("%v, %v", got, err)
		}
	}
	for what, c := range map[string]struct {
		change func(*Op)
		want   error // nil: runs
	}{
		"other input":         {func(o *Op) { o.Input = 7 }, ErrKeyReused},
		"F39 other name":      {func(o *Op) { o.Name = "refund" }, ErrKeyReused},
		"F44 other principal": {func(o *Op) { o.Principal = "bob" }, ErrReplayForbidden},
		"F39 other scope":     {func(o *Op) { o.Scope = "globex" }, nil},
		"F40 F81 other key":   {func(o *Op) { o.Key = "message-2" }, nil},
	} {
		other, before := op, runs
		c.change(&other)
		if _, err := settle(other); !errors.Is(err, c.want) || (runs > before) != (c.want == nil) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, change := range map[string]func(*Op){"F42 no scope": func(o *Op) { o.Scope = "" }, "no name": func(o *Op) { o.Name = "" },
		"F81 no key": func(o *Op) { o.Key = "" }, "input that is no JSON": func(o *Op) { o.Input = func() {} }} {
		wrong := op
		change(&wrong)
		if _, err := settle(wrong); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}

func TestDoFailures(t *testing.T) {
	boom := errors.New("boom")
	op := Op{Name: "settle", Scope: "acme", Key: "1"}
	fails := func(d Disposition) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			if d != 0 {
				AttemptFrom(ctx).Decide(d)
			}
			return 0, boom
		}
	}
	works := func(context.Context) (int, error) { return 7, nil }
	x := newTrial(t, func(c *Config) { c.Orphans = Refuse })
	if _, err := Do(t.Context(), x.guard, op, fails(LetGo)); err != boom || x.outcome() != OutcomeReleased {
		t.Errorf("fn lets go: %v, %s", err, x.outcome())
	}
	if got, err := Do(t.Context(), x.guard, op, works); got != 7 || err != nil {
		t.Errorf("then %v, %v", got, err)
	}
	op.Key = "2"
	if _, err := Do(t.Context(), x.guard, op, fails(0)); err != boom || x.outcome() != OutcomeOrphaned {
		t.Errorf("fn fails: %v, %s", err, x.outcome())
	}
	var e *Error
	if _, err := Do(t.Context(), x.guard, op, works); !errors.Is(err, ErrOutcomeUnknown) || !errors.As(err, &e) || e.ID == "" || e.Retryable {
		t.Errorf("then %v", err)
	}
	op.Key = "3"
	if _, err := Do(t.Context(), x.guard, op, func(context.Context) (func(), error) { return nil, nil }); err == nil || errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("a result that is no JSON: %v", err)
	}
	x.store.fault = on("claim", 0, failed)
	op.Key = "4"
	if _, err := Do(t.Context(), x.guard, op, works); !errors.Is(err, ErrStoreUnavailable) || !errors.Is(err, errDown) || !errors.As(err, &e) || e.RetryAfter < time.Second {
		t.Errorf("store down: %v", err)
	}
}
