package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

type charge struct{ ID string }

// TestStepsRunOnce: a step whose result was recorded never runs again, wherever an earlier attempt ended: F07, F08.
func TestStepsRunOnce(t *testing.T) {
	x := newTrial(t, nil)
	runs := map[string]int{}
	keys := map[string]map[string]bool{}
	crashAt := ""
	handler := func(ctx context.Context) (*Response, error) {
		var parts []string
		for _, name := range []string{"reserve", "charge", "confirm"} {
			got, err := Step(ctx, name, func(ctx context.Context, s *StepRun) (charge, error) {
				runs[name]++
				if keys[name] == nil {
					keys[name] = map[string]bool{}
				}
				keys[name][s.Key()] = true
				if AttemptFrom(ctx) == nil || s.Epoch() != AttemptFrom(ctx).Epoch() {
					t.Errorf("%s: no attempt, or another epoch", name)
				}
				return charge{fmt.Sprint(name, runs[name])}, nil
			})
			if err != nil {
				return nil, err
			}
			parts = append(parts, got.ID)
			if crashAt == name {
				return nil, errors.New("scripted")
			}
		}
		return &Response{Status: 201, Body: []byte(fmt.Sprint(parts))}, nil
	}
	for _, crashAt = range []string{"reserve", "charge", "confirm"} {
		x.want("crash after "+crashAt, x.guard.Serve(t.Context(), post("k", "{}"), handler), 500, "handler-failed")
	}
	crashAt = ""
	for range 2 {
		r := x.guard.Serve(t.Context(), post("k", "{}"), handler)
		if r.Status != 201 || string(r.Body) != "[reserve1 charge1 confirm1]" {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	for _, name := range []string{"reserve", "charge", "confirm"} {
		if runs[name] != 1 || len(keys[name]) != 1 {
			t.Errorf("%s ran %d times with %d keys", name, runs[name], len(keys[name]))
		}
	}
	if x.store.calls["checkpoint"] != 3 {
		t.Errorf("%v", x.store.calls)
	}
}

// one is a step that does nothing.
func one(ctx context.Context, name string) error {
	_, err := Step(ctx, name, func(context.Context, *StepRun) (int, error) { return 1, nil })
	return err
}

// in runs a handler's steps within an attempt of key k, and returns the answer. What they return goes on.
func (x *trial) in(run func(ctx context.Context) error) *Response {
	return x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
		if err := run(ctx); err != nil {
			return nil, err
		}
		return &Response{Status: 201, Body: []byte("done")}, nil
	})
}

// TestStepErrors: what cannot be a step is refused with a reason, and records nothing.
func TestStepErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(context.Context) error
		says string
	}{
		{"no name", func(ctx context.Context) error { return one(ctx, "") }, `step name "": want 1 to 64`},
		{"an undo's name", func(ctx context.Context) error { return one(ctx, "undo:x") }, "want 1 to 64"},
		{"a long name", func(ctx context.Context) error { return one(ctx, strings.Repeat("x", 65)) }, "want 1 to 64"},
		{"the same name twice", func(ctx context.Context) error { return errors.Join(one(ctx, "x"), one(ctx, "x")) }, `step "x" is recorded already`},
		{"too many", func(ctx context.Context) (err error) {
			for i := 0; err == nil; i++ {
				err = one(ctx, fmt.Sprint("s", i))
			}
			return err
		}, "at most 100 steps"},
		{"too large", func(ctx context.Context) error {
			_, err := Step(ctx, "x", func(context.Context, *StepRun) (string, error) { return strings.Repeat("x", MaxStepResult-1), nil })
			return err
		}, "has 262145 bytes as JSON and was not recorded"},
		{"no JSON", func(ctx context.Context) error {
			_, err := Step(ctx, "x", func(context.Context, *StepRun) (any, error) { return func() {}, nil })
			return err
		}, "cannot be recorded: json: unsupported type"},
		{"no UTF-8", func(ctx context.Context) error {
			_, err := Step(ctx, "x", func(context.Context, *StepRun) (json.RawMessage, error) { return json.RawMessage("\"\xff\""), nil })
			return err
		}, "text that is not UTF-8"},
		{"within a step", func(ctx context.Context) error {
			_, err := Step(ctx, "x", func(ctx context.Context, _ *StepRun) (int, error) { return 1, one(ctx, "y") })
			return err
		}, `step "y" began while another step was running`},
		{"after the handler's time", func(ctx context.Context) error {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(errors.New("too late"))
			return one(ctx, "x")
		}, "too late"},
		{"its own error", func(ctx context.Context) error {
			_, err := Step(ctx, "x", func(context.Context, *StepRun) (int, error) { return 1, errDown })
			return err
		}, errDown.Error()},
	} {
		x := newTrial(t, nil)
		var err error
		r := x.in(func(ctx context.Context) error { err = c.run(ctx); return err })
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		x.want(c.name, r, 500, "handler-failed")
		if n := x.store.calls["checkpoint"]; n > 1 && n != MaxSteps {
			t.Errorf("%s: %d checkpoints", c.name, n)
		}
	}
	if err := one(t.Context(), "x"); !errors.Is(err, ErrNoAttempt) {
		t.Errorf("without an attempt: %v", err)
	}
}

