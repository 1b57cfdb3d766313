package storetest

import (
	"context"
	"strings"
	"testing"

	"firstwriter/idempotency"
)

// TestMemory: the memory store passes: F01, F07, F11, F12, F14, F18, F21, F22, F23, F33, F46, F48, F79, F84, F85, F86, F87, F91 and
// F98.
func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) idempotency.Store { return &idempotency.Memory{} }, committing)
}

// committing enlists what the memory store commits.
func committing(o *Options) {
	o.Enlisted = func(string) (any, func(context.Context) (bool, error)) {
		done := false
		return func() { done = true }, func(context.Context) (bool, error) { return done, nil }
	}
}

// TestHonest: the store that the flaws below are built into has none of its own, so that what is found is the flaw.
func TestHonest(t *testing.T) {
	s := newFlawed(nil)
	Run(t, func(*testing.T) idempotency.Store { return s }, s.options)
}

// TestFlawsAreFound breaks a store in one place after the other. The named check must notice.
func TestFlawsAreFound(t *testing.T) {
	for _, f := range flaws {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newFlawed(f.build)
			err := Check(t.Context(), s, s.options)
			if err == nil {
				t.Fatal("passes the suite")
			}
			if !strings.Contains(err.Error(), f.found) {
				t.Errorf("is found, but not by %q:\n%v", f.found, err)
			}
		})
	}
}

// TestHistoriesFindRaces: flaws that only concurrency shows are found by the search alone.
func TestHistoriesFindRaces(t *testing.T) {
	for _, f := range flaws {
		if !f.racy {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for range 20 {
				if checkHistories(newProbe(t.Context(), newFlawed(f.build), options(nil))) != nil {
					return
				}
			}
			t.Error("800 histories look linearizable")
		})
	}
}

// TestResends: an answer that hides an earlier effect of the same call is explained where calls are sent again, and not
// where they are not.
func TestResends(t *testing.T) {
	p := newProbe(t.Context(), &idempotency.Memory{}, options(nil))
	r := newRecord("id", "A", p.t0)
	mine := r
	history := []event{{call: claim(r, p.t0), began: 1, ended: 2, result: result{kind: refused, record: &mine}}}
	if err := explain(history, true); err != nil {
		t.Errorf("with resends: %v", err)
	}
	if err := explain(history, false); err == nil {
		t.Error("without resends, a first claim may be refused by its own record")
	}
}

// TestOpenCalls: a call without an answer may take effect late, or never, but not before it was sent.
func TestOpenCalls(t *testing.T) {
	p := newProbe(t.Context(), &idempotency.Memory{}, options(nil))
	r := newRecord("id", "A", p.t0)
	read := func(at int64, found *idempotency.Record) event {
		return event{call: call{name: "read", id: "id"}, began: at, ended: at, result: result{kind: accepted, record: found}}
	}
	lost := event{call: claim(r, p.t0), began: 10, ended: 20, result: result{kind: unknown}}
	for _, c := range []struct {
		name   string
		events []event
		fine   bool
	}{
		{"never", []event{lost, read(30, nil)}, true},
		{"late", []event{lost, read(30, nil), read(40, &r)}, true},
		{"and again", []event{lost, read(30, &r), read(40, nil)}, false},
		{"before it was sent", []event{read(5, &r), lost}, false},
	} {
		if err := explain(c.events, false); (err == nil) != c.fine {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
