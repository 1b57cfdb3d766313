package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"firstwriter/idempotency"
)

const (
	workers = 4
	perKey  = 6 // calls of one worker on one record
)

// worker sends calls as attempts do, and as attempts that came late do: it never forgets an owner that it once was.
type worker struct {
	probe  *probe
	log    *log
	name   string
	id     string
	random *rand.Rand
	seen   *idempotency.Record // what it last saw of the record
	owners []idempotency.Record
}

// history lets workers loose on one record and returns what was called and answered.
func (p *probe) history(seed uint64) []event {
	l := &log{}
	id := p.id()
	var wg sync.WaitGroup
	for i := range workers {
		w := &worker{probe: p, log: l, name: fmt.Sprint("w", i), id: id, random: rand.New(rand.NewPCG(seed, uint64(i)))}
		wg.Go(func() {
			for range perKey {
				w.step()
			}
		})
	}
	wg.Wait()
	return l.events
}

// step sends one call.
func (w *worker) step() {
	switch n := w.random.IntN(10); {
	case w.seen == nil || n == 0:
		w.send(w.claim())
	case n < 3:
		w.read()
	case n < 6 && w.seen.Status != idempotency.Completed:
		w.send(w.takeover())
	case len(w.owners) > 0:
		w.send(w.ownWrite(&w.owners[w.random.IntN(len(w.owners))]))
	default:
		w.send(w.claim())
	}
}

// newOwner is a token that nobody has used.
func (w *worker) newOwner() string { return fmt.Sprintf("%s.%d", w.name, len(w.owners)) }

// claim is sent on the first day, or when the retention of a record completed then is over.
func (w *worker) claim() call {
	now := w.probe.t0
	if w.random.IntN(3) == 0 {
		now = now.Add(retention + skew)
	}
	r := newRecord(w.id, w.newOwner(), now)
	w.owners = append(w.owners, r)
	return claim(r, now)
}

func (w *worker) takeover() call {
	t := idempotency.Takeover{Seen: w.seen, Owner: w.newOwner(), Epoch: w.seen.Epoch + 1,
		LeaseUntil: w.seen.LeaseUntil.Add(time.Minute), ExpiresAt: w.probe.t0.Add(week)}
	if w.seen.Status != idempotency.Processing {
		t.LeaseUntil = w.probe.t0.Add(time.Hour)
	}
	r, _ := t.Apply(w.seen)
	w.owners = append(w.owners, *r)
	return takeover(t)
}

// ownWrite is sent by one that was an owner, whether it still is or not.
func (w *worker) ownWrite(held *idempotency.Record) call {
	switch w.random.IntN(6) {
	case 5:
		return w.checkpoint(held)
	case 0:
		return release(idempotency.Release{ID: w.id, Owner: held.Owner, ExpiresAt: w.probe.t0.Add(retention)})
	case 1:
		return orphan(w.id, held.Owner)
	case 2, 3:
		known := held.LeaseUntil
		held.LeaseUntil = known.Add(time.Duration(1+w.random.IntN(3)) * time.Second)
		return extend(idempotency.Extension{ID: w.id, Owner: held.Owner, Known: known, LeaseUntil: held.LeaseUntil, ExpiresAt: held.ExpiresAt})
	}
	return complete(completion(w.id, held.Owner, w.probe.t0))
}

// checkpoint is the next step of an owner, or one that it has recorded before.
func (w *worker) checkpoint(held *idempotency.Record) call {
	known := len(held.Steps)
	if w.random.IntN(3) > 0 {
		held.Steps = steps(known + 1)
	}
	return w.probe.checkpoint(w.id, held.Owner, known)
}

// send sends a call, every fourth time under a context that ends at a random moment, so that nobody learns of its
// outcome.
func (w *worker) send(c call) {
	ctx, cancel := w.context()
	defer cancel()
	e := event{call: c, began: w.log.now()}
	e.result = c.send(ctx, w.probe.store)
	e.ended = w.log.now()
	w.log.add(e)
	if e.result.kind == refused {
		w.seen = e.result.record
	}
}

func (w *worker) read() {
	e := event{call: call{name: "read", id: w.id}, began: w.log.now()}
	r, err := w.probe.store.Get(w.probe.ctx, w.id)
	e.ended = w.log.now()
	if err == nil {
		e.result, w.seen = result{kind: accepted, record: r}, r
		w.log.add(e)
	}
}

func (w *worker) context() (context.Context, context.CancelFunc) {
	if w.random.IntN(4) > 0 {
		return w.probe.ctx, func() {}
	}
	ctx, cancel := context.WithCancel(w.probe.ctx)
	yields := w.random.IntN(60)
	go func() {
		for range yields {
			runtime.Gosched()
		}
		cancel()
	}()
	return ctx, cancel
}

// event is a call, when it was sent and what was answered when.
type event struct {
	call         call
	began, ended int64
	result       result
}

// log is what workers write down.
type log struct {
	clock  atomic.Int64
	mu     sync.Mutex
	events []event // guarded by mu
}

func (l *log) now() int64 { return l.clock.Add(1) }

func (l *log) add(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}
