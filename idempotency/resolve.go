package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Resolution settles an orphan by an operator's word, where the policy is not to guess, or where nobody has come back to
// take it over: it records a response as the operation's outcome, or lets the next attempt run. A released record with steps,
// whose client never came again, can be given a response too. Make one with [NewResolution]; Resolve of [Memory] and of the
// DynamoDB store write it. Guards never do.
type Resolution struct {
	Seen      *Record   // the record as the operator saw it
	Owner     string    // a token of the resolution's own: it fences a run that is alive after all
	Response  *Response // recorded as the outcome; nil: the record is released
	At        time.Time // an instant that has come by every clock that is known: a lease that ends after it is live
	ExpiresAt time.Time
}

// ErrNotOrphan says that a record cannot be resolved: there is none, it is completed, or released already, its run may still
// be going, or this code cannot read it.
var ErrNotOrphan = errors.New("idempotency: the record is not an orphan")

// NewResolution prepares the resolution of a record that was seen, at a time that these clocks tell. A nil response lets
// the next attempt run; another one must be as [CheckRecordable] wants it. The record then answers retries for the
// retention, which should be that of the endpoint's guard; it is counted from the store's time where that is known. An orphan
// that is let go with steps is kept for as long as it would have been, where that is longer, and for a year where it had no
// expiry: its next attempt must not take the steps again. The error matches [ErrNotOrphan] where there is nothing to resolve:
// the run of a record that says when its lease ends must be over by both clocks, or, where the store's is not known, for
// [ClockMargin] by this machine's.
func NewResolution(seen *Record, r *Response, clocks Clocks, retention time.Duration) (Resolution, error) {
	if why := notOrphan(seen, r, clocks); why != "" {
		return Resolution{}, fmt.Errorf("%w: %s", ErrNotOrphan, why)
	}
	w := Resolution{Seen: seen, Owner: newOwner(), At: floorMillis(clocks.past()), ExpiresAt: ceilSeconds(clocks.Likely().Add(retention))}
	if r == nil {
		w.ExpiresAt = releasedUntil(seen, clocks.Likely(), retention)
		return w, nil
	}
	if err := CheckRecordable(r); err != nil {
		return Resolution{}, err
	}
	header, _ := sendable(r.Header) // drops nothing of what can be recorded
	w.Response = &Response{Status: r.Status, Header: header, Body: r.Body}
	return w, nil
}

// releasedUntil is the expiry of an orphan that is let go at now.
func releasedUntil(seen *Record, now time.Time, retention time.Duration) time.Time {
	until := ceilSeconds(now.Add(retention))
	switch {
	case len(seen.Steps) == 0:
		return until
	case seen.ExpiresAt.IsZero():
		return ceilSeconds(now.Add(max(LongRetention, retention)))
	case seen.ExpiresAt.After(until):
		return seen.ExpiresAt
	}
	return until
}

// notOrphan says why a record cannot be resolved with this response; "" where it can.
func notOrphan(r *Record, response *Response, clocks Clocks) string {
	switch {
	case r == nil:
		return "there is no record"
	case r.Fault != nil:
		return r.Fault.Error()
	case !r.readable():
		return fmt.Sprintf("its schema version is %d; use a release that reads it", r.Version)
	case r.Status == Released && len(r.Steps) > 0 && response != nil:
		return ""
	case r.Status == Released:
		return "it is released already, and the next attempt may run"
	case r.Status != Processing:
		return "it is " + string(r.Status)
	}
	return clocks.refuse(r.LeaseUntil)
}

// Apply settles the record if it is an orphan, or released with steps, and nothing has happened to it since it was seen: owner,
// epoch, status, number of steps and lease are the same. The new owner token refuses whatever the old owner may still send.
func (w Resolution) Apply(old *Record) (*Record, bool) {
	if !w.settles(old) {
		return old, false
	}
	r := *old
	r.Status, r.Owner = Processing, w.Owner // as if the resolution were the run that ends now
	if w.Response == nil {
		return Release{ID: r.ID, Owner: r.Owner, ExpiresAt: w.ExpiresAt}.Apply(&r)
	}
	return w.Completion().Apply(&r)
}

// settles reports whether there is something to settle in the record that stands, and it is as it was seen.
func (w Resolution) settles(old *Record) bool {
	seen := w.Seen
	if old == nil || old.Owner != seen.Owner || old.Epoch != seen.Epoch || old.Status != seen.Status || len(old.Steps) != len(seen.Steps) {
		return false
	}
	switch old.Status {
	case Processing:
		return old.LeaseUntil.Equal(seen.LeaseUntil) && !w.At.Before(old.LeaseUntil)
	case Released:
		return len(old.Steps) > 0
	}
	return false
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

// Resolve settles a record, or returns a [*RefusedError] with the one that stands.
func (m *Memory) Resolve(ctx context.Context, w Resolution) error {
	w.Response = w.Response.clone()
	return m.write(ctx, w.Seen.ID, w.Apply)
}

// RecordID is the id of the record for a key of a scope, as a guard with this [Config.Namespace] and [Config.Secret]
// computes it. The key is as [ParseKey] returns it.
func RecordID(namespace string, secret []byte, scope, key string) string {
	return hasher{secret: secret, namespace: namespace}.record(scope, key)
}
