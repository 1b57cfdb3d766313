package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Resolution settles an orphan by an operator's word, where the policy is not to guess, or where nobody has come back to
// take it over: it records a response as the operation's outcome, or lets the next attempt run. Make one with
// [NewResolution]; Resolve of [Memory] and of the DynamoDB store write it. Guards never do.
type Resolution struct {
	Seen      *Record   // the record as the operator saw it
	Owner     string    // a token of the resolution's own: it fences a run that is alive after all
	Response  *Response // recorded as the outcome; nil: the record is released
	At        time.Time
	ExpiresAt time.Time
}

// ErrNotOrphan says that a record cannot be resolved: there is none, it is finished, its run may still be going, or this
// code cannot read it.
var ErrNotOrphan = errors.New("idempotency: the record is not an orphan")

var errNoFinalStatus = errors.New("idempotency: a recorded response needs a final status, 200 to 599")

// NewResolution prepares the resolution of a record that was seen, at now. A nil response lets the next attempt run.
// Headers that are never recorded (see [Config]) are left out of the response. The record then answers retries for the
// retention, which should be that of the endpoint's guard. The error matches [ErrNotOrphan] where there is
// nothing to resolve.
func NewResolution(seen *Record, r *Response, now time.Time, retention time.Duration) (Resolution, error) {
	if why := notOrphan(seen, now); why != "" {
		return Resolution{}, fmt.Errorf("%w: %s", ErrNotOrphan, why)
	}
	w := Resolution{Seen: seen, Owner: newOwner(), At: floorMillis(now), ExpiresAt: ceilSeconds(now.Add(retention))}
	if r == nil {
		return w, nil
	}
	if r.Status < 200 || r.Status > 599 {
		return Resolution{}, fmt.Errorf("%w, not %d", errNoFinalStatus, r.Status)
	}
	header, dropped := sendable(r.Header)
	if dropped > 0 {
		return Resolution{}, errors.New("idempotency: a recorded header must not hold CR or LF")
	}
	w.Response = &Response{Status: r.Status, Header: recordable(header), Body: r.Body}
	return w, nil
}

// notOrphan says why a record cannot be resolved; "" where it can.
func notOrphan(r *Record, now time.Time) string {
	switch {
	case r == nil:
		return "there is no record"
	case r.Fault != nil:
		return r.Fault.Error()
	case !r.readable():
		return fmt.Sprintf("its schema version is %d; use a release that reads it", r.Version)
	case r.Status != Processing:
		return "it is " + string(r.Status)
	case now.Before(r.LeaseUntil):
		return "its run may go on until " + ceilSeconds(r.LeaseUntil).UTC().Format(time.RFC3339)
	}
	return ""
}

// Apply settles the record if it is an orphan and nothing has happened to it since it was seen: owner, epoch, status and
// lease are the same. The new owner token refuses whatever the old owner may still send.
func (w Resolution) Apply(old *Record) (*Record, bool) {
	if !old.held(w.Seen.Owner) || old.Epoch != w.Seen.Epoch || !old.LeaseUntil.Equal(w.Seen.LeaseUntil) || w.At.Before(old.LeaseUntil) {
		return old, false
	}
	r := *old
	r.Owner = w.Owner
	if w.Response == nil {
		return Release{ID: r.ID, Owner: r.Owner, ExpiresAt: w.ExpiresAt}.Apply(&r)
	}
	return w.Completion().Apply(&r)
}

// Completion is, for stores, the resolution's response as the completion of a run with the resolution's own token. Body
// items that the old owner may still write then never meet those of the resolution.
func (w Resolution) Completion() Completion {
	held := *w.Seen
	held.Owner = w.Owner
	return Completion{Held: &held, Response: w.Response, CompletedAt: w.At, ExpiresAt: w.ExpiresAt}
}

// Landed reports whether a record that refused the resolution holds it: an earlier try's acknowledgement was lost.
func (w Resolution) Landed(r *Record) bool { return r != nil && r.Owner == w.Owner }

// Resolve settles an orphan, or returns a [*RefusedError] with the record that stands.
func (m *Memory) Resolve(ctx context.Context, w Resolution) error {
	w.Response = w.Response.clone()
	return m.write(ctx, w.Seen.ID, w.Apply)
}

// RecordID is the id of the record for a key of a scope, as a guard with this [Config.Namespace] and [Config.Secret]
// computes it. The key is as [ParseKey] returns it.
func RecordID(namespace string, secret []byte, scope, key string) string {
	return hasher{secret: secret, namespace: namespace}.record(scope, key)
}
