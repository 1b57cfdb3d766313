package idempotency

import (
	"errors"
	"fmt"
	"net/http"
)

// MaxBody is the largest request body, in bytes, that the guard takes: [Config.MaxBody]. Adapters that read a stream need
// not read more than one byte beyond it.
func (g *Guard) MaxBody() int { return g.cfg.MaxBody }

// ErrBodyRead says that something in front of the guard has read a request's body and not handed it on: requests could
// not be told apart. As [Request].BodyErr it makes the answer 500 body-consumed, and goes to the log.
var ErrBodyRead = errors.New("idempotency: the request's body was read in front of the guard")

// The answers to a body that is not there whole. This attempt does not run, but an earlier one may have: another key
// could do harm.
var (
	bodyIncomplete = Problem{Code: "body-incomplete", Status: http.StatusBadRequest, Retryable: true,
		Title: "Request body incomplete", Detail: "The request ended before its body did. It did not run. Send it again, unchanged and with the same key."}
	bodyConsumed = Problem{Code: "body-consumed", Status: http.StatusInternalServerError, Retryable: true,
		Title: "Request body not available", Detail: "A fault of this service keeps it from telling this request apart from others. It did not run. Send it again later, unchanged and with the same key."}
)

// refuseBody answers a request whose body is too large or not there whole.
func (t *Attempt) refuseBody() *answer {
	const tooLarge = "This endpoint takes bodies of at most %d bytes."
	var limit *http.MaxBytesError // of a middleware in front
	err := t.request.BodyErr
	switch {
	case len(t.request.Body) > t.guard.cfg.MaxBody:
		return t.reject(bodyTooLarge, fmt.Sprintf(tooLarge, t.guard.cfg.MaxBody))
	case errors.As(err, &limit):
		return t.reject(bodyTooLarge, fmt.Sprintf(tooLarge, limit.Limit))
	case errors.Is(err, ErrBodyRead):
		refusal := t.reject(bodyConsumed, "")
		refusal.err = err
		return refusal
	}
	return t.reject(bodyIncomplete, "")
}