// TestStepResults: results come back as JSON has them, on the first attempt as on every other one; what is of another type
// now is an error.
func TestStepResults(t *testing.T) {
	x := newTrial(t, nil)
	type result struct {
		When  time.Time
		Large int64
		Shy   string `json:"-"`
	}
	given := result{When: time.Now(), Large: 1<<53 + 1, Shy: "shy"}
	want := result{When: given.When.Round(0), Large: given.Large}
	for n := range 2 {
		x.in(func(ctx context.Context) error {
			got, err := Step(ctx, "x", func(context.Context, *StepRun) (result, error) { return given, nil })
			if err != nil || !got.When.Equal(want.When) || got.Large != want.Large || got.Shy != "" {
				t.Errorf("attempt %d: %+v, %v; want %+v", n, got, err, want)
			}
			return errors.New("scripted")
		})
	}
	x.in(func(ctx context.Context) error {
		_, err := Step(ctx, "x", func(context.Context, *StepRun) ([]int, error) { return nil, nil })
		if err == nil || !strings.Contains(err.Error(), "of another type") {
			t.Errorf("as a list: %v", err)
		}
		return err
	})
}

// TestStepsChanged: a handler with other steps than the recorded ones is refused, and nothing of it runs.
func TestStepsChanged(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []string // of the new code
		runs  []string // that run, as they are not recorded
		ok    bool
	}{
		{"the same", []string{"a", "b"}, nil, true},
		{"one more", []string{"a", "b", "c"}, []string{"c"}, true},
		{"another order", []string{"b", "a"}, nil, false},
		{"one before", []string{"x", "a", "b"}, nil, false},
		{"one between", []string{"a", "x", "b"}, nil, false},
		{"renamed", []string{"a", "B"}, nil, false},
		{"one less", []string{"a"}, nil, false},
		{"none", nil, nil, false},
	} {
		x := newTrial(t, nil)
		x.in(func(ctx context.Context) error {
			return errors.Join(one(ctx, "a"), one(ctx, "b"), errors.New("scripted"))
		})
		var runs []string
		r := x.in(func(ctx context.Context) error {
			for _, name := range c.steps {
				if _, err := Step(ctx, name, func(context.Context, *StepRun) (int, error) { runs = append(runs, name); return 1, nil }); err != nil {
					return err
				}
			}
			return nil
		})
		if fmt.Sprint(runs) != fmt.Sprint(c.runs) {
			t.Errorf("%s: %q run, want %q", c.name, runs, c.runs)
		}
		if c.ok {
			x.want(c.name, r, 201, "")
			continue
		}
		x.want(c.name, r, 500, "handler-failed")
		if e := x.events[len(x.events)-1]; !errors.Is(e.Err, ErrStepsChanged) || !strings.Contains(e.Err.Error(), x.record().ID) {
			t.Errorf("%s: %v", c.name, e.Err)
		}
		if n := len(x.record().Steps); n != 2 {
			t.Errorf("%s: %d steps are left", c.name, n)
		}
	}
}

