package httpclient

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// answer is what one attempt came to, as far as it decides what follows.
type answer struct {
	err      error // no answer, or one that broke off
	unsent   bool  // certainly nothing reached a server
	status   int
	replayed bool
	problem  problem
	garbled  error // it calls itself a problem document, and cannot be read
	after    time.Duration
}

// effect is what an answer says about the operation.
type effect int

const (
	unknown effect = iota // this attempt may have had an effect
	none                  // this attempt had none; says nothing about earlier ones
	final                 // this is the operation's answer, whatever became of earlier attempts
)

// verdict is the decision on an answer.
type verdict struct {
	effect effect
	retry  bool // the same request may be sent again
}

// Statuses of the decision.
var (
	// transient statuses say that the server, or something in front of it, failed at this attempt.
	transient = []int{http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	// refused statuses are given before anything is done.
	refused = []int{http.StatusTooEarly, http.StatusTooManyRequests}
	// uncertified statuses are about the credentials and given before the key is looked at: they tell nothing about an
	// earlier attempt, made when the credentials were still good.
	uncertified = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired}
)

// decide judges an answer. What a problem document says about itself wins over the status, but never makes another 4xx
// retryable; a replayed answer is never asked for again.
func decide(a answer) verdict {
	stop := a.problem.says && !a.problem.Retryable
	switch {
	case a.err != nil && a.unsent:
		return verdict{none, network(a.err)}
	case a.err != nil:
		return verdict{unknown, true}
	case a.replayed:
		return verdict{final, false}
	case a.problem.Code == "outcome-unknown":
		return verdict{unknown, !stop && a.status != http.StatusConflict}
	case a.status == http.StatusConflict && a.problem.Code == "in-progress":
		return verdict{unknown, !stop}
	case a.status == http.StatusConflict && a.garbled != nil:
		return verdict{unknown, false}
	case slices.Contains(refused, a.status) && !stop:
		return verdict{none, true}
	case slices.Contains(transient, a.status) && !stop:
		return verdict{unknown, true}
	case a.status >= 500 && a.problem.Retryable:
		return verdict{unknown, true}
	case slices.Contains(uncertified, a.status):
		return verdict{none, false}
	}
	return verdict{final, false}
}

// network reports whether an error is one of a connection, not of the request itself or of the server's certificate.
func network(err error) bool {
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// settles reports whether an answer ends the operation, where doubt says whether any attempt may have had an effect.
func (v verdict) settles(doubt bool) bool {
	return v.effect == final || v.effect == none && !v.retry && !doubt
}
