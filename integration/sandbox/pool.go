package sandbox

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// maxProcesses is how many processes a function may have at once, if the template reserves no fewer. Lambda's own limit
// is the account's concurrency; this one keeps a machine usable.
const maxProcesses = 200

// idleLimit is how long a process is kept without work. Lambda keeps them for some minutes too, and does not say how
// long.
const idleLimit = 5 * time.Minute

// returnGrace is how long a request waits for a process that has answered and not yet polled. Nearly all poll at once,
// sooner than a new process would, but on a busy machine that can take a while; one that still works on something must
// not keep the request waiting for good.
const returnGrace = 500 * time.Millisecond

// pool runs the invocations of one function, each in a process of its own. A process is used again when it is idle. A
// request that finds none waits for the next one to be free, and a process is started for it unless one that is about
// to be free (starting, returning) has no other request to wait for it.
type pool struct {
	fn        function
	arn       string
	artifacts string // the folder of the bootstrap
	log       *logger
	launcher  *launcher
	env       []string // of each process, without the address of its Runtime API

	running sync.WaitGroup // of the instances and invocations; added to under mu, while not closed

	mu          sync.Mutex // guards the following, and the state of each instance
	all         []*instance
	idle        []*instance // the last one was used last
	waiting     []chan acquired
	invocations int
	coldStarts  int
	closed      bool
}

// acquired is what a waiting request gets: an instance, or the reason why there is none.
type acquired struct {
	inst *instance
	fail outcome
}

var stopping = outcome{failure: notStarted, detail: errStopped.Error()}

// invoke runs one event and waits for its outcome, however long the caller of the API has been gone.
func (p *pool) invoke(inv *invocation) outcome {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return stopping
	}
	p.invocations++
	p.running.Add(1)
	p.mu.Unlock()
	defer p.running.Done()
	got := <-p.acquire()
	out := got.fail
	if got.inst != nil {
		out = got.inst.run(inv)
	}
	if out.failure != noFailure {
		p.log.printf(p.fn.id, "RequestId: %s %s", inv.id, out.detail)
	}
	return out
}

// acquire asks for an instance; it is then busy.
func (p *pool) acquire() <-chan acquired {
	ch := make(chan acquired, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch n := len(p.idle); {
	case p.closed:
		ch <- acquired{fail: stopping}
	case n > 0:
		inst := p.idle[n-1]
		p.idle = p.idle[:n-1]
		inst.state = busy
		ch <- acquired{inst: inst}
	default:
		p.waiting = append(p.waiting, ch)
		p.startForWaiting()
	}
	return ch
}

// startForWaiting starts processes until each waiting request has one to wait for, and throttles those that would
// need one too many. Called with mu held.
func (p *pool) startForWaiting() {
	coming, again := 0, false
	for _, inst := range p.all {
		switch {
		case inst.state == starting:
			coming++
		case inst.state == returning && time.Since(inst.since) < returnGrace:
			coming++
			again = true
		}
	}
	if again && len(p.waiting) > 0 {
		time.AfterFunc(returnGrace, p.lookAgain)
	}
	for ; coming < len(p.waiting); coming++ {
		if err := p.startOne(); err != nil {
			p.failFrom(coming, *err)
			return
		}
	}
}

func (p *pool) lookAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startForWaiting()
}

// startOne starts an instance, or says why it does not. Called with mu held.
func (p *pool) startOne() *outcome {
	if len(p.all) >= p.fn.concurrency {
		return &outcome{failure: throttled, detail: fmt.Sprintf("throttled: %d processes are running", len(p.all))}
	}
	inst, err := newInstance(p)
	if err != nil {
		return &outcome{failure: notStarted, detail: err.Error()}
	}
	p.all = append(p.all, inst)
	p.coldStarts++
	p.running.Go(inst.live)
	return nil
}

// failFrom gives up on the waiting requests from the n-th on. Called with mu held.
func (p *pool) failFrom(n int, out outcome) {
	for _, ch := range p.waiting[n:] {
		ch <- acquired{fail: out}
	}
	p.waiting = p.waiting[:n]
}

// free takes an instance that polls: for the request that has waited longest, or else to be idle. A runtime that polls
// again while it is idle, or while work is on its way to it, changes nothing.
func (p *pool) free(inst *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if inst.state != starting && inst.state != returning {
		return
	}
	if len(p.waiting) > 0 {
		inst.state = busy
		p.waiting[0] <- acquired{inst: inst}
		p.waiting = p.waiting[1:]
		return
	}
	inst.state, inst.since = idle, time.Now()
	p.idle = append(p.idle, inst)
}

// setReturning notes that a busy instance has answered.
func (p *pool) setReturning(inst *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if inst.state == busy {
		inst.state, inst.since = returning, time.Now()
	}
}

// ended forgets an instance whose process is over. If it never came up, the request that has waited longest fails; if
// it had worked before, one that waited for it gets another.
func (p *pool) ended(inst *instance, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := inst.state
	inst.state = gone
	is := func(i *instance) bool { return i == inst }
	p.all = slices.DeleteFunc(p.all, is)
	p.idle = slices.DeleteFunc(p.idle, is)
	if was == starting && len(p.waiting) > 0 {
		p.waiting[0] <- acquired{fail: outcome{failure: notStarted, detail: detail}}
		p.waiting = p.waiting[1:]
	}
	p.startForWaiting()
}

// warm starts a process and waits until it has polled.
func (p *pool) warm(ctx context.Context) error {
	select {
	case got := <-p.acquire():
		if got.inst == nil {
			return fmt.Errorf("function %s: %s", p.fn.id, got.fail.detail)
		}
		p.setReturning(got.inst)
		p.free(got.inst)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kill kills every process and waits until each is over; it returns how many there were.
func (p *pool) kill() int {
	p.mu.Lock()
	all := slices.Clone(p.all)
	p.idle = nil // nobody is to be given one of them from here on
	p.mu.Unlock()
	for _, inst := range all {
		inst.proc.kill()
	}
	for _, inst := range all {
		<-inst.over
	}
	return len(all)
}

// reap kills the processes that have been idle for longer than idleLimit.
func (p *pool) reap(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = slices.DeleteFunc(p.idle, func(inst *instance) bool {
		old := now.Sub(inst.since) > idleLimit
		if old {
			inst.proc.kill()
		}
		return old
	})
}

// counts returns how many invocations and process starts there were since the last reset.
func (p *pool) counts() (invocations, coldStarts int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.invocations, p.coldStarts
}

func (p *pool) resetCounts() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.invocations, p.coldStarts = 0, 0
}

// close fails the waiting requests, kills every process and waits until all are over.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.failFrom(0, stopping)
	p.mu.Unlock()
	p.kill()
	p.running.Wait()
}