// TestStepsSurvive: recorded steps outlive a response that is not recorded, an error, and a panic; a response that is not
// for good need not come to all of them.
func TestStepsSurvive(t *testing.T) {
	x := newTrial(t, nil)
	runs := 0
	count := func(ctx context.Context) error {
		_, err := Step(ctx, "x", func(context.Context, *StepRun) (int, error) { runs++; return runs, nil })
		return err
	}
	for _, end := range []RunHandler{
		func(context.Context) (*Response, error) { return &Response{Status: 503}, nil },
		func(context.Context) (*Response, error) { return nil, errors.New("scripted") },
		func(context.Context) (*Response, error) { panic("scripted") },
		func(context.Context) (*Response, error) { return &Response{Status: 201}, nil },
	} {
		func() {
			defer func() { _ = recover() }()
			x.guard.Serve(t.Context(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
				if err := count(ctx); err != nil {
					return nil, err
				}
				return end(ctx)
			})
		}()
		x.want("without steps", x.guard.Serve(t.Context(), post("k", "{}"), end503), map[bool]int{true: 201, false: 503}[x.record().Status == Completed], "")
	}
	if runs != 1 {
		t.Errorf("%d runs", runs)
	}
}

func end503(context.Context) (*Response, error) { return &Response{Status: 503}, nil }

// take lets another attempt take the record over, whatever its lease is.
func (x *trial) takenOver() {
	seen := x.record()
	err := x.store.Store.Takeover(context.Background(), Takeover{Seen: seen, Owner: "other", Epoch: seen.Epoch + 1, LeaseUntil: time.Now().Add(time.Minute)})
	if err != nil {
		x.t.Error(err)
	}
}

// TestStepFenced: a step of an attempt that has lost its claim takes no effect on the record, its writes are not committed,
// the handler is stopped, and the answer is that of the record that stands: F11, F88.
func TestStepFenced(t *testing.T) {
	for _, swallows := range []bool{false, true} {
		x := newTrial(t, nil)
		committed := 0
		x.store.hook = func(op string, n int) {
			if op == "checkpoint" && n == 2 {
				x.takenOver()
			}
		}
		r := x.in(func(ctx context.Context) error {
			err := errors.Join(one(ctx, "a"))
			_, fenced := Step(ctx, "b", func(ctx context.Context, _ *StepRun) (int, error) { Enlist(ctx, func() { committed++ }); return 1, nil })
			if err != nil || !errors.Is(fenced, ErrFenced) || ctx.Err() == nil {
				t.Errorf("%v, %v, context %v", err, fenced, ctx.Err())
			}
			if err := one(ctx, "c"); !errors.Is(err, ErrFenced) {
				t.Errorf("a step after that: %v", err)
			}
			if swallows {
				return nil
			}
			return fenced
		})
		x.want("fenced", r, 409, "in-progress")
		if rec := x.record(); x.outcome() != OutcomeFenced || len(rec.Steps) != 1 || rec.Owner != "other" || rec.Status != Processing || committed != 0 {
			t.Errorf("outcome %s, record %+v, %d committed", x.outcome(), rec, committed)
		}
	}
}

// TestStepGone: nobody has the record any more. Nobody knows what becomes of the operation.
func TestStepGone(t *testing.T) {
	x := newTrial(t, nil)
	x.store.hook = func(op string, _ int) {
		if op == "checkpoint" {
			x.store.Store.(*Memory).records = nil
		}
	}
	x.want("gone", x.in(func(ctx context.Context) error { return one(ctx, "a") }), 409, "outcome-unknown")
}

// TestStepUnanswered: a checkpoint without an answer is looked up, once. Where that tells nothing the handler is stopped,
// its answer is not recorded, and the next attempt goes by what the record says: F63.
func TestStepUnanswered(t *testing.T) {
	for _, c := range []struct {
		name             string
		checkpoint, read fault
		status           int
		code             string
		runs             int // of the step, after a second attempt
	}{
		{"recorded, and found", ackLost, answered, 201, "", 1},
		{"recorded, not found", ackLost, failed, 503, "outcome-unknown", 1},
		{"not recorded", failed, answered, 503, "outcome-unknown", 2},
		{"neither answered", failed, failed, 503, "outcome-unknown", 2},
	} {
		x := newTrial(t, nil)
		x.store.fault = func(op string, n int) fault {
			switch op {
			case "checkpoint":
				return map[bool]fault{true: c.checkpoint}[n == 1]
			case "get":
				return c.read
			}
			return answered
		}
		runs, committed := 0, 0
		serve := func() *Response {
			return x.in(func(ctx context.Context) error {
				_, err := Step(ctx, "a", func(ctx context.Context, _ *StepRun) (int, error) {
					runs++
					Enlist(ctx, func() { committed++ })
					return runs, nil
				})
				if (err == nil) != (ctx.Err() == nil) {
					t.Errorf("%s: %v, context %v", c.name, err, ctx.Err())
				}
				return nil // whatever the step says
			})
		}
		x.want(c.name, serve(), c.status, c.code)
		x.want(c.name+", again", serve(), 201, "")
		if runs != c.runs || committed != 1 {
			t.Errorf("%s: %d runs, %d committed", c.name, runs, committed)
		}
	}
}

