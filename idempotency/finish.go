package idempotency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// run calls the handler with the claim held, and finishes what it began. Where an orphan was taken over, the recovery
// function may come first.
func (t *Attempt) run(ctx context.Context, run RunHandler) answer {
	if t.tookOrphan && t.guard.cfg.Orphans == Recover && !t.record.Compensating() {
		if found := t.recover(ctx); found != nil {
			return *found
		}
	}
	r, cut, err := t.work(ctx, &t.handlerCtx, run)
	switch {
	case err == errNoTime:
		return *t.unavailable(ctx, err)
	case r == nil && err == nil:
		err = errors.New("the handler returned neither a response nor an error")
	}
	return t.finish(ctx, cut, r, err)
}

// recover calls the recovery function. It returns nil where the handler may run: then nothing remains of what the function
// has enlisted or said of a response.
func (t *Attempt) recover(ctx context.Context) *answer {
	t.recovering = true
	r, cut, err := t.work(ctx, new(attemptContext), t.guard.cfg.Recover)
	switch {
	case err == errNoTime:
		return t.unavailable(ctx, err)
	case r != nil || err != nil:
		a := t.finish(ctx, cut, r, err)
		return &a
	case cut != nil:
		return t.unavailable(ctx, cut)
	}
	t.recovering = false
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enlisted, t.disposition, t.withheld, t.compensate = nil, 0, false, false
	return nil
}

// work runs a function of the endpoint within the lease, in a context of its own. The lease is asked anew each time: the
// machine may have stood still, which the timer of an earlier context does not know. cut says why the context ended
// before the function returned, if it did.
func (t *Attempt) work(ctx context.Context, hctx *attemptContext, run RunHandler) (r *Response, cut, err error) {
	now := t.guard.cfg.Now()
	if !t.startable(now) {
		return nil, nil, errNoTime
	}
	limited, end := t.limit(ctx, now)
	defer end()
	t.stop = end
	*hctx = attemptContext{limited, t, handlerKey{}}
	r, err = t.call(hctx, now, run)
	return r, context.Cause(limited), err
}

// limit makes a context that ends the completion's budget before the deadline; where the lease is renewed, it ends when
// that fails.
func (t *Attempt) limit(ctx context.Context, now time.Time) (limited context.Context, end func()) {
	if !t.renews(ctx) {
		return context.WithTimeout(ctx, t.deadline.Add(-t.budget).Sub(now))
	}
	limited, cancel := context.WithCancelCause(ctx)
	r := t.startRenewing(ctx, now, cancel)
	return limited, func() { r.end(); cancel(nil) }
}

// call runs the handler, and the undos that its answer calls for.
func (t *Attempt) call(hctx context.Context, start time.Time, run RunHandler) (*Response, error) {
	defer func() { t.handlerTook += t.guard.cfg.Now().Sub(start) }()
	r, err := run(hctx)
	if !t.recovering {
		t.mu.Lock()
		t.returned = true
		t.mu.Unlock()
	}
	if err == nil && r != nil {
		r, err = t.own(r)
	}
	return t.afterHandler(hctx, r, err)
}

// own is a response of the handler's as it is sent and recorded. The handler's stays as it is: it may be shared.
func (t *Attempt) own(r *Response) (*Response, error) {
	if r.Status < 200 || r.Status > 999 {
		return nil, fmt.Errorf("the handler answered with status %d, which is none that ends a request", r.Status)
	}
	header, dropped := sendable(r.Header)
	if dropped > 0 {
		t.guard.cfg.Logger.Warn("idempotency: response headers with CR or LF dropped", "id", t.id, "headers", dropped)
	}
	return &Response{Status: r.Status, Header: header, Body: r.Body}, nil
}

