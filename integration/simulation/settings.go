package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"firstwriter/idempotency"
)

// step is how far time moves when the scheduler lets it. Everything that the guard and the store wait for at random
// lasts less than a step (polls: less than [pollSteps]), so that whatever wakes up meanwhile is there at the next one,
// however the dice fell. The microsecond keeps the scheduler's instants apart from deadlines, which are whole steps of
// 250 ms after one of them: no two things ever happen at one instant.
const step = 250*time.Millisecond + time.Microsecond

const (
	pollSteps    = 3 // longer than the longest pause between two polls of a guard that waits
	attemptSteps = 4 // dynamostore.AttemptTimeout
)

// settings are what a seed chooses once.
type settings struct {
	policy                  idempotency.OrphanPolicy
	lease, maxRun           time.Duration
	skew, retention         time.Duration
	deadline                time.Duration // of each request's context; 0: none
	waits                   bool          // duplicates wait
	principals              bool          // the endpoint names principals
	transacts               bool          // handlers enlist business writes
	apart                   bool          // clocks differ by more than the margin
	chaos                   int           // how much goes wrong: 0 nothing, to 3
	rulesChange             int           // step from which the validate hook refuses some orders; 0: never
	ttlDelay, transaction   time.Duration
	machines, callers, keys int
	horizon                 int // steps in which callers come and things go wrong
	pace                    int // how much happens in a step
	stages                  int // of a handler: its recorded steps
	size                    int // of most response bodies: those of more than 1 KB are kept apart from their records
}

func draw(r, dice *rand.Rand) settings {
	s := settings{
		policy: pick(r, idempotency.Rerun, idempotency.Rerun, idempotency.Refuse, idempotency.Recover),
		lease:  pick(r, 3*time.Second, 3*time.Second, 6*time.Second), skew: time.Second,
		transacts: chance(r, 50), principals: chance(r, 40), apart: chance(r, 30),
		chaos:    pick(r, 0, 1, 1, 2, 2, 3),
		ttlDelay: pick(r, -1, 500*time.Millisecond, 3*time.Second), transaction: pick(r, 0, 0, step*3/2),
		machines: 2 + r.IntN(3), callers: 3 + r.IntN(5), keys: pick(r, 1, 1, 2, 3), horizon: 40 + r.IntN(60), size: pick(r, 100, 800, 2500), pace: pick(r, 2, 4, 8),
	}
	s.maxRun = s.lease
	switch r.IntN(4) {
	case 0:
		s.maxRun = 4 * s.lease
	case 1:
		s.deadline = 9 * time.Second
	case 2:
		s.waits = true
	}
	if chance(r, 25) {
		s.rulesChange = 1 + r.IntN(s.horizon)
	}
	s.drawStages(dice)
	s.retention = max(s.maxRun, s.deadline) + 2*s.skew + 5*time.Second + time.Duration(r.IntN(8))*time.Second
	return s
}

// String is the settings in one line of a history.
func (s settings) String() string {
	return fmt.Sprintf("policy %d, lease %v up to %v, deadline %v, retention %v, waits %v, principals %v, transacts %v, clocks apart %v, chaos %d, new rules at %d, TTL %v, transactions %v, %d machines, %d callers, %d keys, %d steps, bodies of %d, pace %d, %d stages",
		s.policy, s.lease, s.maxRun, s.deadline, s.retention, s.waits, s.principals, s.transacts, s.apart, s.chaos, s.rulesChange,
		s.ttlDelay, s.transaction, s.machines, s.callers, s.keys, s.horizon, s.size, s.pace, s.stages)
}

// offset is a machine's clock against true time. Within the margin, no two machines differ by as much as it. Contexts
// know only true time, so where requests have deadlines no clock is behind it.
func (s settings) offset(r *rand.Rand) time.Duration {
	span := s.skew - 50*time.Millisecond
	if s.apart {
		span = 20 * time.Second
	}
	d := time.Duration(r.Int64N(int64(span/time.Millisecond))) * time.Millisecond
	if chance(r, 40) {
		d = pick(r, 0, span-time.Millisecond)
	}
	if s.deadline > 0 {
		return d
	}
	return d - span/2
}

// fastest is more than any clock is ahead of true time.
func (s settings) fastest() time.Duration {
	span := s.skew
	if s.apart {
		span = 20 * time.Second
	}
	if s.deadline > 0 {
		return span
	}
	return span / 2
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// chance is true in so many of a hundred cases.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }
