package idempotency

import (
	"errors"
	"testing"
	"time"
)

// Clocks of the tables: a lease, an expiry and the margin.
var (
	t0   = time.UnixMilli(1_800_000_000_000)
	skew = 2 * time.Second
)

// byText is a request whose fingerprint is "same".
type byText struct{}

func (byText) matches(f Fingerprint) (same, known bool) {
	return string(f) == "same", string(f) != "unknown rules"
}

// asker is a request that matches the records of these tests unless changed.
func asker(change func(*Asker)) Asker {
	a := Asker{Owner: "me", Skew: skew, Request: byText{}}
	if change != nil {
		change(&a)
	}
	return a
}

// record is a sound record of another owner.
func record(s Status, change func(*Record)) *Record {
	r := &Record{ID: "id", Version: SchemaVersion, Status: s, Owner: "other", Epoch: t0.UnixMilli(),
		Fingerprint: Fingerprint("same"), Principal: "alice", CreatedAt: t0, ExpiresAt: t0.Add(24 * time.Hour)}
	switch s {
	case Processing:
		r.LeaseUntil = t0.Add(30 * time.Second)
	case Completed:
		r.Response, r.CompletedAt = &Response{Status: 201}, t0
	}
	if change != nil {
		change(r)
	}
	return r
}

func TestDecide(t *testing.T) {
	unknownVersion := func(r *Record) { r.Version = 99 }
	damaged := func(r *Record) { r.Fault = errors.New("damaged") }
	otherRequest := func(r *Record) { r.Fingerprint = Fingerprint("other") }
	unknownRules := func(r *Record) { r.Fingerprint = Fingerprint("unknown rules") }
	mine := func(r *Record) { r.Owner = "me" }
	bob := func(a *Asker) { a.Principal = "bob" }
	expired := func(r *Record) { r.ExpiresAt = t0.Add(-skew) }
	leaseOver := func(r *Record) { r.LeaseUntil = t0 }
	both := func(fs ...func(*Record)) func(*Record) {
		return func(r *Record) {
			for _, f := range fs {
				f(r)
			}
		}
	}
	for _, c := range []struct {
		name string
		r    *Record
		by   func(*Asker)
		want Decision
	}{
		{"no record", nil, nil, DecideClaim},
		{"F33 unknown version", record(Completed, unknownVersion), nil, DecideUnreadable},
		{"F33 unknown version, expired", record(Completed, both(unknownVersion, expired)), nil, DecideUnreadable},
		{"F33 unknown version, mine", record(Processing, both(unknownVersion, mine)), nil, DecideUnreadable},
		{"F34 damaged", record(Completed, damaged), nil, DecideUnreadable},
		{"F94 unknown rules", record(Completed, unknownRules), nil, DecideUnreadable},

		{"F21 completed, a millisecond before its expiry and margin", record(Completed, func(r *Record) { r.ExpiresAt = t0.Add(-skew + time.Millisecond) }), nil, DecideReplay},
		{"F21 completed, at its expiry and margin", record(Completed, expired), nil, DecideClaim},
		{"F22 completed, long expired, other request", record(Completed, both(expired, otherRequest)), nil, DecideClaim},
		{"released, expired", record(Released, expired), nil, DecideClaim},
		{"F82 F87 processing, expired, lease live", record(Processing, expired), nil, DecideInProgress},
		{"F87 processing, expired, lease over", record(Processing, both(expired, leaseOver)), nil, DecideTakeover},
		{"processing, never expires", record(Processing, func(r *Record) { r.ExpiresAt = time.Time{} }), nil, DecideInProgress},

		{"F04 mine, processing", record(Processing, mine), nil, DecideHold},
		{"F04 mine, processing, lease over", record(Processing, both(mine, leaseOver)), nil, DecideHold},
		{"mine, released", record(Released, mine), nil, DecideTakeover},
		{"mine, completed", record(Completed, mine), nil, DecideReplay},

		{"F44 other principal, completed", record(Completed, nil), bob, DecideForbidden},
		{"F44 other principal, processing", record(Processing, nil), bob, DecideForbidden},
		{"F44 other principal, released", record(Released, nil), bob, DecideForbidden},
		{"other principal before other request", record(Completed, otherRequest), bob, DecideForbidden},
		{"principals named, record names none", record(Completed, func(r *Record) { r.Principal = "" }), bob, DecideForbidden},
		{"same principal", record(Completed, nil), func(a *Asker) { a.Principal = "alice" }, DecideReplay},

		{"F36 other request, completed", record(Completed, otherRequest), nil, DecideReused},
		{"F37 other request, processing", record(Processing, otherRequest), nil, DecideReused},
		{"F37 other request, lease over", record(Processing, both(otherRequest, leaseOver)), nil, DecideReused},
		{"F37 other request, released", record(Released, otherRequest), nil, DecideReused},

		{"completed", record(Completed, nil), nil, DecideReplay},
		{"released", record(Released, nil), nil, DecideTakeover},
		{"released, policy Refuse", record(Released, nil), func(a *Asker) { a.Orphans = Refuse }, DecideTakeover},
		{"F19 a millisecond before the lease ends", record(Processing, func(r *Record) { r.LeaseUntil = t0.Add(time.Millisecond) }), nil, DecideInProgress},
		{"F03 lease over, Rerun", record(Processing, leaseOver), nil, DecideTakeover},
		{"F03 lease over, Refuse", record(Processing, leaseOver), func(a *Asker) { a.Orphans = Refuse }, DecideUnknown},
		{"F03 lease over, Recover", record(Processing, leaseOver), func(a *Asker) { a.Orphans = Recover }, DecideTakeover},
		{"F25 orphaned, Refuse", record(Processing, func(r *Record) { r.LeaseUntil = Orphaned() }), func(a *Asker) { a.Orphans = Refuse }, DecideUnknown},
		{"F25 orphaned, Rerun", record(Processing, func(r *Record) { r.LeaseUntil = Orphaned() }), nil, DecideTakeover},
	} {
		if got := Decide(c.r, asker(c.by), t0); got != c.want {
			t.Errorf("%s: decision %d, want %d", c.name, got, c.want)
		}
	}
}

