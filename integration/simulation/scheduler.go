package simulation

import (
	"cmp"
	"slices"
	"testing/synctest"
	"time"
)

// play is the scheduler. Whenever every goroutine of the run waits for it or for time, it does one thing out of all that
// could happen next, or lets a step of time go by.
func (w *world) play() {
	w.settle()
	for w.now < w.set.horizon && len(w.violations) == 0 {
		w.move()
	}
	w.calm()
	w.finish()
}

// calm: from now on nothing goes wrong, and nobody comes.
func (w *world) calm() {
	w.note("nothing goes wrong any more")
	w.drained = true
	for _, c := range w.callers {
		c.next = -1
	}
	for _, m := range w.machines {
		m.frozen, m.cutOff = 0, 0
	}
}

// finish lets everything that is under way come to its end.
func (w *world) finish() {
	for limit := w.now + 2000; !w.idle(); w.move() {
		if w.now > limit {
			w.violate("L3", "attempts are still at work %d steps after the last fault", 2000)
			w.abort()
			return
		}
	}
}

// move does one thing, or lets time go by.
func (w *world) move() {
	choices := w.choices()
	idle := 1 + len(choices)/w.set.pace
	if w.drained {
		idle = 0
	}
	if n := len(choices) + idle; n > 0 {
		if i := w.random.IntN(n); i < len(choices) {
			choices[i]()
			return
		}
	}
	w.advance()
}

// choices are what could happen now, in an order that does not depend on goroutines.
func (w *world) choices() (all []func()) {
	for _, c := range w.calls {
		if w.ready(c) {
			all = append(all, func() { w.process(c) })
		}
	}
	for _, a := range w.attempts {
		if r := a.waiting(); r != nil && r.due <= w.now && !a.dead && a.machine.frozen <= w.now {
			all = append(all, func() { w.resume(a) })
		}
	}
	for _, c := range w.callers {
		if c.next >= 0 && c.next <= w.now {
			all = append(all, func() { w.call(c, pick(w.random, w.machines...)) })
		}
	}
	return all
}

// current is the attempt's handler, if one is at work.
func (a *attempt) current() *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run == nil || a.run.ended {
		return nil
	}
	return a.run
}

// waiting is the attempt's run, if it waits for the scheduler.
func (a *attempt) waiting() *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run == nil || !a.run.waits {
		return nil
	}
	return a.run
}

func (w *world) resume(a *attempt) {
	w.note("attempt %d: goes on", a.n)
	a.resume <- struct{}{}
	w.settle()
}

// settle waits until every goroutine waits, and takes note of what they did.
func (w *world) settle() {
	synctest.Wait()
	w.receive()
	for _, c := range w.calls {
		if c.state == open && c.done.Load() {
			w.arrived(c)
		}
	}
	for _, a := range w.attempts {
		w.attend(a)
	}
	w.checkLeases()
	w.calls = slices.DeleteFunc(w.calls, func(c *call) bool { return c.state == over })
}

// receive takes the calls that were sent since, in an order of their own: a handler's checkpoint and the renewal of its lease
// may both have waited for a moment. One whose caller has gone before anybody saw
// it was never sent. Polls are taken when every poll that could have been sent instead would be there.
func (w *world) receive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.inbox, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.attempt.n, b.attempt.n), cmp.Compare(a.op.kind, b.op.kind), cmp.Compare(a.order, b.order))
	})
	w.inbox = slices.DeleteFunc(w.inbox, func(c *call) bool {
		if c.gone.Load() {
			return true
		}
		a := c.attempt
		c.hasty = w.set.waits && c.op.kind == reading && !a.ran && c.sent.After(a.heardAt)
		if c.hasty && w.now < a.heard+pollSteps {
			return false
		}
		c.since, c.n, a.calls = w.now, a.calls, a.calls+1
		w.calls = append(w.calls, c)
		return true
	})
}

// attend looks what an attempt's goroutine did.
func (w *world) attend(a *attempt) {
	a.mu.Lock()
	begun, finished, effects := a.begun, a.finished, a.effects
	a.begun, a.effects = nil, nil
	if r := a.run; r != nil && r.waits && r.pausing >= 0 {
		r.due, r.pausing = w.now+r.pausing, -1
	}
	a.mu.Unlock()
	if begun != nil && !a.dead {
		begun.began = w.now
		w.started(a, begun)
	}
	for _, e := range effects {
		if !a.dead {
			w.happened(a, e)
		}
	}
	if finished && !a.dead && a.told == "" {
		w.answered(a)
		if a.caller.current == a {
			w.conclude(a)
		}
	}
}

// advance lets a step of time go by. Before that, what must not wait is done; then, accidents happen.
func (w *world) advance() {
	for _, c := range slices.Clone(w.calls) {
		if c.hasty && w.ready(c) {
			w.process(c)
		}
	}
	time.Sleep(step)
	w.now++
	w.settle()
	for _, c := range slices.Clone(w.calls) {
		w.expire(c)
	}
	if !w.drained {
		w.accident()
		w.depart()
	}
}

// idle reports whether nothing is under way.
func (w *world) idle() bool {
	for _, a := range w.attempts {
		if !a.done() {
			return false
		}
	}
	return len(w.calls) == 0
}

// abort ends every goroutine of the run.
func (w *world) abort() {
	for _, m := range w.machines {
		w.crash(m)
	}
	time.Sleep(time.Minute)
	synctest.Wait()
}
