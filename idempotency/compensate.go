package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// Names of what compensation records after the handler's steps. Handlers cannot give a step such a name.
const (
	failedStep = "failed:" // the answer to the operation that failed; with it, compensation begins
	undoPrefix = "undo:"   // and the name of the step that is taken back
)

// Compensate declares that the response which the handler is about to return is a final failure: before it is recorded,
// the undos of the recorded steps run in reverse, each a recorded step of its own. The response is recorded whatever its
// status.
//
// The declaration itself is recorded first, with the response, if there is anything to undo. From then on the operation
// cannot succeed any more: where an undo fails or the process dies, the next attempt's handler gets the recorded results
// of its steps, and [ErrCompensating] from every other step; then the undos go on where they stopped, and the response
// that was declared is recorded, whatever the handler returns. Of the writes that the handler enlists with the response, such
// an attempt commits those of a handler that calls Compensate again; what must go with the failure belongs into an undo.
//
// It is the handler that declares a failure: the recovery function does not know the undos.
//
// A step that failed is not undone, since it is not recorded: declare a failure final only when its effect is known. Undos
// run within the handler's time, and may run again after a crash: give what they call [StepRun.Key], which differs from
// that of their step.
func (t *Attempt) Compensate() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.compensate, t.disposition = true, Keep
}

// taken are the steps of the handler that are recorded, and whether compensation has begun.
func (r *Record) taken() (steps []RecordedStep, compensating bool) {
	n := slices.IndexFunc(r.Steps, func(s RecordedStep) bool { return s.Name == failedStep })
	if n < 0 {
		return r.Steps, false
	}
	return r.Steps[:n], true
}

// Compensating reports whether the operation has failed for good, and the undos of its steps have begun: see
// [Attempt.Compensate].
func (r *Record) Compensating() bool {
	_, compensating := r.taken()
	return compensating
}

// afterHandler looks at what the handler returned in the light of the recorded steps: it compensates where that is called
// for, and refuses an answer for good of a handler that has not come to all of them.
func (t *Attempt) afterHandler(ctx context.Context, r *Response, err error) (*Response, error) {
	switch {
	case t.recovering && t.compensates() && r != nil:
		return nil, errors.New("idempotency: the recovery function called Compensate, but the undos are the handler's: let it return nil, so that the handler runs and calls it")
	case t.recovering, t.log == nil && len(t.record.Steps) == 0:
		return r, err
	}
	l := t.steps()
	if !l.running.TryLock() {
		return nil, errors.New("idempotency: the handler returned while a step was running")
	}
	defer l.running.Unlock()
	recorded, compensating := t.record.taken()
	final := err == nil && r != nil && t.dispose(r) == Keep
	missed := len(l.undos) < len(recorded)
	switch {
	case l.fatal != nil || !compensating && (!final || ctx.Err() != nil):
		return r, err // nothing more can be recorded, or nothing will be
	case missed && err == nil:
		err = fmt.Errorf("%w: the handler ended after %d of the %d steps of record %s", ErrStepsChanged, len(l.undos), len(recorded), t.id)
	}
	switch {
	case missed && compensating:
		return nil, t.uncompensated(err)
	case missed:
		return nil, err
	case compensating:
		return t.resumeUndoing(ctx)
	case t.compensates() && slices.ContainsFunc(l.undos, func(u undoFunc) bool { return u != nil }):
		return t.beginUndoing(ctx, r)
	}
	return r, nil
}

// beginUndoing records the answer of an operation that failed for good, and then undoes its steps.
func (t *Attempt) beginUndoing(ctx context.Context, r *Response) (*Response, error) {
	raw, err := json.Marshal(failedAnswer(t.recordableOf(r)))
	if err != nil {
		return nil, fmt.Errorf("idempotency: the answer of the failed operation: %w", err)
	}
	if err := t.checkpoint(ctx, RecordedStep{Name: failedStep, Result: raw}, nil); err != nil {
		return nil, err
	}
	return r, t.undo(ctx)
}

// resumeUndoing goes on where an earlier attempt stopped. The answer is the one that was recorded.
func (t *Attempt) resumeUndoing(ctx context.Context) (*Response, error) {
	recorded, _ := t.record.taken()
	raw, err := t.resultOf(ctx, len(recorded))
	if err != nil {
		return nil, t.uncompensated(err)
	}
	var answer failedAnswer
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, t.uncompensated(fmt.Errorf("the recorded answer of the failed operation: %w", err))
	}
	t.mu.Lock()
	if !t.compensate {
		t.enlisted = nil // they were to go with another answer
	}
	t.disposition, t.withheld = Keep, false
	t.mu.Unlock()
	r, err := t.own((*Response)(&answer))
	if err != nil {
		return nil, t.uncompensated(err)
	}
	return r, t.undo(ctx)
}

// failedAnswer is a response as JSON.
type failedAnswer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`
}

// undo undoes the recorded steps, the last one first, but for those that are undone already. An attempt that cannot go
// on leaves the rest to the next one.
func (t *Attempt) undo(ctx context.Context) error {
	t.countFailure() // until it comes to the end: an undo may panic
	recorded, _ := t.record.taken()
	for i, s := range slices.Backward(recorded) {
		name := undoPrefix + s.Name
		done := slices.ContainsFunc(t.record.Steps, func(s RecordedStep) bool { return s.Name == name })
		if undo := t.log.undos[i]; undo == nil || done {
			continue
		}
		switch err := t.undoStep(ctx, name, i); {
		case errors.Is(err, ErrFenced):
			return err
		case err != nil:
			return t.uncompensated(fmt.Errorf("%s: %w", name, err))
		}
	}
	t.undoFailures = 0
	return nil
}

// undoStep undoes the i-th step, and records that.
func (t *Attempt) undoStep(ctx context.Context, name string, i int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	raw, err := t.resultOf(ctx, i)
	if err != nil {
		return err
	}
	s := &StepRun{attempt: t, name: name}
	if err := t.log.undos[i](&stepContext{ctx, s}, s, raw); err != nil {
		return err
	}
	return t.checkpoint(ctx, RecordedStep{Name: name, Result: []byte("null")}, s.end())
}

// compensates reports whether the handler has declared that the operation failed.
func (t *Attempt) compensates() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.compensate
}

// uncompensatedError says that the undos of an operation have not come to their end.
type uncompensatedError struct{ cause error }

func (e *uncompensatedError) Error() string {
	return "idempotency: the operation failed, and its steps are not all undone; the next attempt goes on: " + e.cause.Error()
}

func (e *uncompensatedError) Unwrap() error { return e.cause }

// uncompensated counts an attempt that could not undo the operation's steps.
func (t *Attempt) uncompensated(cause error) error {
	t.countFailure()
	return &uncompensatedError{cause}
}

func (t *Attempt) countFailure() { t.undoFailures = t.record.UndoFailures + 1 }
