package idempotency

import (
	"context"
	"errors"
	"time"
)

// renewEvery says how often the clock is looked at while a lease is renewed: often enough to notice that the machine
// stood still.
const renewEvery = time.Second

var errLeaseOver = errors.New("idempotency: the lease is over")

// renewal keeps the lease of a long run alive.
type renewal struct {
	attempt *Attempt
	until   time.Time // when the run must be over, renewed or not
	cancel  context.CancelCauseFunc
	stopped chan struct{} // closed when no call is under way any more
	stop    context.CancelFunc
}

// renews reports whether the attempt's lease is renewed: a context with a deadline, as in AWS Lambda, has its lease
// until then from the start.
func (t *Attempt) renews(ctx context.Context) bool {
	_, limited := ctx.Deadline()
	return !limited && t.guard.cfg.MaxRun > t.guard.cfg.Lease
}

// startRenewing renews until stop is called, and cancels the handler's context when the lease cannot be kept.
func (t *Attempt) startRenewing(ctx context.Context, now time.Time, cancel context.CancelCauseFunc) *renewal {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &renewal{attempt: t, until: now.Add(t.guard.cfg.MaxRun), cancel: cancel, stop: stop, stopped: make(chan struct{})}
	go r.loop(ctx)
	return r
}

// end stops renewing and waits for a call that is under way, so that no renewal meets the completion.
func (r *renewal) end() {
	r.stop()
	<-r.stopped
}

func (r *renewal) loop(ctx context.Context) {
	defer close(r.stopped)
	ticker := time.NewTicker(min(renewEvery, r.attempt.guard.cfg.Lease/6))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := r.tick(ctx); err != nil {
			r.cancel(err)
			return
		}
	}
}

// tick looks at the clock. It compares instants of the wall clock: a monotonic clock stands still while a machine is
// frozen, and others count the lease meanwhile.
func (r *renewal) tick(ctx context.Context) error {
	t, now := r.attempt, r.attempt.guard.cfg.Now().Round(0)
	cut := t.deadline.Add(-t.budget)
	switch {
	case !now.Before(cut) || !now.Before(r.until):
		return errLeaseOver
	case now.Before(t.deadline.Add(-2 * t.guard.cfg.Lease / 3)):
		return nil
	}
	return r.extend(ctx, now, cut)
}

// extend sends one renewal. One that is not answered until the run must be cut is given up, since nobody looks at the
// clock meanwhile; before that, it is sent again at the next tick.
func (r *renewal) extend(ctx context.Context, now, cut time.Time) error {
	t := r.attempt
	lease := ceilMillis(now.Add(t.guard.cfg.Lease + t.guard.cfg.Skew))
	ctx, cancel := context.WithTimeout(ctx, min(claimBudget, cut.Sub(now)))
	defer cancel()
	err := t.guard.cfg.Store.Extend(ctx, Extension{ID: t.id, Owner: t.asker.Owner, Known: t.record.LeaseUntil,
		LeaseUntil: lease, ExpiresAt: t.expiry(now, lease)})
	var refused *RefusedError
	switch {
	case err == nil:
		t.renewed(lease)
	case errors.As(err, &refused) && refused.Record.held(t.asker.Owner):
		t.renewed(refused.Record.LeaseUntil) // an earlier renewal landed, and its acknowledgement was lost
	case errors.As(err, &refused):
		return ErrFenced
	}
	return nil
}

// renewed notes the lease that the record has now. Nothing else reads it before renewing has ended.
func (t *Attempt) renewed(lease time.Time) {
	t.record.LeaseUntil = lease
	t.deadline = lease.Add(-t.guard.cfg.Skew)
}
