package idempotency

import "net/http"

// OrphanPolicy says what the next attempt may do when an earlier one ended without anybody knowing its outcome: its
// process died, its handler panicked or returned an error, or its lease ran out.
type OrphanPolicy int

const (
	// Rerun lets the next attempt run the handler again. It is right where the handler's effects are safe to repeat:
	// enlisted writes, calls with keys from [Attempt.DeriveKey]. The default.
	Rerun OrphanPolicy = iota
	// Refuse answers 409 outcome-unknown until an operator resolves the record. It is right where an effect can
	// neither be repeated nor looked up.
	Refuse
	// Recover runs [Config.Recover] first, which looks up what the earlier attempt did. Unless it finds the response, or
	// that the handler may run, the record stays an orphan.
	Recover
)

// Disposition says what becomes of the claim when a handler has returned a response. The zero value leaves it to
// [DispositionByStatus]; a value that is none of these counts as Doubt.
type Disposition int

const (
	// Keep records the response. Every later attempt gets it.
	Keep Disposition = iota + 1
	// LetGo releases the claim without recording: the outcome is known, and the next attempt may run.
	LetGo
	// Doubt orphans the claim without recording: the response does not tell what happened, and the orphan policy
	// decides for the next attempt.
	Doubt
)

// DispositionByStatus is the default of [Config.Disposition]: a response below 500 is kept, except 401, 403, 408, 425
// and 429, which say nothing final about the operation; those and 5xx let go.
func DispositionByStatus(r *Response) Disposition {
	switch r.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return LetGo
	}
	if r.Status >= http.StatusInternalServerError {
		return LetGo
	}
	return Keep
}