func TestWrites(t *testing.T) {
	later := t0.Add(time.Minute)
	seen := record(Processing, nil)
	claim := Claim{Record: *record(Processing, func(r *Record) { r.Owner = "me" }), Now: t0, Skew: skew}
	takeover := func(seen *Record) Takeover {
		return Takeover{Seen: seen, Owner: "me", Epoch: seen.Epoch + 1, LeaseUntil: later, ExpiresAt: later}
	}
	held := record(Processing, func(r *Record) { r.Owner = "me" })
	completion := Completion{Held: held, Response: &Response{Status: 200}, CompletedAt: t0, ExpiresAt: later}
	expired := func(r *Record) { r.ExpiresAt = t0.Add(-skew) }
	for _, c := range []struct {
		name  string
		apply func(*Record) (*Record, bool)
		old   *Record
		want  bool
	}{
		{"claim: none", claim.Apply, nil, true},
		{"claim: live completed", claim.Apply, record(Completed, nil), false},
		{"claim: expired completed", claim.Apply, record(Completed, expired), true},
		{"claim: expired a second later", claim.Apply, record(Completed, func(r *Record) { r.ExpiresAt = t0.Add(-skew + time.Second) }), false},
		{"claim: expired released", claim.Apply, record(Released, expired), true},
		{"F87 claim: expired processing", claim.Apply, record(Processing, expired), false},
		{"F33 claim: expired, unknown version", claim.Apply, record(Completed, func(r *Record) { expired(r); r.Version = 99 }), false},
		{"claim: never expires", claim.Apply, record(Completed, func(r *Record) { r.ExpiresAt = time.Time{} }), false},

		{"takeover: as seen", takeover(seen).Apply, record(Processing, nil), true},
		{"takeover: gone", takeover(seen).Apply, nil, false},
		{"takeover: other owner", takeover(seen).Apply, record(Processing, func(r *Record) { r.Owner = "third" }), false},
		{"F98 takeover: same token, other epoch", takeover(seen).Apply, record(Processing, func(r *Record) { r.Epoch++ }), false},
		{"takeover: other status", takeover(seen).Apply, record(Released, nil), false},
		{"F86 takeover: renewed", takeover(seen).Apply, record(Processing, func(r *Record) { r.LeaseUntil = later }), false},
		{"takeover: released as seen", takeover(record(Released, nil)).Apply, record(Released, nil), true},

		{"complete: held", completion.Apply, held, true},
		{"F11 complete: other owner", completion.Apply, record(Processing, nil), false},
		{"F23 complete: gone", completion.Apply, nil, false},
		{"complete: released", completion.Apply, record(Released, func(r *Record) { r.Owner = "me" }), false},
		{"complete: completed by me", completion.Apply, record(Completed, func(r *Record) { r.Owner = "me" }), false},

		{"extend: held", Extension{ID: "id", Owner: "me", Known: held.LeaseUntil, LeaseUntil: later}.Apply, held, true},
		{"extend: other owner", Extension{ID: "id", Owner: "me", Known: held.LeaseUntil, LeaseUntil: later}.Apply, record(Processing, nil), false},
		{"F14 extend: renewed meanwhile", Extension{ID: "id", Owner: "me", Known: t0, LeaseUntil: later}.Apply, held, false},
		{"F91 extend: released", Extension{ID: "id", Owner: "me", Known: held.LeaseUntil, LeaseUntil: later}.Apply, record(Released, func(r *Record) { r.Owner = "me" }), false},

		{"release: held", Release{ID: "id", Owner: "me", ExpiresAt: later}.Apply, held, true},
		{"F12 F84 release: other owner", Release{ID: "id", Owner: "me", ExpiresAt: later}.Apply, record(Processing, nil), false},
		{"release: completed", Release{ID: "id", Owner: "me", ExpiresAt: later}.Apply, record(Completed, func(r *Record) { r.Owner = "me" }), false},
		{"orphan: held", Orphaning{ID: "id", Owner: "me"}.Apply, held, true},
		{"orphan: other owner", Orphaning{ID: "id", Owner: "me"}.Apply, record(Processing, nil), false},
		{"orphan: gone", Orphaning{ID: "id", Owner: "me"}.Apply, nil, false},
	} {
		before := c.old.clone()
		got, ok := c.apply(c.old)
		if ok != c.want {
			t.Errorf("%s: accepted %v, want %v", c.name, ok, c.want)
		}
		if !ok && got != c.old {
			t.Errorf("%s: a refused write returns another record", c.name)
		}
		if c.old != nil && (c.old.Status != before.Status || c.old.Owner != before.Owner || !c.old.LeaseUntil.Equal(before.LeaseUntil)) {
			t.Errorf("%s: the old record was changed", c.name)
		}
	}
}

func TestLeaseWritesMoveTheExpiry(t *testing.T) { // F85
	later := t0.Add(7 * 24 * time.Hour)
	r, _ := Takeover{Seen: record(Released, nil), Owner: "me", Epoch: 1, LeaseUntil: t0.Add(time.Minute), ExpiresAt: later}.Apply(record(Released, nil))
	if !r.ExpiresAt.Equal(later) {
		t.Errorf("takeover leaves expires_at at %v", r.ExpiresAt)
	}
	r, _ = Takeover{Seen: record(Released, nil), Owner: "me", Epoch: 1, LeaseUntil: t0.Add(time.Minute)}.Apply(record(Released, nil))
	if !r.ExpiresAt.IsZero() {
		t.Errorf("a takeover that keeps orphans leaves expires_at at %v", r.ExpiresAt)
	}
	r, _ = Orphaning{ID: "id", Owner: "other"}.Apply(record(Processing, nil))
	if !r.LeaseUntil.Equal(Orphaned()) || !r.ExpiresAt.Equal(record(Processing, nil).ExpiresAt) {
		t.Errorf("an orphaning changes more than the lease: %+v", r)
	}
}
