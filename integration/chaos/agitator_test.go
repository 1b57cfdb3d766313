package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"syscall"
	"time"
)

// What the agitator does, as the table names it.
const (
	actKilled  = "processes killed"
	actKillOne = "kill of one process"
	actKillAll = "kill of all processes"
	actKillAt  = "kill at a "
	actStopAt  = "freeze at a "
	actFreeze  = "freeze of one process"
	actRestart = "sandbox killed and started again"
)

// storeCalls are the calls at which requests are disturbed: claim, takeover and completion, reads, transaction.
var storeCalls = []string{"PutItem", "UpdateItem", "GetItem", "TransactWriteItems"}

// agitator makes trouble, one kind after the other.
type agitator struct {
	host  *host
	tally *tally
	rng   *rand.Rand
	at    *endpoint // whose processes it kills together
	of    int       // operations
}

// run makes trouble until ctx ends, or until the sandbox does not come back. Other calls may fail: the sandbox may just
// be going down. The last few operations are left alone, since trouble that was meant for many would keep one from ever
// being answered.
func (a *agitator) run(ctx context.Context) error {
	for restartAt := restartEvery; ctx.Err() == nil && a.of-a.tally.done() > *clients/4; {
		sleep(ctx, a.between(20, 300))
		if a.tally.done() >= restartAt {
			restartAt += restartEvery
			a.tally.act(actRestart, 1)
			if err := a.host.restart(ctx); err != nil {
				return err
			}
		}
		a.once(ctx)
	}
	return nil
}

func (a *agitator) once(ctx context.Context) {
	switch p := a.rng.IntN(100); {
	case p < 15:
		a.killOne()
	case p < 18:
		if a.killAll(ctx) {
			a.tally.act(actKillAll, 1)
		}
	case p < 36:
		a.strikeAt(ctx, actKillAt, func() bool { return a.killAll(ctx) })
	case p < 44:
		a.strikeAt(ctx, actStopAt, func() bool { return a.freeze(ctx, a.host.functions()...) })
	case p < 54:
		if a.freeze(ctx, a.pick()) {
			a.tally.act(actFreeze, 1)
		}
	default:
		a.fault(ctx)
	}
}

// between is a random time, in milliseconds.
func (a *agitator) between(low, high int) time.Duration {
	return time.Duration(low+a.rng.IntN(high-low)) * time.Millisecond
}

// pick is a random process of a function, 0 where there is none.
func (a *agitator) pick() int {
	pids := a.host.functions()
	if len(pids) == 0 {
		return 0
	}
	return pids[a.rng.IntN(len(pids))]
}

func (a *agitator) killOne() {
	if pid := a.pick(); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
		a.tally.act(actKillOne, 1)
		a.tally.act(actKilled, 1)
	}
}

func (a *agitator) killAll(ctx context.Context) bool {
	var answer struct{ Killed int }
	text, err := a.host.control(ctx, http.MethodPost, "/_sandbox/kill?function="+a.at.function, "")
	if err != nil || json.Unmarshal(text, &answer) != nil {
		return false
	}
	a.tally.act(actKilled, answer.Killed)
	return true
}

// strikeAt waits for a call of the database and strikes while it is under way, or as soon as it has taken effect and nobody has
// been told. With a delay it takes effect later, even after the next owner has taken over, whatever has become of its
// caller.
func (a *agitator) strikeAt(ctx context.Context, name string, strike func() bool) {
	op, kind := storeCalls[a.rng.IntN(len(storeCalls))], []string{"delay", "delay", "drop-ack"}[a.rng.IntN(3)]
	before := a.calls(ctx, op)
	if !a.inject(ctx, op, kind, 1, 1, a.between(200, 7000)) {
		return
	}
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); sleep(ctx, 5*time.Millisecond) {
		if a.calls(ctx, op) <= before {
			continue
		}
		if strike() {
			a.tally.act(name+op, 1)
		}
		return
	}
}

// calls is how often a call of the database was made.
func (a *agitator) calls(ctx context.Context, op string) int {
	var stats struct{ DynamoDB map[string]int }
	_ = a.host.get(ctx, "/_sandbox/stats", &stats) // without an answer it is 0
	return stats.DynamoDB[op]
}

// freeze stops processes for a while, at times for longer than they may run. It reports whether there were any.
func (a *agitator) freeze(ctx context.Context, pids ...int) bool {
	d, frozen := a.between(200, 6000), false
	for _, pid := range pids {
		frozen = pid != 0 && syscall.Kill(pid, syscall.SIGSTOP) == nil || frozen
	}
	go func() {
		sleep(ctx, d)
		for _, pid := range pids {
			if pid != 0 {
				_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed
			}
		}
	}()
	return frozen
}

// fault makes one of the next calls of the database fail, or some of them.
func (a *agitator) fault(ctx context.Context) {
	op := append(storeCalls, "")[a.rng.IntN(len(storeCalls)+1)] // "" is any
	kind := []string{"drop-ack", "drop-ack", "error", "throttle", "delay"}[a.rng.IntN(5)]
	nth, times := 1+a.rng.IntN(6), 1+a.rng.IntN(4)
	if a.rng.IntN(20) == 0 {
		times = 40 // the database is away for a moment
	}
	d := time.Duration(0)
	if kind == "delay" {
		d = a.between(50, 2500)
	}
	if a.inject(ctx, op, kind, nth, times, d) {
		a.tally.act("faults: "+kind, times)
	}
}

func (a *agitator) inject(ctx context.Context, op, kind string, nth, times int, d time.Duration) bool {
	_, err := a.host.control(ctx, http.MethodPost, "/_sandbox/fault",
		fmt.Sprintf(`{"op":%q,"kind":%q,"nth":%d,"times":%d,"ms":%d}`, op, kind, nth, times, d.Milliseconds()))
	return err == nil
}
