package idempotency

import "time"

// Decision is what a request does about the record that it met.
type Decision int

const (
	// DecideClaim: there is no record, or one that a claim may replace.
	DecideClaim Decision = iota
	// DecideUnreadable: the record cannot be judged by this code. 503, and the record is left alone.
	DecideUnreadable
	// DecideHold: the record is this attempt's own claim, whose acknowledgement was lost.
	DecideHold
	// DecideForbidden: the record is another principal's. 403.
	DecideForbidden
	// DecideReused: the record is another request's. 422.
	DecideReused
	// DecideReplay: the recorded response is the answer.
	DecideReplay
	// DecideTakeover: the next owner may run.
	DecideTakeover
	// DecideInProgress: another attempt holds a live lease. 409, or wait.
	DecideInProgress
	// DecideUnknown: an earlier run's outcome is not known, and the policy is not to guess. 409.
	DecideUnknown
)

// Asker is what a decision needs to know of the request.
type Asker struct {
	Owner     string // token of this attempt
	Principal string // hash of who asks; empty where the endpoint names no principals
	Request   Matcher
	Orphans   OrphanPolicy
	Skew      time.Duration // the greatest clock difference relied on
}

// Matcher compares a request with a stored fingerprint, by the rules that the stored one was computed by. known is false
// where this code does not have those rules.
type Matcher interface {
	matches(Fingerprint) (same, known bool)
}

// Decide says what the asker may do with the record that stands; nil is none. It is the one decision of the protocol:
// for a refused claim, a lost takeover, a poll, a fenced owner and a request that validation refuses alike. The order
// of the checks matters: nothing of a record is used before it is known to be readable, its owner's or its principal's
// and the same request's.
func Decide(r *Record, by Asker, now time.Time) Decision {
	if r == nil {
		return DecideClaim
	}
	if r.Fault != nil || !r.readable() {
		return DecideUnreadable
	}
	if r.expired(now, by.Skew) {
		return DecideClaim
	}
	if r.held(by.Owner) {
		return DecideHold
	}
	if by.Principal != "" && r.Principal != by.Principal {
		return DecideForbidden
	}
	switch same, known := by.Request.matches(r.Fingerprint); {
	case !known:
		return DecideUnreadable
	case !same:
		return DecideReused
	}
	switch {
	case r.Status == Completed:
		return DecideReplay
	case r.Status == Released:
		return DecideTakeover
	case now.Before(r.LeaseUntil):
		return DecideInProgress
	case by.Orphans == Refuse:
		return DecideUnknown
	}
	return DecideTakeover
}
