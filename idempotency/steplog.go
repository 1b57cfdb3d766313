package idempotency

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// stepLog is how far an attempt's handler has come in its steps. The steps themselves are in the attempt's record.
type stepLog struct {
	running sync.Mutex // held while a step is running: steps come one after the other

	// The rest is guarded by running.
	undos []undoFunc // of the steps that the handler has come to, in their order; nil: nothing to undo
	fatal error      // why no step can be recorded any more
	seen  *Record    // the record that fenced the attempt off
}

// steps is the attempt's log, made when the handler first asks for a step.
func (t *Attempt) steps() *stepLog {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.log == nil {
		t.log = &stepLog{}
	}
	return t.log
}

// step runs one of the handler's steps, or returns its recorded result.
func (t *Attempt) step(ctx context.Context, name string, fn stepFunc, undo undoFunc) (raw []byte, err error) {
	l := t.steps()
	if !l.running.TryLock() {
		return nil, fmt.Errorf("idempotency: step %q began while another step was running; steps come one after the other", name)
	}
	defer l.running.Unlock()
	switch {
	case l.fatal != nil:
		return nil, l.fatal
	case t.hasReturned():
		return nil, fmt.Errorf("idempotency: step %q began after the handler had returned", name)
	case t.recovering:
		return nil, fmt.Errorf("idempotency: step %q: steps belong to the handler, not to the recovery function", name)
	}
	recorded, compensating := t.record.taken()
	switch n := len(l.undos); {
	case n < len(recorded) && recorded[n].Name != name:
		return nil, fmt.Errorf("%w: step %d is %q now and was %q; take the recorded steps, in their order, or resolve record %s",
			ErrStepsChanged, n+1, name, recorded[n].Name, t.id)
	case n < len(recorded):
		raw, err = t.resultOf(ctx, n)
	case compensating:
		return nil, ErrCompensating
	default:
		raw, err = t.takeStep(ctx, name, fn)
	}
	if err == nil {
		l.undos = append(l.undos, undo)
	}
	return raw, err
}

// takeStep runs a step that is not recorded, and records it.
func (t *Attempt) takeStep(ctx context.Context, name string, fn stepFunc) ([]byte, error) {
	switch {
	case !isStepName(name):
		return nil, fmt.Errorf("idempotency: step name %q: want 1 to 64 letters, digits, dots, hyphens and underscores", name)
	case slices.ContainsFunc(t.record.Steps, func(s RecordedStep) bool { return s.Name == name }):
		return nil, fmt.Errorf("idempotency: step %q is recorded already; give each step of a handler a name of its own", name)
	case len(t.record.Steps) >= MaxSteps:
		return nil, fmt.Errorf("idempotency: step %q: an operation has at most %d steps", name, MaxSteps)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	s := &StepRun{attempt: t, name: name}
	raw, failed, unfit := fn(&stepContext{ctx, s}, s)
	enlisted := s.end()
	switch {
	case failed != nil:
		return nil, failed
	case unfit != nil:
		return nil, t.giveUp(unfit)
	}
	if err := t.checkpoint(ctx, RecordedStep{Name: name, Result: raw}, enlisted); err != nil {
		return nil, err
	}
	return t.resultOf(ctx, len(t.record.Steps)-1)
}

// end ends the step, and returns what was enlisted in it.
func (s *StepRun) end() []any {
	s.attempt.mu.Lock()
	defer s.attempt.mu.Unlock()
	s.over = true
	return s.enlisted
}

// giveUp says that no step can be recorded any more, and stops the handler.
func (t *Attempt) giveUp(why error) error {
	t.log.fatal = why
	t.stop()
	return why
}

// isStepName reports whether handlers may give a step this name. It leaves out the colon, which the names of undos have.
func isStepName(name string) bool {
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '_') {
			return false
		}
	}
	return 0 < len(name) && len(name) <= 64
}

// resultOf is the recorded result of the i-th step.
func (t *Attempt) resultOf(ctx context.Context, i int) ([]byte, error) {
	if s := &t.record.Steps[i]; s.Result == nil {
		limited := newTimeout(ctx, readBudget)
		defer limited.end()
		if err := t.guard.cfg.Store.LoadStep(limited, &t.record, i); err != nil {
			return nil, fmt.Errorf("idempotency: the recorded result of step %q: %w", s.Name, err)
		}
	}
	return t.record.Steps[i].Result, nil
}

// checkpoint records a step, on a budget of its own: what the step did is done, whether the handler has time left or not.
// Where that fails but for a business condition, nothing more can be recorded, and the handler is stopped.
func (t *Attempt) checkpoint(ctx context.Context, s RecordedStep, enlisted []any) error {
	limited := newTimeout(context.WithoutCancel(ctx), t.budget*3/4)
	defer limited.end()
	err := t.guard.cfg.Store.Checkpoint(limited, Checkpoint{Held: &t.record, Step: s, Enlisted: enlisted, Until: t.stepsUntil().Add(leaseToExpiry)})
	var business *BusinessError
	if errors.As(err, &business) {
		return err
	}
	if err != nil {
		s, err = t.recordedAfterAll(ctx, s, err)
	}
	if err != nil {
		return t.giveUp(err)
	}
	t.record.Steps = append(t.record.Steps, s)
	return nil
}

// LongRetention is how long recorded steps stay at least, after their last attempt, under the policies that keep orphans
// until somebody looks.
const LongRetention = 365 * 24 * time.Hour

// stepsUntil is until when the steps of an unfinished operation are kept, from now on.
func (t *Attempt) stepsUntil() time.Time {
	keep := max(orphanRetention, t.guard.cfg.Retention)
	if t.guard.cfg.Orphans != Rerun {
		keep = max(LongRetention, t.guard.cfg.Retention)
	}
	return ceilSeconds(t.guard.cfg.Now().Add(keep))
}

// recordedAfterAll looks for a checkpoint that was refused or not answered in the record that stands, and returns the step
// as it is recorded there: only this attempt writes under its owner token.
func (t *Attempt) recordedAfterAll(ctx context.Context, s RecordedStep, cause error) (RecordedStep, error) {
	var refused *RefusedError
	if !errors.As(cause, &refused) {
		limited := newTimeout(context.WithoutCancel(ctx), max(t.budget/4, readBudget))
		defer limited.end()
		seen, err := t.guard.cfg.Store.Get(limited, t.id)
		if err != nil {
			return s, fmt.Errorf("idempotency: it is not known whether step %q was recorded: %w", s.Name, errors.Join(cause, err))
		}
		refused = &RefusedError{Record: seen}
	}
	n := len(t.record.Steps)
	switch seen := refused.Record; {
	case !seen.held(t.asker.Owner):
		t.log.seen = seen
		return s, fmt.Errorf("%w: step %q was not recorded", ErrFenced, s.Name)
	case len(seen.Steps) > n && seen.Steps[n].Name == s.Name:
		return seen.Steps[n], nil
	}
	return s, fmt.Errorf("idempotency: it is not known whether step %q was recorded: %w", s.Name, cause)
}

// fenced reports whether the handler's last step met the record of another attempt, or none.
func (t *Attempt) fenced() (seen *Record, yes bool) {
	if t.log == nil || !t.log.running.TryLock() {
		return nil, false
	}
	defer t.log.running.Unlock()
	return t.log.seen, errors.Is(t.log.fatal, ErrFenced)
}
