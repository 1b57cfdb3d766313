package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of recorded steps.
const (
	MaxStepResult = 256 << 10 // bytes of a result as JSON
	MaxSteps      = 100       // of one operation, beside their undos
)

// Errors of [Step].
var (
	// ErrStepsChanged says that the handler does not take the steps that an earlier attempt has recorded: the code has
	// changed since. Nothing ran. Deploy code that takes the recorded steps, in their order, or resolve the record.
	ErrStepsChanged = errors.New("idempotency: the handler's steps are not those that were recorded")
	// ErrCompensating says that compensation of the operation has begun: no step runs any more but the undos. The answer
	// is recorded already; whatever the handler returns now is dropped.
	ErrCompensating = errors.New("idempotency: the operation is being compensated")
	// ErrNoAttempt says that there is no attempt in the context, in which a step could be recorded: the request runs
	// without a key, or the context is not the handler's.
	ErrNoAttempt = errors.New("idempotency: the context carries no guarded attempt")
	// ErrFenced says that another attempt has the claim: what the step did is not recorded, its enlisted writes are not
	// committed, and the handler's context has ended.
	ErrFenced = errors.New("idempotency: another attempt has the claim")
)

// Step runs fn once per key, and records its result before it returns: a later attempt with the key, after a crash or
// another failure, gets the recorded result without running fn. What comes back has been through JSON on every attempt.
//
// A name has 1 to 64 letters, digits, dots, hyphens and underscores; a handler uses each once. Steps run one after the other,
// and every attempt takes the same ones in the same order, as far as they are recorded: else Step returns an error that
// matches [ErrStepsChanged], and nothing runs. So what a handler does next must follow from the request and the results of
// its steps. A failure that leads elsewhere belongs into the result.
//
// An fn that fails records nothing, and its error comes back as it is; the next attempt runs it again. So does the one
// after a crash within fn: fn takes effect exactly once only through the key of [StepRun.Key], or by a write that is
// enlisted with fn's context, which is committed together with the checkpoint. Where such a write is refused, nothing is
// recorded, and the error is a [*BusinessError]: its Answer is what fn gave for conditions that do not hold, and nil where
// fn gave nothing, or the write is wrong in itself.
//
// Every other error means that the step is not recorded. A step that was refused before it ran, over its name say, leaves
// the handler as it was. Where it has run and cannot be recorded, the handler's context has ended, and no further step runs
// in this attempt. A result has at most [MaxStepResult] bytes, and must come back from its JSON form.
func Step[T any](ctx context.Context, name string, fn func(context.Context, *StepRun) (T, error), opts ...StepOption[T]) (result T, err error) {
	t := AttemptFrom(ctx)
	if t == nil {
		return result, ErrNoAttempt
	}
	var o stepOptions[T]
	for _, set := range opts {
		set(&o)
	}
	raw, err := t.step(ctx, name, func(ctx context.Context, s *StepRun) (raw []byte, failed, unfit error) {
		made, err := fn(ctx, s)
		if err != nil {
			return nil, err, nil
		}
		raw, err = writeResult[T](name, made)
		return raw, nil, err
	}, o.compensation())
	if err != nil {
		return result, err
	}
	err = readResult(name, raw, &result)
	return result, err
}

// StepOption changes how [Step] treats a step with a result of type T.
type StepOption[T any] func(*stepOptions[T])

type stepOptions[T any] struct {
	undo func(context.Context, *StepRun, T) error
}

// Undo registers how a step is taken back, given its recorded result. See [Attempt.Compensate].
func Undo[T any](fn func(context.Context, *StepRun, T) error) StepOption[T] {
	return func(o *stepOptions[T]) { o.undo = fn }
}

// compensation is the undo for a result as it is recorded; nil where there is none.
func (o *stepOptions[T]) compensation() undoFunc {
	if o.undo == nil {
		return nil
	}
	return func(ctx context.Context, s *StepRun, raw []byte) error {
		var result T
		if err := readResult(strings.TrimPrefix(s.name, undoPrefix), raw, &result); err != nil {
			return err
		}
		return o.undo(ctx, s, result)
	}
}

func readResult(name string, raw []byte, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("idempotency: the recorded result of step %q is of another type: %w", name, err)
	}
	return nil
}

// writeResult is a result as it is recorded. What could not be read back is an error: the next attempt would fail over it.
func writeResult[T any](name string, result T) ([]byte, error) {
	raw, err := json.Marshal(result)
	var back T
	switch {
	case err != nil:
		return nil, fmt.Errorf("idempotency: the result of step %q cannot be recorded: %w", name, err)
	case !utf8.Valid(raw):
		return nil, fmt.Errorf("idempotency: the result of step %q cannot be recorded: it holds text that is not UTF-8", name)
	case len(raw) > MaxStepResult:
		return nil, fmt.Errorf("idempotency: the result of step %q has %d bytes as JSON and was not recorded; the limit is %d: keep the data elsewhere, and let the result say where",
			name, len(raw), MaxStepResult)
	}
	if err := json.Unmarshal(raw, &back); err != nil {
		return nil, fmt.Errorf("idempotency: the result of step %q cannot be recorded: a %T does not come back from JSON: %w", name, result, err)
	}
	return raw, nil
}

type (
	// stepFunc runs a step: failed is its own error, unfit says that it ran and why its result cannot be recorded.
	stepFunc func(context.Context, *StepRun) (raw []byte, failed, unfit error)
	undoFunc func(ctx context.Context, s *StepRun, raw []byte) error
)

// StepRun is a step, or the undo of one, that is running.
type StepRun struct {
	attempt  *Attempt
	name     string
	enlisted []any // guarded by attempt.mu
	over     bool  // guarded by attempt.mu
}

// Name is the step's name; an undo's is "undo:" and the name of its step.
func (s *StepRun) Name() string { return s.name }

// Key is a key for the call that the step makes to another system, as [Attempt.DeriveKey] derives it from the name: the
// same on every attempt.
func (s *StepRun) Key() string { return s.attempt.DeriveKey(s.name) }

// Epoch is the fencing number of the attempt: see [Attempt.Epoch].
func (s *StepRun) Epoch() int64 { return s.attempt.Epoch() }

// stepContext is the context of a step's function.
type stepContext struct {
	context.Context
	run *StepRun
}

type stepKey struct{}

// Value implements [context.Context].
func (c *stepContext) Value(key any) any {
	if key == (stepKey{}) {
		return c.run
	}
	return c.Context.Value(key)
}

// Enlist gives the store a write, in the store's own type, to commit together with what is recorded next: in a step's
// context its checkpoint, else the response. All or nothing: it is dropped if that is not recorded. It reports whether there
// is an attempt in the context, and the step is not over. Handlers call the Enlist function of the store's package.
func Enlist(ctx context.Context, write any) bool {
	t := AttemptFrom(ctx)
	if t == nil {
		return false
	}
	s, ok := ctx.Value(stepKey{}).(*StepRun)
	if !ok || s.attempt != t {
		t.Enlist(write)
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.over {
		return false
	}
	s.enlisted = append(s.enlisted, write)
	return true
}
