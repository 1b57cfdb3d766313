// Package simulation plays many clients against one database on fake time, with everything going wrong that can:
// crashes, lost and late answers, throttling, clocks that differ and jump, machines that stand still or are cut off,
// deletion by TTL. The guard, its DynamoDB store and the SDK are the real ones; the database is integration/dynamofake,
// reached without a socket.
//
// A run is made from one number, its seed, and a seed always plays the same run. Goroutines are not seeded, so one
// scheduler decides everything: every call to the database stops at [wire], every handler at [attempt.work], and when
// all of them wait, the scheduler draws what happens next. Between two of its decisions at most one client moves, but
// for timers.
//
// While a run goes on and when it is over, the invariants of [Violation] are checked. Each call that the database does is
// also compared with the Apply method of the write that it stands for.
package simulation

import (
	"context"
	"testing"
	"testing/synctest"

	"firstwriter/idempotency"
)

// Flaw is a mistake built into a run from outside, to prove that runs find mistakes. The zero value is none.
type Flaw struct {
	Name string
	// Store stands between a guard and its store.
	Store func(idempotency.Store) idempotency.Store
	// Request changes the body of a request before the database gets it.
	Request func(op kind, body []byte) []byte
	// Compare compares calls with the specification all the same. Otherwise, what goes wrong for callers must show.
	Compare bool
}

// Result is what a run came to.
type Result struct {
	Seed       uint64
	Violations []Violation
	History    []string
	Attempts   int
	Told       map[string]int // how often callers were told what, with the guard's outcome
}

// Play plays a seed, in a bubble of its own.
func Play(t *testing.T, seed uint64, flaw Flaw) (result Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, err := newWorld(t.Context(), seed, flaw)
		if err != nil {
			t.Fatal(err)
		}
		defer w.server.Close()
		w.play()
		w.close(t.Context())
		result = Result{Seed: seed, Violations: w.violations, History: w.history, Attempts: len(w.attempts), Told: w.told}
	})
	return result
}

// close checks what can be checked at the end.
func (w *world) close(ctx context.Context) {
	if len(w.violations) == 0 {
		w.epilogue()
	}
	if len(w.violations) == 0 {
		w.checkBusiness(ctx)
	}
	for _, l := range w.ledgers {
		w.settled(l)
	}
}