// finish settles the claim as the handler's result says. cut is why its context ended before it returned, if it did.
func (t *Attempt) finish(ctx context.Context, cut error, r *Response, err error) answer {
	if seen, yes := t.fenced(); yes {
		return t.lost(ctx, seen)
	}
	if err != nil {
		return t.fail(ctx, err)
	}
	disposition := t.dispose(r)
	if cut != nil && disposition == Keep {
		// The handler was cut off: what it returned may be only half of what it did.
		a := t.unanswered()
		a.outcome, a.err = OutcomeOrphaned, fmt.Errorf("the handler returned after its context had ended: %w", cut)
		return t.doubt(ctx, a)
	}
	switch {
	case disposition == Keep:
		return t.complete(ctx, r)
	case disposition == Doubt || cut != nil:
		return t.doubt(ctx, answer{outcome: OutcomeOrphaned, response: r})
	}
	return t.settle(ctx, t.release(ctx), answer{outcome: OutcomeReleased, response: r})
}

// fail settles the claim of a handler that returned an error: it is orphaned, unless the handler has said that it did
// nothing that matters.
func (t *Attempt) fail(ctx context.Context, err error) answer {
	a := t.failure(err)
	if t.dispose(nil) == LetGo {
		a.outcome = OutcomeReleased
		return t.settle(ctx, t.release(ctx), a)
	}
	return t.doubt(ctx, a)
}

// failure is the answer to a handler that returned an error.
func (t *Attempt) failure(err error) answer {
	p := handlerFailed
	p.Retryable = t.guard.cfg.Orphans != Refuse
	a := t.problem(OutcomeOrphaned, p, 0)
	a.err = err
	if t.undoFailures > 0 {
		a.outcome = OutcomeUncompensated
	}
	return a
}

// doubt orphans the claim.
func (t *Attempt) doubt(ctx context.Context, a answer) answer { return t.settle(ctx, t.orphan(ctx), a) }

// settle gives the answer, unless letting go was refused because a completion of this attempt has landed after all:
// then the recorded response is the answer.
func (t *Attempt) settle(ctx context.Context, err error, a answer) answer {
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Record.completedBy(t.asker.Owner) {
		return t.mine(ctx, refused.Record)
	}
	return a
}

// complete records the response, together with the enlisted writes, and answers with it.
func (t *Attempt) complete(ctx context.Context, r *Response) answer {
	t.mu.Lock()
	enlisted := t.enlisted
	t.mu.Unlock()
	err := t.keep(ctx, t.recordableOf(r), enlisted)
	if err == nil {
		return answer{outcome: OutcomeFirst, response: r}
	}
	return t.notKept(ctx, r, err, len(enlisted) > 0)
}

// notKept answers where a completion was refused or failed.
func (t *Attempt) notKept(ctx context.Context, r *Response, err error, transacted bool) answer {
	var business *BusinessError
	if errors.As(err, &business) {
		if business.Answer == nil {
			return t.doubt(ctx, t.failure(err))
		}
		answered, invalid := t.own(business.Answer)
		if invalid != nil {
			return t.doubt(ctx, t.failure(invalid))
		}
		r = answered
		err = t.keep(ctx, recordedForm(r), nil)
	}
	var refused *RefusedError
	switch {
	case err == nil:
		return answer{outcome: OutcomeFirst, response: r}
	case errors.As(err, &refused):
		return t.lost(ctx, refused.Record)
	case transacted:
		return t.lookUp(ctx, err)
	}
	return answer{outcome: OutcomeNotRecorded, response: r, err: err}
}

// keep writes the completion, within the first three quarters of the budget. What is left is for a look at the
// record where the write is not answered.
func (t *Attempt) keep(ctx context.Context, r Response, enlisted []any) error {
	limited := newTimeout(context.WithoutCancel(ctx), t.budget*3/4)
	defer limited.end()
	now := t.guard.cfg.Now()
	t.kept = r
	return t.guard.cfg.Store.Complete(limited, Completion{Held: &t.record, Response: &t.kept, Enlisted: enlisted,
		CompletedAt: floorMillis(now), ExpiresAt: ceilSeconds(now.Add(t.guard.cfg.Retention))})
}

