package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Op is one piece of work that is not an HTTP request: a queue message, a stream record.
type Op struct {
	Name      string // what is done, "settle-invoice"; stands for method and path
	Scope     string // whose keys these are, as [Config.Scope] would say; required
	Principal string // who may see the result; empty: everybody of the scope
	Key       string // of this piece of work, the same on every delivery; required
	Input     any    // what is asked for, as encoding/json writes it: the same key with another input is refused
}

// Do runs fn once for an operation, by the same rules as [Guard.Serve] runs a handler, and returns its result; for every
// later call with the key it returns the recorded result without running fn. Results are recorded as JSON, and what
// comes back has been through it. The guard's Scope, Principal, Methods, Authorize and Validate concern HTTP requests
// only.
//
// An error of fn comes back as it is. It orphans the claim, since nobody knows how far fn came, unless fn has called
// [Attempt.Decide] with [LetGo]. Every other error is an [*Error] that says why there is no result.
func Do[T any](ctx context.Context, g *Guard, op Op, fn func(context.Context) (T, error)) (result T, err error) {
	input, err := json.Marshal(op.Input)
	switch {
	case err != nil:
		return result, fmt.Errorf("idempotency: input of %q: %w", op.Name, err)
	case op.Name == "" || op.Scope == "" || op.Key == "":
		return result, errors.New("idempotency: an Op needs Name, Scope and Key: without them, unrelated work would share a record")
	}
	t := &Attempt{guard: g, request: &Request{Method: "DO", Path: op.Name, Route: op.Name, Body: input,
		Header: http.Header{"Content-Type": {"application/json"}}}}
	t.print = g.fingerprints.of(t.request)
	t.identify(op.Scope, op.Principal, op.Key)
	var failure error
	a := t.observed(ctx, func(ctx context.Context) answer {
		return t.once(ctx, func(ctx context.Context) (r *Response, err error) {
			r, err = asResponse(fn(ctx))
			failure = err
			return r, err
		})
	})
	if failure != nil && a.problem != nil && a.problem.Code == handlerFailed.Code {
		return result, failure
	}
	return result, a.result(t.id, &result)
}

// asResponse makes a result the response that is kept.
func asResponse[T any](result T, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("idempotency: the result cannot be recorded: %w", err)
	}
	return &Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, nil
}

// result reads the result from an answer.
func (a answer) result(id string, into any) error {
	if p := a.problem; p != nil {
		return &Error{Code: p.Code, Detail: p.Detail, Retryable: p.Retryable, RetryAfter: p.RetryAfter, ID: id, Err: a.err}
	}
	if a.response.Status != http.StatusOK {
		return a.response.instead(id)
	}
	if err := json.Unmarshal(a.response.Body, into); err != nil {
		return fmt.Errorf("idempotency: the recorded result of %s is of another type: %w", id, err)
	}
	return nil
}

// instead is the error for what is recorded in place of a result: that it was withheld, or the store's answer to a refused
// write.
func (r *Response) instead(id string) error {
	var doc struct{ Code string }
	if r.Header.Get("Content-Type") == problemType && json.Unmarshal(r.Body, &doc) == nil && doc.Code == responseNotStored.Code {
		return &Error{Code: responseNotStored.Code, Detail: responseNotStored.Detail, ID: id}
	}
	return &Error{Code: writeRefused, Detail: "An enlisted write was refused. The response says what was answered to that.", ID: id, Response: r.clone()}
}

// writeRefused is the code of an [Error] for which there is no problem document of the guard's own.
const writeRefused = "write-refused"

// Error says why an operation has no result.
type Error struct {
	Code       string        // as in problem documents, "in-progress"
	Detail     string        // for people
	Retryable  bool          // may the same operation be tried again unchanged?
	RetryAfter time.Duration // when to, where that is known
	ID         string        // of the record
	Err        error         // what went wrong, where something did
	Response   *Response     // for ErrWriteRefused: the answer that was made to that, and is recorded
}

// The errors that [Do] returns match these by their code.
var (
	ErrInProgress       error = &Error{Code: inProgress.Code}        // another run holds the claim
	ErrKeyReused        error = &Error{Code: keyReused.Code}         // the key belongs to another operation or input
	ErrReplayForbidden  error = &Error{Code: replayForbidden.Code}   // the key belongs to another principal
	ErrOutcomeUnknown   error = &Error{Code: outcomeUnknown.Code}    // nobody knows what a run did; Retryable says whether to ask again
	ErrResultNotStored  error = &Error{Code: responseNotStored.Code} // fn has run, and has withheld its result
	ErrStoreUnavailable error = &Error{Code: storeUnavailable.Code}  // fn did not run, because it could not be protected
	ErrWriteRefused     error = &Error{Code: writeRefused}           // a condition of a write that fn enlisted does not hold
)

// Error implements error.
func (e *Error) Error() string {
	text := "idempotency: " + e.Code + ": record " + e.ID
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// Is matches errors of the same code.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}
