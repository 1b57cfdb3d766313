package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// order is a handler of three steps whose last one is declined for good. It notes what happens.
type order struct {
	log       []string
	keys      map[string]bool
	accepts   bool           // the last step succeeds, if it is asked
	silent    bool           // does not declare the failure again once compensation has begun
	undoFails map[string]int // how often an undo fails yet
	dies      string         // where the process dies: what is noted there is the last thing it does
	declared  int            // status of the answer
	enlists   *int           // counts what is committed with the answer
}

var errProcessDied = errors.New("the process died")

func (o *order) note(what string) {
	o.log = append(o.log, what)
	if o.dies == what {
		panic(errProcessDied)
	}
}

func (o *order) take(ctx context.Context, name string) error {
	_, err := Step(ctx, name, func(_ context.Context, s *StepRun) (charge, error) {
		o.note(name)
		o.keys[s.Key()] = true
		if name == "ship" && !o.accepts {
			return charge{}, errors.New("declined")
		}
		return charge{ID: name + "-1"}, nil
	}, Undo(func(_ context.Context, s *StepRun, c charge) error {
		o.note(s.Name() + " " + c.ID)
		o.keys[s.Key()] = true
		if o.undoFails[name] > 0 {
			o.undoFails[name]--
			return errors.New("cannot undo " + name)
		}
		return nil
	}))
	return err
}

func (o *order) handle(ctx context.Context) (*Response, error) {
	for _, name := range []string{"reserve", "charge", "ship"} {
		err := o.take(ctx, name)
		switch {
		case err == nil:
			continue
		case errors.Is(err, ErrCompensating) && o.silent:
			return nil, err
		}
		t := AttemptFrom(ctx)
		t.Compensate()
		if o.enlists != nil {
			t.Enlist(func() { *o.enlists++ })
		}
		return &Response{Status: o.declared, Header: http.Header{"X-Why": {"declined"}}, Body: []byte("declined")}, nil
	}
	return &Response{Status: 201, Body: []byte("shipped")}, nil
}

func newOrder() *order {
	return &order{keys: map[string]bool{}, undoFails: map[string]int{}, declared: 402}
}

// serve runs the handler, in a process that may die.
func (o *order) serve(x *trial) (r *Response) {
	defer func() {
		if p := recover(); p != nil && p != errProcessDied {
			panic(p)
		}
	}()
	return x.guard.Serve(context.Background(), post("k", "{}"), o.handle)
}

func (x *trial) record() *Record {
	x.t.Helper()
	r, err := x.store.Get(context.Background(), x.guard.hasher.record("acme", "k"))
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

// TestUndoInReverse: the recorded steps are undone, the last one first, before the answer is recorded.
func TestUndoInReverse(t *testing.T) {
	for _, status := range []int{402, 503} {
		x, o := newTrial(t, nil), newOrder()
		committed := 0
		o.declared, o.enlists = status, &committed
		for n := range 2 {
			r := o.serve(x)
			if r.Status != status || string(r.Body) != "declined" || (r.Header.Get(ReplayHeader) != "") != (n == 1) {
				t.Errorf("%d %s %v", r.Status, r.Body, r.Header)
			}
		}
		want := []string{"reserve", "charge", "ship", "undo:charge charge-1", "undo:reserve reserve-1"}
		if !slices.Equal(o.log, want) {
			t.Errorf("%q, want %q", o.log, want)
		}
		if len(o.keys) != 5 || committed != 1 {
			t.Errorf("%d keys, %d commits", len(o.keys), committed)
		}
		if r := x.record(); r.Status != Completed || r.Steps != nil {
			t.Errorf("the record is %s with steps %v", r.Status, r.Steps)
		}
		if want := 5; x.store.calls["checkpoint"] != want {
			t.Errorf("%d checkpoints, want %d", x.store.calls["checkpoint"], want)
		}
	}
}

// TestUndoAfterCrash: wherever the process dies, the next attempt goes on: each undo is recorded once, none runs again once
// it is, and the answer is the one that was declared, even where the operation would succeed now: F65.
func TestUndoAfterCrash(t *testing.T) {
	for _, c := range []struct {
		dies  string
		final string // answer of the next attempt
		undos []string
	}{
		{"charge", "201 shipped", nil},
		{"ship", "201 shipped", nil},
		{"undo:charge charge-1", "402 declined", []string{"undo:charge charge-1", "undo:charge charge-1", "undo:reserve reserve-1"}},
		{"undo:reserve reserve-1", "402 declined", []string{"undo:charge charge-1", "undo:reserve reserve-1", "undo:reserve reserve-1"}},
	} {
		for _, silent := range []bool{false, true} {
			x, o := newTrial(t, nil), newOrder()
			o.dies = c.dies
			if r := o.serve(x); r != nil {
				t.Errorf("%s: %v", c.dies, r)
			}
			o.dies, o.accepts, o.silent = "", true, silent
			for range 2 {
				if r := o.serve(x); fmt.Sprint(r.Status, " ", string(r.Body)) != c.final {
					t.Errorf("%s: %d %s, want %s", c.dies, r.Status, r.Body, c.final)
				}
			}
			undos := slices.DeleteFunc(slices.Clone(o.log), func(s string) bool { return !strings.HasPrefix(s, "undo:") })
			if !slices.Equal(undos, c.undos) {
				t.Errorf("%s: %q, want %q", c.dies, undos, c.undos)
			}
		}
	}
}

// TestUndoLostAcknowledgements: every checkpoint of a compensation may go unanswered, or not be done: the undos are recorded
// once, and the operation ends with its answer: F65.
func TestUndoLostAcknowledgements(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for _, f := range []fault{failed, ackLost} {
			x, o := newTrial(t, nil), newOrder()
			x.store.fault = on("checkpoint", n, f)
			o.serve(x)
			x.want(fmt.Sprintf("checkpoint %d, %v", n, f), o.serve(x), 402, "")
			if r := x.record(); r.Status != Completed {
				t.Errorf("%s", r.Status)
			}
			ran := map[string]int{}
			for _, what := range o.log {
				ran[what]++
			}
			for what, times := range ran {
				if f == ackLost && times > 1 && what != "ship" {
					t.Errorf("checkpoint %d was recorded; %q ran %d times", n, what, times)
				}
			}
		}
	}
}

