package sandbox

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// state is what an instance is doing.
type state int

const (
	starting  state = iota // until its first poll
	idle                   // waits in next
	busy                   // has an invocation, or it is on its way to it
	returning              // has answered, and will poll any moment
	gone                   // its process has ended
)

// instance is one process of a function with its Runtime API: what Lambda calls an execution environment.
type instance struct {
	pool *pool
	proc *process
	api  *runtimeAPI
	up   chan struct{} // closed at the first poll
	over chan struct{} // closed when the pool has forgotten it

	// guarded by pool.mu
	state state
	since time.Time // of the states idle and returning
}

// newInstance opens a Runtime API and prepares a process for it.
func newInstance(p *pool) (*instance, error) {
	i := &instance{pool: p, up: make(chan struct{}), over: make(chan struct{})}
	cameUp := sync.OnceFunc(func() { close(i.up) })
	polled := func() { cameUp(); p.free(i) }
	api, err := serveRuntimeAPI(p.arn, polled, func() { p.setReturning(i) })
	if err != nil {
		return nil, err
	}
	i.api = api
	i.proc = newProcess(p.artifacts, append(slices.Clip(p.env), "AWS_LAMBDA_RUNTIME_API="+api.addr))
	return i, nil
}

// live runs the instance's process from its start to its end.
func (i *instance) live() {
	defer close(i.over)
	defer i.api.close()
	i.pool.ended(i, i.runProcess())
}

// runProcess says how the process ended, or why there was none.
func (i *instance) runProcess() string {
	p := i.pool
	if err := i.proc.start(p.launcher, p.log, p.fn.id); err != nil {
		return err.Error()
	}
	limit := time.NewTimer(initLimit)
	defer limit.Stop()
	select {
	case <-i.up:
	case <-i.proc.exited:
		return "the process ended before it asked for work: " + i.proc.status
	case <-limit.C:
		i.proc.kill()
		<-i.proc.exited
		return fmt.Sprintf("the process did not ask for work within %v", initLimit)
	}
	<-i.proc.exited
	return i.proc.status
}

// run hands an invocation to the process and waits for its outcome, up to the function's timeout.
func (i *instance) run(inv *invocation) outcome {
	inv.deadline = time.Now().Add(i.pool.fn.timeout)
	timer := time.NewTimer(i.pool.fn.timeout)
	defer timer.Stop()
	select {
	case i.api.work <- inv:
	case <-i.proc.exited:
		return i.crash()
	case <-timer.C:
		return i.timeOut()
	}
	select {
	case out := <-inv.done:
		return out
	case <-i.proc.exited:
	case <-timer.C:
		return i.timeOut()
	}
	select {
	case out := <-inv.done: // it answered before it ended
		return out
	default:
		return i.crash()
	}
}

func (i *instance) timeOut() outcome {
	i.proc.kill()
	<-i.proc.exited
	return outcome{failure: timedOut, detail: fmt.Sprintf("Task timed out after %.2f seconds", i.pool.fn.timeout.Seconds())}
}

func (i *instance) crash() outcome {
	return outcome{failure: crashed, detail: "the process ended: " + i.proc.status}
}
