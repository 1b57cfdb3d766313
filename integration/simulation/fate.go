package simulation

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"time"
)

// ready reports whether the scheduler may do something about a call now.
func (w *world) ready(c *call) bool {
	m := c.attempt.machine
	if m.cutOff > w.now && c.state == outbound || m.frozen > w.now && c.state != late {
		return c.hasty && c.state == outbound
	}
	switch c.state {
	case outbound, landed:
		return true
	case late:
		return c.due <= w.now
	}
	return false
}

// process moves a call on.
func (w *world) process(c *call) {
	switch c.state {
	case landed:
		if w.unlucky(5) {
			w.fail(c, "its answer is lost", io.ErrUnexpectedEOF)
			return
		}
		w.answer(c, c.reply)
	case late:
		w.land(c)
	case outbound:
		w.send(c)
	}
}

// unlucky is true in so many of a hundred cases for each degree of chaos.
func (w *world) unlucky(percent int) bool {
	return !w.drained && chance(w.random, percent*w.set.chaos)
}

// send decides what becomes of a call that is on its way.
func (w *world) send(c *call) {
	switch m := c.attempt.machine; {
	case c.hasty && (m.cutOff > w.now || m.frozen > w.now || w.unlucky(5)):
		w.answer(c, fault(http.StatusBadRequest, "AccessDeniedException")) // not sent again: see pollSteps
	case c.hasty:
		w.land(c)
		w.answer(c, c.reply)
		if a := c.attempt; a.caller.current == a && w.unlucky(2) {
			w.abandon(a, true)
		}
	case w.unlucky(1):
		w.answer(c, fault(http.StatusInternalServerError, "InternalServerError"))
	case w.unlucky(1):
		w.answer(c, fault(http.StatusBadRequest, "ThrottlingException"))
	case w.unlucky(1):
		w.fail(c, "it is lost", io.ErrUnexpectedEOF)
	case w.unlucky(3), c.op.apply != nil && c.op.kind != claiming && w.unlucky(8):
		c.state, c.due = late, w.now+1+w.random.IntN(w.longest())
		w.note("%v: is delayed until %d", c, c.due)
	default:
		w.land(c)
		if c.state == landed && !chance(w.random, 15) {
			w.process(c)
		}
	}
}

// answer hands an answer to the caller.
func (w *world) answer(c *call, r reply) {
	if c.gone.Load() {
		c.state = over
		return
	}
	if c.state == outbound {
		w.note("%v: answered %d, not done", c, r.status)
	} else {
		w.note("%v: answered", c)
	}
	if c.state == landed && c.standing != nil {
		c.attempt.met, c.attempt.metAt = c.standing, c.attempt.machine.clock()
	}
	c.state = over
	w.heard(c)
	c.answer <- r
	w.settle()
}

// fail ends a call without an answer.
func (w *world) fail(c *call, why string, err error) {
	w.note("%v: %s", c, why)
	if !c.gone.Load() {
		w.heard(c)
		c.answer <- reply{err: err}
	}
	c.state = over
	w.settle()
}

// heard notes what an attempt learns.
func (w *world) heard(c *call) {
	c.attempt.heard, c.attempt.heardAt = w.now, time.Now()
}

// errTimeout is what the SDK gets for a try that takes too long.
var errTimeout = errors.New("simulation: no answer within the time for one try")

// expire ends a call that nobody waits for any more, or that took too long. What is on its way may arrive all the same.
func (w *world) expire(c *call) {
	gone := c.gone.Load()
	if c.state == over || c.state == open || !gone && w.now-c.since < attemptSteps {
		return
	}
	if c.state == landed {
		w.fail(c, "its answer comes too late", errTimeout)
		return
	}
	lost := c.state == outbound && chance(w.random, 50)
	if c.state == outbound {
		c.state, c.due = late, w.now+w.random.IntN(w.longest())
	}
	if !gone {
		w.note("%v: is given up", c)
		c.gone.Store(true)
		w.heard(c)
		c.answer <- reply{err: errTimeout}
	}
	if lost {
		w.note("%v: is lost", c)
		c.state = over
	}
	w.settle()
}

// land lets the server do a call.
func (w *world) land(c *call) {
	w.sweep()
	c.state = open
	if w.flaw.Request != nil {
		c.body = w.flaw.Request(c.op.kind, c.body)
	}
	go c.perform(w.line)
	w.settle()
}

// longest is how many steps a call may be late: longer than a lease, but less than the retention, as the protocol asks.
func (w *world) longest() int { return int(w.set.lease * 3 / 2 / step) }

// accident is what happens to machines and clocks.
func (w *world) accident() {
	m := pick(w.random, w.machines...)
	switch {
	case w.unlucky(1):
		w.crash(m)
	case w.unlucky(1):
		m.frozen = w.now + w.random.IntN(2*int(w.set.lease/step))
		w.note("machine %d stands still until %d", m.n, m.frozen)
	case w.unlucky(1):
		m.cutOff = w.now + w.random.IntN(int(w.set.lease/step))
		w.note("machine %d is cut off until %d", m.n, m.cutOff)
	case w.unlucky(1):
		w.setClock(m, w.set.offset(w.random))
	case w.unlucky(1) && w.now >= w.nextJump:
		d := w.set.lease + time.Duration(w.random.IntN(2000))*time.Millisecond
		w.jumped.Add(int64(d))
		for _, m := range w.machines {
			m.jumped = w.now
		}
		w.nextJump = w.now + 60
		w.note("all machines stood still for %v", d)
	}
}

// setClock makes a machine's clock jump. Backwards, it does so when the machine starts: how long a duplicate waits is told
// by a clock that never goes back, unlike those here.
func (w *world) setClock(m *machine, ahead time.Duration) {
	if int64(ahead) < m.ahead.Load() {
		w.crash(m)
	}
	m.ahead.Store(int64(ahead))
	m.jumped = w.now
	w.note("machine %d is now %v ahead", m.n, ahead)
}

// depart lets callers lose their patience.
func (w *world) depart() {
	for _, a := range w.attempts {
		if a.caller.current == a && !a.dead && w.unlucky(1) {
			w.abandon(a, chance(w.random, 50) && !w.pausing(a))
		}
	}
}

// pausing reports whether an attempt may be between two polls. What it does if its caller goes then is not the
// scheduler's to say.
func (w *world) pausing(a *attempt) bool {
	return w.set.waits && !a.ran && !slices.ContainsFunc(w.calls, func(c *call) bool { return c.attempt == a && !c.gone.Load() })
}
