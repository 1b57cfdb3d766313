package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"firstwriter/idempotency"
)

// checkConditions runs every write on every state of a record and compares answers and records with the specification:
// F07, F11, F12, F14, F18, F21, F22, F23, F84, F85, F86, F87, F91, F98.
func checkConditions(p *probe) error {
	var wrong []error
	for _, s := range p.states() {
		for _, w := range p.writes() {
			if err := p.after(s, w); err != nil {
				wrong = append(wrong, fmt.Errorf("%s, then %w", s.name, err))
			}
			if p.ctx.Err() != nil || len(wrong) > 5 {
				return errors.Join(wrong...)
			}
		}
	}
	return errors.Join(wrong...)
}

// after brings a new record into a state, by accepted writes, and compares one more.
func (p *probe) after(s state, w func(id string) call) error {
	id := p.id()
	history := s.history(id)
	if err := p.play(history...); err != nil {
		return err
	}
	var old *idempotency.Record
	for _, c := range history {
		old, _ = c.apply(old)
	}
	return p.expect(old, w(id))
}

// state is a way to come to a state of a record.
type state struct {
	name    string
	history func(id string) []call
}

// states are reached by an attempt of A's, and by one of "me", who sends the writes.
func (p *probe) states() (all []state) {
	all = append(all, state{"no record", func(string) []call { return nil }})
	for _, owner := range []string{"A", "me"} {
		first := func(id string) idempotency.Record { return newRecord(id, owner, p.t0) }
		then := func(name string, more ...func(id string) call) {
			all = append(all, state{name + " by " + owner, func(id string) []call {
				calls := []call{claim(first(id), p.t0)}
				for _, m := range more {
					calls = append(calls, m(id))
				}
				return calls
			}})
		}
		then("processing")
		then("orphaned", func(id string) call { return orphan(id, owner) })
		then("released", func(id string) call {
			return release(idempotency.Release{ID: id, Owner: owner, ExpiresAt: p.t0.Add(retention)})
		})
		then("completed", func(id string) call { return complete(completion(id, owner, p.t0)) })
		then("renewed", func(id string) call { return p.renewal(id, owner, p.t0.Add(lease+skew), time.Hour) })
		then("taken over", func(id string) call {
			seen := newRecord(id, owner, p.t0)
			return p.takenBy("B", &seen)
		})
		all = append(all, p.claimed(owner, "processing for ever", time.Time{}), p.claimed(owner, "processing, expired", p.t0))
		all = append(all, p.withSteps(owner)...)
	}
	return all
}

// claimed is a processing record with an expiry of its own.
func (p *probe) claimed(owner, name string, expires time.Time) state {
	return state{name + " by " + owner, func(id string) []call {
		r := newRecord(id, owner, p.t0)
		r.ExpiresAt = expires
		return []call{claim(r, p.t0)}
	}}
}

// takenBy is a takeover of the record as seen.
func (p *probe) takenBy(owner string, seen *idempotency.Record) call {
	return takeover(idempotency.Takeover{Seen: seen, Owner: owner, Epoch: seen.Epoch + 1, LeaseUntil: p.t0.Add(time.Hour), ExpiresAt: p.t0.Add(week)})
}

func (p *probe) renewal(id, owner string, known time.Time, by time.Duration) call {
	return extend(idempotency.Extension{ID: id, Owner: owner, Known: known, LeaseUntil: known.Add(by), ExpiresAt: p.t0.Add(week + by)})
}

// writes are what "me" may send: claims with clocks around every expiry, takeovers of records that are as seen and that
// are not, renewals that know the lease and that do not, and the rest.
func (p *probe) writes() (ws []func(id string) call) {
	for _, at := range []time.Duration{0, skew, retention, retention + skew - time.Second, retention + skew - time.Millisecond,
		retention + skew, retention + skew + time.Millisecond, week + skew, week + skew + time.Second} {
		ws = append(ws, func(id string) call { return claim(newRecord(id, "me", p.t0.Add(at)), p.t0.Add(at)) })
	}
	ws = append(ws, p.takeovers()...)
	ws = append(ws, p.stepWrites()...)
	for _, known := range p.leases() {
		for _, expires := range []time.Time{{}, p.t0.Add(2 * week)} {
			ws = append(ws, func(id string) call {
				return extend(idempotency.Extension{ID: id, Owner: "me", Known: known, LeaseUntil: p.t0.Add(time.Hour + time.Millisecond), ExpiresAt: expires})
			})
		}
	}
	if r, ok := p.store.(resolver); ok {
		ws = append(ws, p.resolutions(r)...)
	}
	return append(ws,
		func(id string) call { return complete(completion(id, "me", p.t0.Add(1234*time.Millisecond))) },
		func(id string) call {
			return release(idempotency.Release{ID: id, Owner: "me", ExpiresAt: p.t0.Add(2 * retention)})
		},
		func(id string) call { return orphan(id, "me") })
}

// leases are instants at and beside those that records of [probe.states] have.
func (p *probe) leases() []time.Time {
	first := p.t0.Add(lease + skew)
	return []time.Time{first, first.Add(time.Millisecond), first.Add(time.Second), first.Add(time.Hour), p.t0.Add(time.Hour), idempotency.Orphaned()}
}

// takeovers are from each owner, with the epoch and, where it matters, the lease as they stand and beside that.
func (p *probe) takeovers() (ws []func(id string) call) {
	take := func(seen idempotency.Record, expires time.Time) {
		ws = append(ws, func(id string) call {
			seen := seen
			seen.ID = id
			return takeover(idempotency.Takeover{Seen: &seen, Owner: "me", Epoch: seen.Epoch + 7, LeaseUntil: p.t0.Add(2*time.Hour + time.Millisecond), ExpiresAt: expires})
		})
	}
	for _, owner := range []string{"A", "B", "me"} {
		for _, later := range []int64{0, 1} {
			seen := idempotency.Record{Owner: owner, Epoch: p.t0.UnixMilli() + later, Status: idempotency.Released}
			take(seen, p.t0.Add(2*week))
			seen.Status = idempotency.Processing
			for i, until := range p.leases() {
				seen.LeaseUntil = until
				take(seen, []time.Time{{}, p.t0.Add(2 * week)}[i%2])
			}
		}
	}
	return ws
}

// resolver is a store whose records operators can resolve.
type resolver interface {
	Resolve(context.Context, idempotency.Resolution) error
}

// resolutions settle what was seen, with a response and without, around the end of its lease; or what was released.
func (p *probe) resolutions(r resolver) (ws []func(id string) call) {
	settle := func(owner string, taken int, status idempotency.Status, until, at time.Time) {
		for _, answer := range []*idempotency.Response{nil, response("operator", 100)} {
			ws = append(ws, func(id string) call {
				seen := newRecord(id, owner, p.t0)
				seen.Status, seen.LeaseUntil, seen.Steps = status, until, steps(taken)
				return resolve(r, idempotency.Resolution{Seen: &seen, Owner: "operator", Response: answer,
					At: at, ExpiresAt: ceilSecond(p.t0.Add(2 * retention))})
			})
		}
	}
	for _, until := range p.leases() {
		for _, late := range []time.Duration{-time.Millisecond, 0} {
			settle("A", 0, idempotency.Processing, until, until.Add(late))
		}
	}
	first := p.t0.Add(lease + skew)
	for taken := range 3 {
		settle("A", taken, idempotency.Processing, first, first)
		settle("me", taken, idempotency.Released, time.Time{}, first) // only a record of me's is released with steps
	}
	return ws
}
