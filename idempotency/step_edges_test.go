package idempotency

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func yields(context.Context, *StepRun) (int, error) { return 1, nil }

// TestReleasedStepsStay: a record that was released with steps is not forgotten after the retention, since the steps would
// be taken again: F07.
func TestReleasedStepsStay(t *testing.T) {
	for _, policy := range []OrphanPolicy{Rerun, Refuse, Recover} {
		synctest.Test(t, func(t *testing.T) {
			x := newTrial(t, func(c *Config) {
				if c.Orphans = policy; policy == Recover {
					c.Recover = func(context.Context) (*Response, error) { return nil, nil }
				}
			})
			runs, status := 0, 503
			handle := func(ctx context.Context) (*Response, error) {
				_, err := Step(ctx, "reserve", func(context.Context, *StepRun) (int, error) { runs++; return runs, nil })
				return &Response{Status: status}, err
			}
			x.want("let go", x.guard.Serve(context.Background(), post("k", "{}"), handle), 503, "")
			time.Sleep(DefaultRetention + time.Hour)
			status = 201
			x.want("a day later", x.guard.Serve(context.Background(), post("k", "{}"), handle), 201, "")
			if runs != 1 {
				t.Errorf("policy %d: the step ran %d times", policy, runs)
			}
		})
	}
}

// TestNothingIsUndecidedWhileCompensating: once the failure is declared, neither handler nor undo can let go of it.
func TestNothingIsUndecidedWhileCompensating(t *testing.T) { // F65
	x := newTrial(t, nil)
	undos, fails := 0, true
	handle := func(ctx context.Context) (*Response, error) {
		a := AttemptFrom(ctx)
		_, err := Step(ctx, "reserve", yields, Undo(func(ctx context.Context, _ *StepRun, _ int) error {
			undos++
			AttemptFrom(ctx).Decide(LetGo)
			if fails {
				return errors.New("not yet")
			}
			return nil
		}))
		if err != nil {
			return nil, err
		}
		a.Compensate()
		return &Response{Status: 402}, nil
	}
	x.want("undo fails", x.guard.Serve(context.Background(), post("k", "{}"), handle), 500, "handler-failed")
	if x.outcome() != OutcomeUncompensated {
		t.Errorf("outcome %s", x.outcome())
	}
	fails = false
	x.want("undo succeeds", x.guard.Serve(context.Background(), post("k", "{}"), handle), 402, "")
	x.want("recorded", x.guard.Serve(context.Background(), post("k", "{}"), handle), 402, "")
	if undos != 2 || x.outcome() != OutcomeReplay {
		t.Errorf("%d undos, outcome %s", undos, x.outcome())
	}
}

// TestUndoPanics: an undo that panics has failed too.
func TestUndoPanics(t *testing.T) { // F65
	x := newTrial(t, nil)
	for n := 1; n <= 2; n++ {
		func() {
			defer func() { recover() }()
			x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
				Step(ctx, "reserve", yields, Undo(func(context.Context, *StepRun, int) error { panic("bug") }))
				AttemptFrom(ctx).Compensate()
				return &Response{Status: 402}, nil
			})
		}()
		if e := x.events[len(x.events)-1]; e.Outcome != OutcomeUncompensated || e.UndoFailures != n {
			t.Errorf("outcome %s after %d failures, want %d", e.Outcome, e.UndoFailures, n)
		}
	}
}

// TestUnrecordableResults: what cannot be recorded, or would not come back, ends the attempt: the next step must not take
// its place.
func TestUnrecordableResults(t *testing.T) {
	for name, step := range map[string]func(context.Context) error{
		"a channel": func(ctx context.Context) error {
			_, err := Step(ctx, "a", func(context.Context, *StepRun) (chan int, error) { return nil, nil })
			return err
		},
		"an interface": func(ctx context.Context) error {
			_, err := Step(ctx, "a", func(context.Context, *StepRun) (io.Reader, error) { return strings.NewReader("x"), nil })
			return err
		},
	} {
		x := newTrial(t, nil)
		x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
			if err := step(ctx); err == nil {
				t.Errorf("%s is recorded", name)
			}
			if _, err := Step(ctx, "b", yields); err == nil || ctx.Err() == nil {
				t.Errorf("%s: the next step ran: %v", name, err)
			}
			return &Response{Status: 201}, nil
		})
		for _, r := range x.store.Store.(*Memory).records {
			if len(r.Steps) != 0 || r.Status == Completed {
				t.Errorf("%s: %d steps, %s", name, len(r.Steps), r.Status)
			}
		}
	}
}

// TestStepsAreOver: nothing is enlisted in a step that is over, and no step begins when the handler has returned.
func TestStepsAreOver(t *testing.T) {
	x := newTrial(t, nil)
	var inStep, inHandler context.Context
	x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
		inHandler = context.WithoutCancel(ctx)
		_, err := Step(ctx, "a", func(ctx context.Context, _ *StepRun) (int, error) {
			inStep = ctx
			return 1, nil
		})
		if Enlist(inStep, func() {}) {
			t.Error("a write is taken for a step that is over")
		}
		return &Response{Status: 503}, err
	})
	if _, err := Step(inHandler, "b", func(context.Context, *StepRun) (int, error) {
		t.Error("a step runs after the handler has returned")
		return 0, nil
	}); err == nil {
		t.Error("no error")
	}
}

// TestCompensateInRecovery: the recovery function cannot declare a failure, since it does not know the undos.
func TestCompensateInRecovery(t *testing.T) {
	declare := true
	x := newTrial(t, func(c *Config) {
		c.Orphans, c.Recover = Recover, func(ctx context.Context) (*Response, error) {
			if !declare {
				return nil, nil
			}
			AttemptFrom(ctx).Compensate()
			return &Response{Status: 402}, nil
		}
	})
	undone := 0
	handle := func(ctx context.Context) (*Response, error) {
		if _, err := Step(ctx, "a", yields, Undo(func(context.Context, *StepRun, int) error { undone++; return nil })); err != nil || AttemptFrom(ctx).Rerun() == false {
			return nil, errors.New("no answer")
		}
		AttemptFrom(ctx).Compensate()
		return &Response{Status: 402}, nil
	}
	x.guard.Serve(context.Background(), post("k", "{}"), handle)
	x.want("declared by the recovery function", x.guard.Serve(context.Background(), post("k", "{}"), handle), 500, "handler-failed")
	declare = false
	x.want("by the handler", x.guard.Serve(context.Background(), post("k", "{}"), handle), 402, "")
	if undone != 1 {
		t.Errorf("undone %d times", undone)
	}
}

// TestValidationAndSteps: rules that have changed do not say that a request never ran, where it has taken steps: F29.
func TestValidationAndSteps(t *testing.T) {
	strict := false
	x := newTrial(t, func(c *Config) {
		c.Validate = func(context.Context, *Request) *Response {
			if strict {
				return &Response{Status: 400}
			}
			return nil
		}
	})
	x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
		_, err := Step(ctx, "a", yields)
		return &Response{Status: 503}, err
	})
	strict = true
	x.want("released with a step", x.serve(post("k", "{}")), 409, "outcome-unknown")
	x.want("new", x.serve(post("l", "{}")), 400, "")
}