// TestLateCheckpoint: a checkpoint that lands between the look at an orphan and its takeover is not overlooked.
func TestLateCheckpoint(t *testing.T) {
	x := newTrial(t, nil)
	var late func() error
	x.in(func(ctx context.Context) error {
		held := AttemptFrom(ctx).record
		late = func() error {
			return x.store.Store.Checkpoint(context.Background(), Checkpoint{Held: &held, Step: RecordedStep{Name: "a", Result: []byte("7")}})
		}
		return errors.New("scripted")
	})
	x.store.hook = func(op string, n int) {
		if op == "takeover" && n == 1 {
			if err := late(); err != nil {
				t.Error(err)
			}
		}
	}
	x.want("the next attempt", x.in(func(ctx context.Context) error {
		got, err := Step(ctx, "a", func(context.Context, *StepRun) (int, error) { t.Error("runs again"); return 0, nil })
		if got != 7 {
			t.Errorf("%d, %v", got, err)
		}
		return err
	}), 201, "")
}

// TestStepsInDo: steps and undos work in operations that are no requests.
func TestStepsInDo(t *testing.T) {
	x := newTrial(t, nil)
	runs, undone, fails := 0, 0, true
	do := func() (string, error) {
		return Do(t.Context(), x.guard, Op{Name: "settle", Scope: "acme", Key: "k"}, func(ctx context.Context) (string, error) {
			_, err := Step(ctx, "x", func(context.Context, *StepRun) (int, error) { runs++; return 1, nil }, Undo(func(context.Context, *StepRun, int) error {
				if undone++; fails {
					return errors.New("not now")
				}
				return nil
			}))
			AttemptFrom(ctx).Compensate()
			return "given up", err
		})
	}
	_, err := do()
	if failed := (*Error)(nil); !errors.As(err, &failed) || failed.Code != "handler-failed" || !strings.Contains(err.Error(), "not now") {
		t.Errorf("%v", err)
	}
	fails = false
	for range 2 {
		if got, err := do(); got != "given up" || err != nil || runs != 1 || undone != 2 {
			t.Errorf("%q, %v, %d runs, %d undone", got, err, runs, undone)
		}
	}
}

// TestRecoveryTakesNoSteps: a recovery function looks up what an attempt did; it takes no steps of its own.
func TestRecoveryTakesNoSteps(t *testing.T) {
	var err error
	x := newTrial(t, func(c *Config) {
		c.Orphans, c.Recover = Recover, func(ctx context.Context) (*Response, error) { err = one(ctx, "a"); return nil, nil }
	})
	x.in(func(ctx context.Context) error { return errors.Join(one(ctx, "a"), errors.New("scripted")) })
	x.want("next", x.in(func(ctx context.Context) error { return one(ctx, "a") }), 201, "")
	if err == nil || !strings.Contains(err.Error(), "not to the recovery function") {
		t.Error(err)
	}
}

// TestRecoveryWithSteps: an outcome that recovery finds counts, whatever steps are recorded.
func TestRecoveryWithSteps(t *testing.T) {
	x := newTrial(t, func(c *Config) {
		c.Orphans, c.Recover = Recover, func(context.Context) (*Response, error) { return &Response{Status: 201, Body: []byte("found")}, nil }
	})
	x.in(func(ctx context.Context) error { return errors.Join(one(ctx, "a"), errors.New("scripted")) })
	if r := x.in(func(ctx context.Context) error { return one(ctx, "a") }); string(r.Body) != "found" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
