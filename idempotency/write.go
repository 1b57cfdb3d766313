package idempotency

import "time"

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
// for a processing record the lease. (A renewal may have landed since; a token may come back with the same lease.)
func (t Takeover) Apply(old *Record) (*Record, bool) {
	seen := t.Seen
	if old == nil || old.Owner != seen.Owner || old.Epoch != seen.Epoch || old.Status != seen.Status ||
		seen.Status == Processing && !old.LeaseUntil.Equal(seen.LeaseUntil) {
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
	r.LeaseUntil, r.CompletedAt, r.ExpiresAt = time.Time{}, c.CompletedAt, c.ExpiresAt
	return &r, true
}

// Release gives a claim back after a run whose outcome is known and not recorded. The record stays: fingerprint and
// fencing number must survive.
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
	ID, Owner string
}

// Apply orphans the record if the owner still holds the claim. Its expiry stays.
func (w Orphaning) Apply(old *Record) (*Record, bool) {
	if !old.held(w.Owner) {
		return old, false
	}
	r := *old
	r.LeaseUntil = orphaned
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