// lookUp answers for a transaction whose outcome is not known: one read, and if that does not tell either, the
// truth. Never the handler's response, and never a release: the transaction may still land.
func (t *Attempt) lookUp(ctx context.Context, cause error) answer {
	limited := newTimeout(context.WithoutCancel(ctx), max(t.budget/4, min(readBudget, t.deadline.Sub(t.guard.cfg.Now()))))
	defer limited.end()
	seen, err := t.guard.cfg.Store.Get(limited, t.id)
	if err != nil || seen.held(t.asker.Owner) {
		a := t.unanswered()
		a.err = errors.Join(cause, err)
		return a
	}
	return t.lost(ctx, seen)
}

// lost answers where the completion was refused: it was this attempt's own, whose acknowledgement was lost, or the
// attempt is fenced. A fenced attempt's result is dropped; the record that stands decides, but is not taken over.
func (t *Attempt) lost(ctx context.Context, seen *Record) answer {
	if seen.completedBy(t.asker.Owner) {
		return t.mine(ctx, seen)
	}
	d := Decide(seen, t.asker, t.guard.cfg.Now())
	switch d {
	case DecideClaim:
		d = DecideUnknown // the item is gone
	case DecideTakeover:
		d = DecideInProgress
	case DecideHold:
		return t.unanswered()
	}
	a := *t.turnAway(context.WithoutCancel(ctx), d, seen)
	err := errors.Join(errors.New("the claim was lost while the handler ran"), a.err)
	if a.outcome == OutcomeStoreError {
		a = t.unanswered() // whoever has the claim now, this handler has run
	}
	a.outcome, a.err = OutcomeFenced, err
	return a
}

// mine answers with this attempt's own recorded response, or with the one that it keeps out of the record.
func (t *Attempt) mine(ctx context.Context, seen *Record) answer {
	r, err := t.recorded(context.WithoutCancel(ctx), seen)
	if err != nil {
		a := t.unanswered()
		a.err = err
		return a
	}
	if w := t.instead; w != nil && bytes.Equal(r.Body, w.recorded.Body) {
		r = w.real
	}
	return answer{outcome: OutcomeFirst, response: r}
}

// unanswered says that nobody knows yet whether the request took effect. The client may ask again when the lease is
// over.
func (t *Attempt) unanswered() answer {
	return t.problem(OutcomeUnanswered, outcomeUnanswered, max(t.record.LeaseUntil.Sub(t.guard.cfg.Now()), time.Second))
}

// letGo gives back a claim that is, or may be, held before the handler has run. It is released, unless it was or may
// have been taken from a processing record: what was an orphan stays one.
func (t *Attempt) letGo(ctx context.Context) {
	if t.tookOrphan {
		t.orphan(ctx)
		return
	}
	t.release(ctx)
}

// release gives the claim back, best effort. A record with steps stays as long as they do: the next attempt must not take
// them again.
func (t *Attempt) release(ctx context.Context) error {
	limited := newTimeout(context.WithoutCancel(ctx), letGoBudget)
	defer limited.end()
	expires := ceilSeconds(t.guard.cfg.Now().Add(t.guard.cfg.Retention))
	if len(t.record.Steps) > 0 {
		expires = t.stepsUntil()
	}
	return t.guard.cfg.Store.Release(limited, Release{ID: t.id, Owner: t.asker.Owner, ExpiresAt: expires})
}

// orphan ends the lease, best effort.
func (t *Attempt) orphan(ctx context.Context) error {
	limited := newTimeout(context.WithoutCancel(ctx), letGoBudget)
	defer limited.end()
	return t.guard.cfg.Store.Orphan(limited, Orphaning{ID: t.id, Owner: t.asker.Owner, UndoFailures: t.undoFailures})
}
