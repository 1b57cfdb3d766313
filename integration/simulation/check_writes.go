package simulation

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"firstwriter/idempotency"
)

// Violation is an invariant that a run broke. The codes: R one accepted completion, by the holder, never undone; C a
// caller is told what is recorded, or that it is not known; P nothing is told to another principal or request; T leases,
// margins and retention; F fencing numbers rise; O no run after an unknown outcome unless the policy says so; L nobody
// waits for ever; D downstream keys are the same on every attempt; I one key, one record; B business writes and
// completions belong together; E recorded steps run once, and undos in reverse, before the answer; S what the database does is what the specification says.
type Violation struct{ Code, Text string }

// String is the violation in one line.
func (v Violation) String() string { return v.Code + ": " + v.Text }

func (w *world) violate(code, format string, args ...any) {
	v := Violation{code, fmt.Sprintf(format, args...)}
	w.note("VIOLATION %v", v)
	w.violations = append(w.violations, v)
}

// enter notes that a write took effect, and checks that it may.
func (w *world) enter(l *ledger, c *call) {
	a, op := c.attempt, c.op
	switch op.kind {
	case claiming, takingOver:
		w.enterClaim(l, c)
		return
	case extending:
		a.lease = op.lease
	case releasing:
		l.unresolved = l.unresolved && !a.ran // what let go before it ran says nothing about earlier runs
	}
	if l.holder != a {
		w.violate("R2", "%v is accepted, although the claim is held by %s", c, l.holder.name())
	}
	if l.record != nil && l.record.Status == idempotency.Completed {
		w.violate("R1", "%v changes a completed record", c)
	}
	switch op.kind {
	case completing:
		w.enterCompletion(l, c)
	case checkpointing:
		w.enterStage(l, c)
	}
}

func (w *world) enterClaim(l *ledger, c *call) {
	a, r := c.attempt, l.record
	switch {
	case c.op.kind == claiming && r != nil && r.Status == idempotency.Processing:
		w.violate("R1", "%v replaces a record that is processing", c)
	case c.op.kind == takingOver && r != nil && r.Status == idempotency.Completed:
		w.violate("R1", "%v undoes a completed record", c)
	case c.op.kind == takingOver && l.order != a.caller.order:
		w.violate("P1", "%v is for another request", c)
	case c.op.kind == takingOver && w.set.principals && l.sub != a.caller.sub:
		w.violate("P1", "%v is by another principal", c)
	}
	if c.op.kind == claiming {
		l.order, l.sub = a.caller.order, a.caller.sub
		l.stages.begin()
	}
	a.known = maps.Clone(l.stages.results)
	a.resumes = l.stages.has(failure)
	l.holder, a.lease, a.owner = a, c.op.lease, c.op.owner
}

func (w *world) enterCompletion(l *ledger, c *call) {
	a, kept := c.attempt, c.op.completion
	w.enterAnswer(l, c)
	if a.accepted != nil {
		w.violate("R3", "attempt %d is completed twice", a.n)
	}
	if last := l.last(); last != nil && w.inRetention(last) {
		w.violate("R3", "attempt %d completes key %d within the retention of attempt %d's completion", a.n, l.n, last.by.n)
	}
	a.accepted = &acceptance{by: a, owner: c.op.owner, response: kept.Response, expires: kept.ExpiresAt, business: len(kept.Enlisted) > 0}
	l.accepted = append(l.accepted, a.accepted)
	l.unresolved = false
	if !a.told.allows(a) {
		w.violate("C2", "attempt %d is completed after its caller was told %q", a.n, a.told)
	}
}

// last is the latest completion.
func (l *ledger) last() *acceptance {
	if len(l.accepted) == 0 {
		return nil
	}
	return l.accepted[len(l.accepted)-1]
}

// inRetention reports whether no clock can deem a completion expired yet, the database's neither.
func (w *world) inRetention(a *acceptance) bool {
	lead := max(w.set.fastest()-w.set.skew, -max(0, w.set.ttlDelay))
	return w.clock().Add(lead).Before(a.expires)
}

// same reports whether a response is the recorded one, as far as the caller sees it.
func (a *acceptance) same(r *idempotency.Response) bool {
	return r.Status == a.response.Status && bytes.Equal(r.Body, a.response.Body) &&
		slices.Equal(r.Header["Location"], a.response.Header["Location"])
}

func (a *attempt) name() string {
	if a == nil {
		return "nobody"
	}
	return fmt.Sprintf("attempt %d", a.n)
}

// committed are the numbers of the attempts whose completion carried business writes.
func (l *ledger) committed() map[int]bool {
	m := map[int]bool{}
	for _, a := range l.accepted {
		if a.business {
			m[a.by.n] = true
		}
	}
	return m
}
