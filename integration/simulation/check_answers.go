package simulation

import (
	"encoding/json"
	"fmt"

	"firstwriter/idempotency"
)

// class is what an answer says.
type class string

const (
	own         class = "its own response"
	replay      class = "a recorded response"
	inProgress  class = "in-progress"
	reused      class = "key-reused"
	forbidden   class = "replay-forbidden"
	unavailable class = "store-unavailable"
	unresolved  class = "outcome-unknown, for good"
	unanswered  class = "outcome-unknown, for now"
	failed      class = "handler-failed"
	outlawed    class = "against the rules"
	nothing     class = "nothing" // the handler's goroutine ended
	other       class = "something else"
)

// final reports whether a caller has no reason to come again.
func (c class) final() bool {
	return c == own || c == replay || c == reused || c == forbidden || c == unresolved || c == outlawed
}

// classify reads an answer.
func (a *attempt) classify(r *idempotency.Response) class {
	switch {
	case r == nil:
		return nothing
	case r.Header.Get(idempotency.ReplayHeader) != "":
		return replay
	case string(r.Body) == "against the rules":
		return outlawed
	case r.Header.Get("Content-Type") != "application/problem+json":
		return own
	}
	var problem struct{ Code string }
	if err := json.Unmarshal(r.Body, &problem); err != nil {
		return other
	}
	switch {
	case problem.Code == "outcome-unknown" && r.Status == 503:
		return unanswered
	case problem.Code == "outcome-unknown":
		return unresolved
	}
	return class(problem.Code)
}

// answered checks what an attempt tells its caller.
func (w *world) answered(a *attempt) {
	a.mu.Lock()
	r, outcome := a.response, a.outcome
	a.mu.Unlock()
	a.told = a.classify(r)
	w.note("attempt %d tells: %s (%s)", a.n, a.told, outcome)
	w.told[fmt.Sprintf("%s (%s)", a.told, outcome)]++
	switch a.told {
	case own:
		w.answeredOwn(a, r, outcome)
	case replay:
		w.answeredReplay(a, r)
	case other:
		w.violate("C0", "attempt %d answers %d %s", a.n, r.Status, r.Body)
	}
	if a.told != own && a.told != nothing && a.accepted != nil && w.inRetention(a.accepted) && !a.told.allows(a) {
		w.violate("C2", "attempt %d is completed, and its caller is told %q", a.n, a.told)
	}
	if a.run == nil {
		w.answeredByDecision(a)
	}
}

// allows reports whether a caller that was told this may learn later that its attempt was completed.
func (c class) allows(a *attempt) bool {
	switch c {
	case "", unanswered, failed, nothing:
		return true
	case own:
		return a.accepted == nil || a.accepted.same(a.response)
	}
	return false
}

// answeredOwn: the response of its own run that an attempt gives is the recorded one, or one that is not to be recorded.
// Only a completion without business writes may fail without a word to the caller; the operator is told.
func (w *world) answeredOwn(a *attempt, r *idempotency.Response, outcome idempotency.Outcome) {
	switch kept := idempotency.DispositionByStatus(r) == idempotency.Keep; {
	case a.accepted != nil && !a.accepted.same(r):
		w.violate("C1", "attempt %d gives %d %.60s; recorded is %d %.60s", a.n, r.Status, r.Body, a.accepted.response.Status, a.accepted.response.Body)
	case a.accepted != nil || !kept:
	case outcome == idempotency.OutcomeNotRecorded && (a.resumes || !(w.set.transacts && a.script.end == creates && a.ran)):
	default:
		w.violate("C1", "attempt %d gives %d %.60s, and nothing is recorded", a.n, r.Status, r.Body)
	}
}

// answeredReplay: what is replayed is what was recorded, for this request and this principal, within the retention.
func (w *world) answeredReplay(a *attempt, r *idempotency.Response) {
	l := a.ledger
	var from *acceptance
	for _, acc := range l.accepted {
		if a.met != nil && a.met.record != nil && acc.owner == a.met.record.Owner {
			from = acc
		}
	}
	switch {
	case from == nil:
		w.violate("C1", "attempt %d replays something that was never recorded: %d %.60s", a.n, r.Status, r.Body)
	case !from.same(r):
		w.violate("C1", "attempt %d replays %d %.60s; recorded is %d %.60s", a.n, r.Status, r.Body, from.response.Status, from.response.Body)
	case from.by.caller.order != a.caller.order:
		w.violate("P2", "attempt %d replays the response to another request", a.n)
	case w.set.principals && from.by.caller.sub != a.caller.sub:
		w.violate("P2", "attempt %d replays the response of another principal", a.n)
	case !a.met.record.ExpiresAt.After(a.metAt.Add(-w.set.skew)):
		w.violate("T1", "attempt %d replays after the retention", a.n)
	}
}

// answeredByDecision: what a request is told that did not run follows from the record that it met.
func (w *world) answeredByDecision(a *attempt) {
	switch a.told {
	case inProgress, reused, forbidden, unresolved, replay:
	default:
		return
	}
	if a.met == nil || a.met.record == nil {
		w.violate("L1", "attempt %d is told %q, and there is no record", a.n, a.told)
		return
	}
	r := a.met.record
	if want := w.expected(a, a.met); want != a.told {
		w.violate("P3", "attempt %d is told %q; the record that it met, %s, says %q", a.n, a.told, r.Status, want)
	}
	if r.Owner == a.owner && a.owner != "" {
		w.violate("L1", "attempt %d is told %q because of its own write", a.n, a.told)
	}
}

// expected is what a request must be told about a record that keeps it from running.
func (w *world) expected(a *attempt, met *standing) class {
	r := met.record
	finished := r.Status != idempotency.Processing
	switch {
	case finished && !r.ExpiresAt.After(a.metAt.Add(-w.set.skew)):
		return "a run"
	case w.set.principals && met.sub != a.caller.sub:
		return forbidden
	case met.order != a.caller.order:
		return reused
	case r.Status == idempotency.Completed:
		return replay
	case r.Status == idempotency.Released && a.outlawed && len(r.Steps) > 0:
		return unresolved
	case r.Status == idempotency.Released:
		return "a run"
	case a.metAt.Before(r.LeaseUntil):
		return inProgress
	case w.set.policy == idempotency.Refuse || a.outlawed:
		return unresolved
	}
	return "a run"
}
