package storetest

import (
	"time"

	"firstwriter/idempotency"
)

// flaw is a mistake that a store can make, and the check that finds it.
type flaw struct {
	name  string
	found string
	racy  bool // shows only where calls meet
	build func(*flawed)
}

var flaws = []flaw{
	{"claims without a condition", "conditions", false, means(func(w idempotency.Claim, old *record) (*record, bool) {
		return &w.Record, true
	})},
	{"expiry before lease", "conditions", false, means(func(w idempotency.Claim, old *record) (*record, bool) {
		if old != nil && !old.ExpiresAt.IsZero() && !old.ExpiresAt.After(w.Now.Add(-w.Skew)) {
			return &w.Record, true
		}
		return w.Apply(old)
	})},
	{"no margin for clocks", "conditions", false, means(func(w idempotency.Claim, old *record) (*record, bool) {
		w.Skew = 0
		return w.Apply(old)
	})},
	{"expires one millisecond late", "conditions", false, means(func(w idempotency.Claim, old *record) (*record, bool) {
		w.Skew += time.Millisecond
		return w.Apply(old)
	})},
	{"replaces records of unknown versions", "versions", false, means(func(w idempotency.Claim, old *record) (*record, bool) {
		if old != nil {
			known := *old
			known.Version = idempotency.SchemaVersion
			if r, ok := w.Apply(&known); ok {
				return r, true
			}
		}
		return w.Apply(old)
	})},
	{"takes over whatever it saw", "conditions", false, means(func(w idempotency.Takeover, old *record) (*record, bool) {
		if old != nil {
			w.Seen = old
		}
		return w.Apply(old)
	})},
	{"takes over without the lease", "conditions", false, means(func(w idempotency.Takeover, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.LeaseUntil = w.Seen.LeaseUntil })
	})},
	{"takes over without the epoch", "conditions", false, means(func(w idempotency.Takeover, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Epoch = w.Seen.Epoch })
	})},
	{"takes over without the status", "conditions", false, means(func(w idempotency.Takeover, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Status = w.Seen.Status })
	})},
	{"a takeover leaves the expiry behind", "conditions", false, means(func(w idempotency.Takeover, old *record) (*record, bool) {
		if old != nil {
			w.ExpiresAt = old.ExpiresAt
		}
		return w.Apply(old)
	})},
	{"completes without the owner", "conditions", false, means(func(w idempotency.Completion, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Owner = w.Held.Owner })
	})},
	{"completes twice", "conditions", false, means(func(w idempotency.Completion, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Status = idempotency.Processing })
	})},
	{"a completion makes the record anew", "conditions", false, means(func(w idempotency.Completion, old *record) (*record, bool) {
		if old == nil {
			old = &record{ID: w.Held.ID, Owner: w.Held.Owner, Status: idempotency.Processing}
		}
		return w.Apply(old)
	})},
	{"a release deletes", "conditions", false, means(func(w idempotency.Release, old *record) (*record, bool) {
		if _, ok := w.Apply(old); !ok {
			return old, false
		}
		return nil, true
	})},
	{"releases without the owner", "conditions", false, means(func(w idempotency.Release, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Owner = w.Owner })
	})},
	{"orphans without the owner", "conditions", false, means(func(w idempotency.Orphaning, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Owner = w.Owner })
	})},
	{"an orphaning moves the expiry", "conditions", false, means(func(w idempotency.Orphaning, old *record) (*record, bool) {
		r, ok := w.Apply(old)
		if ok {
			r.ExpiresAt = r.CreatedAt.Add(time.Hour)
		}
		return r, ok
	})},
	{"records steps without the owner", "conditions", false, means(func(w idempotency.Checkpoint, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Owner = w.Held.Owner })
	})},
	{"records steps without the status", "conditions", false, means(func(w idempotency.Checkpoint, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Status = idempotency.Processing })
	})},
	{"records a step twice", "conditions", false, means(func(w idempotency.Checkpoint, old *record) (*record, bool) {
		held := *w.Held
		if w.Held = &held; old != nil {
			held.Steps = old.Steps
		}
		return w.Apply(old)
	})},
	{"a step replaces those before", "conditions", false, means(func(w idempotency.Checkpoint, old *record) (*record, bool) {
		r, ok := w.Apply(old)
		if ok {
			r.Steps = r.Steps[len(r.Steps)-1:]
		}
		return r, ok
	})},
	{"a step moves the expiry", "conditions", false, means(func(w idempotency.Checkpoint, old *record) (*record, bool) {
		r, ok := w.Apply(old)
		if ok {
			r.ExpiresAt = w.Until
		}
		return r, ok
	})},
	{"takes over whatever steps there are", "conditions", false, means(func(w idempotency.Takeover, old *record) (*record, bool) {
		seen := *w.Seen
		if w.Seen = &seen; old != nil {
			seen.Steps = old.Steps
		}
		return w.Apply(old)
	})},
	{"a release forgets the steps", "conditions", false, means(func(w idempotency.Release, old *record) (*record, bool) {
		return forgetting(w.Apply(old))
	})},
	{"an orphaning forgets the steps", "conditions", false, means(func(w idempotency.Orphaning, old *record) (*record, bool) {
		return forgetting(w.Apply(old))
	})},
	{"a takeover forgets the steps", "conditions", false, means(func(w idempotency.Takeover, old *record) (*record, bool) {
		return forgetting(w.Apply(old))
	})},
	{"a completion keeps the steps", "conditions", false, means(func(w idempotency.Completion, old *record) (*record, bool) {
		r, ok := w.Apply(old)
		if ok {
			r.Steps = old.Steps
		}
		return r, ok
	})},
	{"an orphaning does not count", "conditions", false, means(func(w idempotency.Orphaning, old *record) (*record, bool) {
		w.UndoFailures = 0
		return w.Apply(old)
	})},
	{"long results are cut", "steps", false, means(func(w idempotency.Checkpoint, old *record) (*record, bool) {
		w.Step.Result = w.Step.Result[:min(len(w.Step.Result), 1000)]
		return w.Apply(old)
	})},
	{"renews whatever lease there is", "conditions", false, means(func(w idempotency.Extension, old *record) (*record, bool) {
		if old != nil {
			w.Known = old.LeaseUntil
		}
		return w.Apply(old)
	})},
	{"renews a release", "conditions", false, means(func(w idempotency.Extension, old *record) (*record, bool) {
		return apply(w, old, func(r *record) { r.Status, r.LeaseUntil = idempotency.Processing, w.Known })
	})},
	{"seconds for milliseconds", "conditions", false, means(func(w idempotency.Claim, old *record) (*record, bool) {
		r, ok := w.Apply(old)
		if ok {
			r.LeaseUntil = time.Unix(r.LeaseUntil.UnixMilli(), 0)
		}
		return r, ok
	})},
	{"leases in whole seconds", "conditions", false, means(func(w idempotency.Extension, old *record) (*record, bool) {
		w.LeaseUntil = w.LeaseUntil.Truncate(time.Second)
		return w.Apply(old)
	})},
	{"a response loses its headers", "responses", false, means(func(w idempotency.Completion, old *record) (*record, bool) {
		r, ok := w.Apply(old)
		if ok {
			r.Response = &idempotency.Response{Status: w.Response.Status, Body: w.Response.Body}
		}
		return r, ok
	})},
	{"refusals tell nothing", "conditions", false, func(s *flawed) { s.silent = true }},
	{"keeps what it is given", "copies", false, func(s *flawed) { s.keeps = true }},
	{"gives away what it keeps", "copies", false, func(s *flawed) { s.lends = true }},
	{"bodies of one key share a place", "bodies", false, func(s *flawed) {
		s.bodyID = func(c idempotency.Completion) string { return c.Held.ID }
	}},
	{"does not notice a damaged body", "lost bodies", false, func(s *flawed) { s.blind = true }},
	{"commits enlisted writes first", "enlisted writes", false, func(s *flawed) { s.partial = true }},
	{"does not look at contexts", "contexts", false, func(s *flawed) { s.deaf = true }},
	{"looks, then writes", "races", true, func(s *flawed) { s.unsafe = true }},
	{"reads that are not consistent", "histories", true, func(s *flawed) {
		before := map[string]*record{}
		s.read = func(s *flawed, id string) *record {
			stale := before[id]
			before[id] = s.records[id]
			return stale
		}
	}},
	{"forgets what it acknowledged", "histories", true, func(s *flawed) { s.forgets = true }},
}

// means replaces what one kind of write means.
func means[W any](apply func(w W, old *record) (*record, bool)) func(*flawed) {
	return func(s *flawed) {
		s.apply = func(w any, old *record) (*record, bool) {
			if mine, ok := w.(W); ok {
				return apply(mine, old)
			}
			return specified(w, old)
		}
	}
}

// forgetting loses the steps of what a write leaves.
func forgetting(r *record, ok bool) (*record, bool) {
	if ok {
		r.Steps = nil
	}
	return r, ok
}

// apply is what a write means on a record that was made to look as its condition wants it.
func apply(w any, old *record, pretend func(*record)) (*record, bool) {
	if old == nil {
		return nil, false
	}
	r := *old
	pretend(&r)
	return specified(w, &r)
}
