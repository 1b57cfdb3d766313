// Package orders kills the function behind /orders at every call that an order makes, and lets its client try again.
package orders

import (
	"flag"
	"fmt"
	"io"
	"testing"
	"time"

	"firstwriter/integration/sandbox"
)

var depth = flag.Int("depth", 2, "how many attempts of an order are killed, one after the other: 1 or 2")

// functionTimeout is short, since what follows a kill waits for the lease to end: the function's deadline and the margin.
const (
	functionTimeout = 4 * time.Second
	leaseAfterKill  = functionTimeout + 2*time.Second + 100*time.Millisecond
)

// ending is a way for an order to end.
type ending struct {
	name   string
	sku    string
	source string
	status int
	code   string // of a refusal
}

var endings = []ending{
	{"success", "book", "tok_ok", 201, ""},
	{"declined", "book", "tok_declined", 402, "card-declined"},
	{"out of stock", soldOut, "tok_ok", 409, "out-of-stock"},
}

// TestKilledAtEveryCall kills the process after every call of the database and the provider that an order makes: before it
// is told, the call has taken effect. That is after the claim, the reservation and the charge (F07), before and after
// their checkpoints (F08), in the compensation of a declined order (F65), and after the final answer was recorded. Then
// the client tries again, until it has an answer. With -depth 2, the default, second attempts are killed as well, at each of
// their calls. And each call is once held back until the order is answered: a dead process's write or charge that comes
// late changes nothing any more.
//
// At every moment the stock and the orders add up; in the end each order has one charge or none, one event or none (F66),
// and one answer.
func TestKilledAtEveryCall(t *testing.T) {
	k := &trap{}
	s, err := sandbox.Start(t.Context(), sandbox.Config{Template: "../../template.yaml", Timeout: functionTimeout, Log: io.Discard, Intercept: k.around})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := newWorld(t, s)
	k.spring = w.killOrders
	k.holds = true
	late := w.killFirst(k)
	k.holds = false
	trials := w.killFirst(k)
	if *depth > 1 && !testing.Short() {
		trials = append(trials, w.killAgain(k, trials)...)
	}
	trials = append(trials, late...)
	t.Logf("%d orders, %d kills", len(trials), k.sprung)
	w.finish(trials)
	w.audit(trials)
}

// trial is one order on its way.
type trial struct {
	ending
	name   string    // also its key and reference
	calls  int       // that an attempt may make
	until  time.Time // then the lease of a killed attempt is over
	late   func()    // lets the last call of a killed attempt take effect
	finals []answer
}

// killFirst orders again and again, each time with a new key, and kills the process at its first call, its second, and so
// on, until an order has come through.
func (w *world) killFirst(k *trap) (trials []*trial) {
	for _, e := range endings {
		trials = append(trials, w.killEach(k, e)...)
	}
	return trials
}

func (w *world) killEach(k *trap, e ending) (trials []*trial) {
	for calls := 1; ; calls++ {
		one := &trial{ending: e, name: fmt.Sprintf("%s %d", e.name, calls), calls: calls}
		if k.holds {
			one.name += " late"
		}
		trials = append(trials, one)
		if !w.attempt(k, one, calls) {
			return trials
		}
		if calls > 20 {
			w.t.Fatalf("%s: it never ends", one.name)
		}
	}
}

// killAgain is the second attempt of each order, once its lease is over, killed at each of its calls: so there are as many
// orders for each call of the first attempt.
func (w *world) killAgain(k *trap, firsts []*trial) (trials []*trial) {
	const most = 10 // calls of a second attempt
	for _, f := range firsts {
		if f.late == nil {
			continue
		}
		for calls := 1; calls <= most; calls++ {
			one := &trial{ending: f.ending, name: fmt.Sprintf("%s and %d", f.name, calls), calls: calls}
			trials = append(trials, one)
			w.attempt(k, one, f.calls)
		}
	}
	for _, one := range trials {
		time.Sleep(time.Until(one.until))
		if w.attempt(k, one, one.calls) && one.calls == most {
			w.t.Errorf("%s: the second attempt makes more than %d calls", one.name, most)
		}
	}
	return trials
}

// attempt sends an order whose process is killed at a call. It reports whether there were so many.
func (w *world) attempt(k *trap, one *trial, call int) (killed bool) {
	k.arm(call)
	a := w.post(one)
	one.late = k.disarm()
	killed = one.late != nil
	one.until = time.Now().Add(leaseAfterKill)
	switch {
	case killed && a.status != 500:
		w.t.Errorf("%s: the process was killed, and the client got %+v", one.name, a)
	case !killed && a.status != one.status:
		w.t.Errorf("%s: not killed, and the client got %+v", one.name, a)
	case !killed:
		one.finals = append(one.finals, a)
	}
	w.addUp(one.name)
	return killed
}

// finish sends each order again when its lease is over, and twice more: the first of these must be the last word.
func (w *world) finish(trials []*trial) {
	for _, one := range trials {
		time.Sleep(time.Until(one.until))
		for range 3 {
			one.finals = append(one.finals, w.post(one))
			if one.late != nil {
				one.late()
			}
		}
		w.addUp(one.name)
	}
}
