package simulation

import (
	"context"
	"sync"
	"time"

	"firstwriter/idempotency"
)

// attempt is one request that a machine answers.
type attempt struct {
	world    *world
	n        int
	caller   *caller
	ledger   *ledger // of the key that it is sent with
	machine  *machine
	script   script
	outlawed bool // the rules forbid its order
	cancel   context.CancelFunc
	died     chan struct{} // closed when its machine crashes
	resume   chan struct{} // the scheduler lets its handler go on

	mu       sync.Mutex // guards what its goroutines tell the scheduler
	sends    int
	begun    *run // a handler that the scheduler has not seen
	run      *run // the handler that is running
	outcome  idempotency.Outcome
	response *idempotency.Response
	finished bool
	effects  []effect // that the scheduler has not seen

	// The scheduler's own.
	dead      bool
	told      class // what its caller is told; "" as long as it is told nothing
	owner     string
	calls     int               // that the scheduler saw
	lease     time.Time         // the last that it wrote
	recovered bool              // its recovery function was the last to start
	ran       bool              // its handler, not only its recovery function
	known     map[string]string // results of the stages that were recorded when it got its claim, and its own since
	resumes   bool              // it got the claim of an operation that failed for good
	accepted  *acceptance       // its completion
	met       *standing         // what the store last told it of the record
	metAt     time.Time         // when, by its own clock
	heard     int               // the step of the last answer
	heardAt   time.Time         // in true time
}

// serve runs in a goroutine of its own. A handler that panics, or exits, ends there.
func (a *attempt) serve(ctx context.Context) {
	var r *idempotency.Response
	defer func() {
		_ = recover() // scripted
		a.mu.Lock()
		defer a.mu.Unlock()
		a.finished, a.response = true, r
	}()
	defer a.cancel()
	r = a.machine.guard.Serve(ctx, a.caller.request(a.n), a.handle)
}

// send hands a call to the scheduler, unless the machine is down.
func (a *attempt) send(c *call) bool {
	select {
	case <-a.died:
		return false
	default:
	}
	a.mu.Lock()
	c.order, a.sends = a.sends, a.sends+1
	a.mu.Unlock()
	a.world.mu.Lock()
	defer a.world.mu.Unlock()
	a.world.inbox = append(a.world.inbox, c)
	return true
}

// crash: nothing that the machine was doing goes on. It starts anew at once.
func (w *world) crash(m *machine) {
	w.note("machine %d crashes", m.n)
	for _, a := range w.attempts {
		if a.machine != m || a.dead || a.done() {
			continue
		}
		a.dead = true
		close(a.died)
		a.cancel()
		if a.caller.current == a {
			w.retry(a.caller)
		}
	}
	w.settle()
}

func (a *attempt) done() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.finished
}
