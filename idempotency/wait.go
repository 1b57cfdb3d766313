package idempotency

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstPoll = 25 * time.Millisecond
	maxPoll   = 400 * time.Millisecond
)

// wait is the patience of a request that found another attempt at work.
type wait struct {
	until time.Time
	pause time.Duration
}

func newWait(d time.Duration, now time.Time) wait { return wait{until: now.Add(d), pause: firstPoll} }

// sleep pauses before the next poll: each time half as long again, jittered. It returns false when the patience is over
// or the context's deadline leaves no time for a poll.
func (w *wait) sleep(ctx context.Context, now func() time.Time) bool {
	pause := w.pause/2 + rand.N(w.pause)
	w.pause = min(w.pause*3/2, maxPoll)
	at := now().Add(pause)
	if deadline, ok := ctx.Deadline(); at.After(w.until) || ok && at.Add(readBudget).After(deadline) {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
