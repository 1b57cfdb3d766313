package idempotency

import (
	"slices"
	"time"
)

// The conditional writes of the protocol. Each changes one record, or is refused. What a write means is its Apply
// method: a pure function of the record that stands. [Memory] runs it under a lock; the conditions of other stores say
// the same in their own language.

// Claim makes a record for the first attempt of a key.
type Claim struct {
	Record Record // processing, with owner, epoch, lease and expiry of the attempt
	Now    time.Time
	Skew   time.Duration
}

// Apply puts the record if there is none, or a finished one that has expired and whose version this code reads.
func (c Claim) Apply(old *Record) (*Record, bool) {
	if old != nil && !(old.expired(c.Now, c.Skew) && old.readable()) {
		return old, false
	}
	r := c.Record
	return &r, true
}

// Takeover moves a released record, or one whose lease has run out, to a new owner.
type Takeover struct {
	Seen       *Record // the record as it was decided on
	Owner      string
	Epoch      int64
	LeaseUntil time.Time
	ExpiresAt  time.Time // zero: the expiry is removed
}

// Apply changes the record if nothing has happened to it since it was seen: owner, epoch and status are the same, and
// for a processing record the lease and the number of steps. (A renewal or a checkpoint may have landed since; a token may
// come back with the same lease.)
func (t Takeover) Apply(old *Record) (*Record, bool) {
	seen := t.Seen
	if old == nil || old.Owner != seen.Owner || old.Epoch != seen.Epoch || old.Status != seen.Status ||
		seen.Status == Processing && !(old.LeaseUntil.Equal(seen.LeaseUntil) && len(old.Steps) == len(seen.Steps)) {
		return old, false
	}
	r := *old
	r.Version, r.Status, r.Owner, r.Epoch = SchemaVersion, Processing, t.Owner, t.Epoch
	r.LeaseUntil, r.ExpiresAt = t.LeaseUntil, t.ExpiresAt
	return &r, true
}

// Completion records the response of a run.
type Completion struct {
	Held        *Record // the record as the owner claimed it
	Response    *Response
	CompletedAt time.Time
	ExpiresAt   time.Time
	Enlisted    []any // writes of the handler, in the store's own types, committed together with the response or not at all
}

// Apply completes the record if the owner still holds the claim.
func (c Completion) Apply(old *Record) (*Record, bool) {
	if !old.held(c.Held.Owner) {
		return old, false
	}
	r := *old
	r.Status, r.Response, r.Body = Completed, c.Response, BodyItems{}
	r.Steps, r.UndoFailures = nil, 0
	r.LeaseUntil, r.CompletedAt, r.ExpiresAt = time.Time{}, c.CompletedAt, c.ExpiresAt
	return &r, true
}

// Release gives a claim back after a run whose outcome is known and not recorded. The record stays: fingerprint, fencing
// number and steps must survive.
type Release struct {
	ID, Owner string
	ExpiresAt time.Time
}

// Apply releases the record if the owner still holds the claim.
func (w Release) Apply(old *Record) (*Record, bool) {
	if !old.held(w.Owner) {
		return old, false
	}
	r := *old
	r.Status, r.LeaseUntil, r.ExpiresAt = Released, time.Time{}, w.ExpiresAt
	return &r, true
}

// Orphaning ends a lease at once, after a run whose outcome is not known: the orphan policy decides for the next
// attempt.
type Orphaning struct {
	ID, Owner    string
	UndoFailures int // attempts that have failed to undo the steps, this one included; 0: what the record says stays
}

// Apply orphans the record if the owner still holds the claim. Its expiry and its steps stay.
func (w Orphaning) Apply(old *Record) (*Record, bool) {
	if !old.held(w.Owner) {
		return old, false
	}
	r := *old
	r.LeaseUntil = orphaned
	if w.UndoFailures > 0 {
		r.UndoFailures = w.UndoFailures
	}
	return &r, true
}

// Extension renews the lease of a run that takes long.
type Extension struct {
	ID, Owner  string
	Known      time.Time // the lease as the owner knows it
	LeaseUntil time.Time
	ExpiresAt  time.Time // zero: the expiry is removed
}

// Apply moves lease and expiry if the owner still holds the claim with the lease that it knows: a renewal that arrives
// late must not shorten a newer one.
func (e Extension) Apply(old *Record) (*Record, bool) {
	if !old.held(e.Owner) || !old.LeaseUntil.Equal(e.Known) {
		return old, false
	}
	r := *old
	r.LeaseUntil, r.ExpiresAt = e.LeaseUntil, e.ExpiresAt
	return &r, true
}

// Checkpoint records a step of a run.
type Checkpoint struct {
	Held     *Record // the record as the owner knows it, with the steps that are recorded
	Step     RecordedStep
	Enlisted []any     // writes of the step, in the store's own types, committed together with it or not at all
	Until    time.Time // until when the step is needed, where the store keeps its result apart from the record
}

// Apply adds the step if the owner still holds the claim and no other step was recorded since: a checkpoint that is sent
// again must not commit its writes twice.
func (c Checkpoint) Apply(old *Record) (*Record, bool) {
	if !old.held(c.Held.Owner) || len(old.Steps) != len(c.Held.Steps) {
		return old, false
	}
	r := *old
	r.Steps = append(slices.Clip(r.Steps), c.Step)
	return &r, true
}
