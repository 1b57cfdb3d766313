package httpclient

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"firstwriter/idempotency"
)

// Outcome is what became of an operation.
type Outcome struct {
	Key      string // without quotes
	Attempts int    // how often it was sent
	// Resends is how often net/http sent it once more within an attempt, by itself: it does so with requests that carry a
	// key, where a kept connection turns out to be dead. The key was the same, so it did no harm; but the answer does not speak
	// for the sending before it.
	Resends  int
	Status   int  // of the last answer; 0: there was none
	Replayed bool // the answer is the server's record of an earlier run
	Final    bool // the answer is the operation's own, or it was turned away for its credentials and had no effect
	// Unrecorded is why the journal does not know of a final answer. The operation stays unfinished there: to resume it is
	// harmless, the server then replays its answer.
	Unrecorded error
}

// Attempt is what one attempt came to.
type Attempt struct {
	Number   int // 1 is the first
	Status   int // 0: no answer
	Replayed bool
	Resends  int
	Problem  idempotency.Problem // of the answer; zero where it brought none that can be read
	Err      error               // why there is no answer
	Pause    time.Duration       // before the next attempt; meaningless where there is none
	Last     bool                // there is no next one
}

// Sentinels of the two errors of an operation that was given up.
var (
	ErrOutcomeUnknown = errors.New("the outcome is unknown")
	ErrNotDone        = errors.New("the operation had no effect")
)

// OutcomeUnknown is the error of an operation that was given up without knowing whether it took effect. Send it again
// later, unchanged and with the same key, to learn it. It matches [ErrOutcomeUnknown], and what it wraps.
type OutcomeUnknown struct {
	Outcome Outcome
	Problem idempotency.Problem // of the last answer; zero where it brought none that can be read
	Err     error               // why it was given up
}

// Error does not name the key, so that it can be logged.
func (e *OutcomeUnknown) Error() string {
	return fmt.Sprintf("httpclient: %v after %d attempts; send it again with the same key: %v", ErrOutcomeUnknown, e.Outcome.Attempts, e.Err)
}

// Is implements the protocol of [errors.Is].
func (e *OutcomeUnknown) Is(target error) bool { return target == ErrOutcomeUnknown }

func (e *OutcomeUnknown) Unwrap() error { return e.Err }

// NotDone is the error of an operation that was given up and certainly had no effect: no attempt reached a server, or was
// let in. In a journal it stays unfinished. It matches [ErrNotDone], and what it wraps.
type NotDone struct {
	Outcome Outcome
	Err     error // why it was given up
}

func (e *NotDone) Error() string {
	return fmt.Sprintf("httpclient: %v, in %d attempts: %v", ErrNotDone, e.Outcome.Attempts, e.Err)
}

// Is implements the protocol of [errors.Is].
func (e *NotDone) Is(target error) bool { return target == ErrNotDone }

func (e *NotDone) Unwrap() error { return e.Err }

type outcomeInContext struct{}

// OutcomeOf tells what became of the operation that a response answers. It reports false for requests that got no key.
func OutcomeOf(res *http.Response) (Outcome, bool) {
	if res == nil || res.Request == nil {
		return Outcome{}, false
	}
	o, ok := res.Request.Context().Value(outcomeInContext{}).(*operation)
	if !ok {
		return Outcome{}, false
	}
	return o.outcome, true
}
