package idempotency

import (
	"context"
	"errors"
)

// Store keeps records. An implementation must be safe for concurrent use, linearizable per record (its reads too), and
// durable: what was acknowledged stays.
//
// A store neither changes nor keeps what it is given: it copies what it needs.
//
// Claim, Takeover, Complete, Release, Orphan, Extend and Checkpoint are conditional writes. Each is atomic and means what the Apply method
// of its argument says, evaluated on the record that stands when the write takes effect. A write whose condition does
// not hold changes nothing and returns a [*RefusedError] with the record that stands, even if it is the caller's own
// earlier write that made the condition fail: telling the two apart is the guard's work.
//
// Where writes of others keep a write out (DynamoDB's TransactionConflict), the store tries again itself, briefly and with
// jitter, and then returns an error that matches [ErrBusy]: nothing has changed. Any other error means that the outcome
// is not known: the write may have taken effect, or may still.
type Store interface {
	// Claim puts a record for a new key.
	Claim(context.Context, Claim) error
	// Takeover moves a record to a new owner.
	Takeover(context.Context, Takeover) error
	// Complete records a response, together with the enlisted writes or not at all. Where the owner holds the claim
	// but an enlisted write's own condition fails, nothing changes and the error is a [*BusinessError].
	Complete(context.Context, Completion) error
	// Release gives a claim back.
	Release(context.Context, Release) error
	// Orphan ends a lease at once.
	Orphan(context.Context, Orphaning) error
	// Extend renews a lease.
	Extend(context.Context, Extension) error
	// Checkpoint records a step, together with the enlisted writes or not at all. Where the owner holds the claim but an
	// enlisted write's own condition fails, nothing changes and the error is a [*BusinessError].
	Checkpoint(context.Context, Checkpoint) error
	// Get returns the record that stands, by a consistent read; nil, nil where there is none. A record past its
	// ExpiresAt that has not been deleted yet is returned as it is.
	Get(ctx context.Context, id string) (*Record, error)
	// LoadBody fills in a completed record's response body where the store keeps it apart from the record. A missing
	// or damaged body is an error that matches [ErrBodyLost].
	LoadBody(context.Context, *Record) error
	// LoadStep fills in the result of the i-th recorded step where the store keeps it apart from the record. A missing or
	// damaged result is an error that matches [ErrBodyLost].
	LoadStep(ctx context.Context, r *Record, i int) error
}

// ErrRefused is matched by every [*RefusedError].
var ErrRefused = errors.New("idempotency: the write's condition does not hold")

// RefusedError says that a conditional write changed nothing.
type RefusedError struct {
	Record *Record // the record that stands; nil where there is none
}

// Error implements error.
func (e *RefusedError) Error() string { return ErrRefused.Error() }

// Is makes the error match [ErrRefused].
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// ErrBusy says that a write changed nothing because other writes on the record kept it out. The guard reads the record
// and decides again.
var ErrBusy = errors.New("idempotency: other writes on the record are open")

// BusinessError says that the claim is held, but the completion or the checkpoint was not committed because of an
// enlisted write: its condition does not hold, or it can never be made. [Step] returns it where the write was enlisted in
// a step.
type BusinessError struct {
	Answer *Response // the handler's own answer to that; nil where it gave none
	Reason string    // what refused it, without data of the item
}

// Error implements error.
func (e *BusinessError) Error() string {
	return "idempotency: an enlisted write was refused: " + e.Reason
}

// ErrBodyLost says that a response body or a step's result that is kept apart from its record is missing or damaged. The
// request is answered with 503, or the step fails: running it again would be wrong.
var ErrBodyLost = errors.New("idempotency: a recorded body or result is missing or damaged")
