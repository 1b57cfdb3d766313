package simulation

import "firstwriter/idempotency"

// started checks that a handler or a recovery function may start.
func (w *world) started(a *attempt, r *run) {
	l := a.ledger
	what := "handler"
	if r.recovery {
		what = "recovery function"
	}
	w.note("attempt %d: its %s starts, epoch +%d", a.n, what, r.epoch-base)
	switch {
	case a.outlawed:
		w.violate("C4", "the %s of attempt %d starts although the request was refused", what, a.n)
	case a.ran:
		w.violate("C4", "the handler of attempt %d starts twice", a.n)
	case !a.machine.clock().Before(a.lease.Add(-w.set.skew)):
		w.violate("T4", "the %s of attempt %d starts without a lease", what, a.n)
	case l.unresolved && l.holder == a && !r.recovery && w.set.policy != idempotency.Rerun && !(w.set.policy == idempotency.Recover && (a.recovered || a.resumes)):
		w.violate("O1", "attempt %d runs, although it is not known what an earlier one did", a.n)
	}
	if !w.set.apart {
		w.startedInTime(a, r, what)
	}
	if before, known := l.derived[a.caller.order]; known && before != r.derived {
		w.violate("D1", "attempt %d derives another downstream key than earlier ones", a.n)
	}
	l.derived[a.caller.order] = r.derived
	l.epoch = max(l.epoch, r.epoch)
	if a.recovered = r.recovery; !r.recovery {
		// One that starts when another has the claim already is fenced, and the record says nothing about it. That takes
		// clocks that are far apart; with others it is R2's.
		a.ran, l.unresolved = true, l.unresolved || l.holder == a
	}
}

// startedInTime are the checks that hold while clocks differ by less than the margin.
func (w *world) startedInTime(a *attempt, r *run, what string) {
	l := a.ledger
	if l.holder != a {
		w.violate("R2", "the %s of attempt %d starts, although the claim is held by %s", what, a.n, l.holder.name())
	}
	if last := l.last(); last != nil && w.inRetention(last) {
		w.violate("R4", "the %s of attempt %d starts, although attempt %d's completion is recorded", what, a.n, last.by.n)
	}
	if again := a.recovered && !r.recovery && r.epoch == l.epoch; r.epoch <= l.epoch && !again {
		w.violate("F1", "the epoch of attempt %d is not above that of an earlier run", a.n)
	}
}

// base makes epochs readable: the bubble's clock starts then.
const base = 946684800000

// checkLeases: a handler's context is over before its lease, unless the clock jumped meanwhile, which contexts do not
// notice; and while clocks differ by less than the margin, no two handlers of a key run within their leases.
func (w *world) checkLeases() {
	alive := map[*ledger]*attempt{}
	for _, a := range w.attempts {
		r, l := a.current(), a.ledger
		if r == nil || a.dead || r.ctx.Err() != nil {
			continue
		}
		if over := !a.machine.clock().Before(a.lease.Add(-w.set.skew)); over {
			if a.machine.jumped < r.began {
				w.violate("T5", "the context of attempt %d has not ended, and its lease has", a.n)
			}
			continue
		}
		if other := alive[l]; other != nil && !w.set.apart {
			w.violate("T2", "attempts %d and %d run within their leases", other.n, a.n)
		}
		alive[l] = a
	}
}