// TestUndoFails: an undo that keeps failing leaves an orphan that says so, and every attempt goes on from there.
func TestUndoFails(t *testing.T) {
	x, o := newTrial(t, nil), newOrder()
	o.undoFails["reserve"] = 2
	for n := 1; n <= 2; n++ {
		x.want("undo fails", o.serve(x), 500, "handler-failed")
		r := x.record()
		if x.outcome() != OutcomeUncompensated || r.UndoFailures != n || !r.Compensating() || !r.LeaseUntil.Equal(Orphaned()) {
			t.Errorf("outcome %s, record %+v", x.outcome(), r)
		}
		if e := x.events[len(x.events)-1]; e.UndoFailures != n || !strings.Contains(e.Err.Error(), "undo:reserve: cannot undo reserve") {
			t.Errorf("event %+v", e)
		}
	}
	x.want("at last", o.serve(x), 402, "")
	want := []string{"reserve", "charge", "ship", "undo:charge charge-1", "undo:reserve reserve-1", "undo:reserve reserve-1", "undo:reserve reserve-1"}
	if !slices.Equal(o.log, want) {
		t.Errorf("%q, want %q", o.log, want)
	}
	if r := x.record(); r.UndoFailures != 0 || r.Status != Completed || x.outcome() != OutcomeFirst {
		t.Errorf("outcome %s, record %+v", x.outcome(), r)
	}
}

// TestUndoWithinTheTime: undos stop when the handler's time is over, and go on in the next attempt.
func TestUndoWithinTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTrial(t, nil)
		undone := 0
		run := func(ctx context.Context) (*Response, error) {
			for _, name := range []string{"a", "b", "c"} {
				if _, err := Step(ctx, name, func(context.Context, *StepRun) (int, error) { return 1, nil }, Undo(func(context.Context, *StepRun, int) error {
					undone++
					time.Sleep(DefaultLease * 2 / 3)
					return nil
				})); err != nil {
					return nil, err
				}
			}
			AttemptFrom(ctx).Compensate()
			return &Response{Status: 409, Body: []byte("no")}, nil
		}
		serve := func() *Response { return x.guard.Serve(context.Background(), post("k", "{}"), run) }
		x.want("first", serve(), 500, "handler-failed")
		if r := x.record(); undone != 2 || r.UndoFailures != 1 {
			t.Errorf("%d undone, %d failures", undone, r.UndoFailures)
		}
		x.want("second", serve(), 409, "")
		if undone != 3 {
			t.Errorf("%d undone", undone)
		}
	})
}

