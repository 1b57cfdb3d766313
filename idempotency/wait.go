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

// wait is the patience of a request that found another attempt at work. It begins with the first pause.
type wait struct {
	limit time.Duration
	until time.Time
	pause time.Duration
}

func newWait(limit time.Duration) wait { return wait{limit: limit, pause: firstPoll} }

// sleep pauses before the next poll: each time half as long again, jittered. It returns false when the patience is over
// or the context's deadline leaves no time for a poll.
func (w *wait) sleep(ctx context.Context, now time.Time) bool {
	if w.until.IsZero() {
		w.until = now.Add(w.limit)
	}
	pause := w.pause/2 + rand.N(w.pause)
	w.pause = min(w.pause*3/2, maxPoll)
	at := now.Add(pause)
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