// TestCompensatingOrphans: the recovery function is not asked what became of an operation that is being undone, and under
// Refuse an operator must let it go on: F65.
func TestCompensatingOrphans(t *testing.T) {
	x, o := newTrial(t, func(c *Config) {
		c.Orphans, c.Recover = Recover, func(context.Context) (*Response, error) { return &Response{Status: 201, Body: []byte("found")}, nil }
	}), newOrder()
	o.undoFails["reserve"] = 1
	x.want("undo fails", o.serve(x), 500, "handler-failed")
	x.want("goes on", o.serve(x), 402, "")

	x, o = newTrial(t, func(c *Config) { c.Orphans = Refuse }), newOrder()
	o.undoFails["reserve"] = 1
	x.want("undo fails", o.serve(x), 500, "handler-failed")
	x.want("refused", o.serve(x), 409, "outcome-unknown")
	w, err := NewResolution(x.record(), nil, Clocks{Local: time.Now()}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.store.Store.(*Memory).Resolve(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	x.want("goes on", o.serve(x), 402, "")
	if n := len(o.log); n != 6 {
		t.Errorf("%q", o.log)
	}
}

// TestCompensateAndOtherSteps: the steps that a handler takes must be the recorded ones while they are undone, too.
func TestCompensateAndOtherSteps(t *testing.T) {
	x, o := newTrial(t, nil), newOrder()
	o.undoFails["reserve"] = 1
	o.serve(x)
	for what, run := range map[string]RunHandler{
		"none":        func(context.Context) (*Response, error) { return &Response{Status: 201}, nil },
		"one":         func(ctx context.Context) (*Response, error) { return &Response{Status: 201}, o.take(ctx, "reserve") },
		"another one": func(ctx context.Context) (*Response, error) { return nil, o.take(ctx, "charge") },
	} {
		x.want(what, x.guard.Serve(t.Context(), post("k", "{}"), run), 500, "handler-failed")
		if e := x.events[len(x.events)-1]; e.Outcome != OutcomeUncompensated || !errors.Is(e.Err, ErrStepsChanged) {
			t.Errorf("%s: %+v", what, e)
		}
	}
	x.want("goes on", o.serve(x), 402, "")
}

// TestCompensateAgain: what a handler enlists while undos go on is committed only if it declares the failure again.
func TestCompensateAgain(t *testing.T) {
	for _, again := range []bool{true, false} {
		x := newTrial(t, nil)
		committed, tries := 0, 0
		run := func(ctx context.Context) (*Response, error) {
			tries++
			_, err := Step(ctx, "reserve", func(context.Context, *StepRun) (int, error) { return 1, nil }, Undo(func(context.Context, *StepRun, int) error {
				if tries == 1 {
					return errors.New("not now")
				}
				return nil
			}))
			AttemptFrom(ctx).Enlist(func() { committed++ })
			if tries == 1 || again {
				AttemptFrom(ctx).Compensate()
			}
			return &Response{Status: 200 + tries}, err
		}
		for range 2 {
			x.guard.Serve(t.Context(), post("k", "{}"), run)
		}
		r := x.record()
		if want := map[bool]int{true: 1}[again]; committed != want || r.Response.Status != 201 {
			t.Errorf("again %v: %d committed, status %d", again, committed, r.Response.Status)
		}
	}
}

// TestCompensateNothing: where there is nothing to undo, nothing but the answer is recorded.
func TestCompensateNothing(t *testing.T) {
	for what, step := range map[string]func(context.Context) error{
		"no steps": func(context.Context) error { return nil },
		"no undo": func(ctx context.Context) error {
			_, err := Step(ctx, "look", func(context.Context, *StepRun) (int, error) { return 1, nil })
			return err
		},
	} {
		x := newTrial(t, nil)
		r := x.guard.Serve(t.Context(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
			AttemptFrom(ctx).Compensate()
			return &Response{Status: 500, Body: []byte("never")}, step(ctx)
		})
		x.want(what, r, 500, "")
		if r := x.record(); r.Status != Completed || x.store.calls["checkpoint"] > 1 {
			t.Errorf("%s: %s, %v", what, r.Status, x.store.calls)
		}
	}
}

// TestCompensateWithheld: a response that is kept out of the record is kept out of its steps too.
func TestCompensateWithheld(t *testing.T) {
	x := newTrial(t, nil)
	fails := true
	run := func(ctx context.Context) (*Response, error) {
		_, err := Step(ctx, "a", func(context.Context, *StepRun) (int, error) { return 1, nil }, Undo(func(context.Context, *StepRun, int) error {
			if fails {
				return errors.New("not now")
			}
			return nil
		}))
		AttemptFrom(ctx).Compensate()
		AttemptFrom(ctx).Withhold()
		return &Response{Status: 409, Body: []byte("secret")}, err
	}
	serve := func() *Response { return x.guard.Serve(t.Context(), post("k", "{}"), run) }
	x.want("undo fails", serve(), 500, "handler-failed")
	var recorded failedAnswer
	if err := json.Unmarshal(x.record().Steps[1].Result, &recorded); err != nil || recorded.Status != 409 || strings.Contains(string(recorded.Body), "secret") {
		t.Errorf("recorded: %d %s, %v", recorded.Status, recorded.Body, err)
	}
	fails = false
	x.want("goes on", serve(), 409, "response-not-stored")
	x.want("replay", serve(), 409, "response-not-stored")
}
