package simulation

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"firstwriter/idempotency"
)

// caller is a client that sends one operation until it has a final answer.
type caller struct {
	n       int
	ledger  *ledger // of its key
	sub     string  // who it is, within the tenant
	order   int     // what it asks for: callers with one key and another order are mistaken
	next    int     // the step of its next try; -1: none
	tries   int
	current *attempt // that it waits for
}

const maxTries = 8

// populate makes callers, who begin with a few keys.
func (w *world) populate() {
	for n := range w.set.callers {
		c := &caller{n: n, ledger: w.ledger(w.random.IntN(w.set.keys)), sub: "alice", next: w.random.IntN(1 + w.set.horizon/4)}
		if chance(w.random, 8) {
			c.order = 1
		}
		if chance(w.random, 8) {
			c.sub = "bob"
		}
		w.note("caller %d: key %d, order %d, %s", n, c.ledger.n, c.order, c.sub)
		w.callers = append(w.callers, c)
	}
}

// ledger is that of key n. Two tenants use the same keys.
func (w *world) ledger(n int) *ledger {
	for m := len(w.ledgers); m <= n; m++ {
		w.ledgers = append(w.ledgers, &ledger{n: m, tenant: fmt.Sprint("tenant-", m%2), key: fmt.Sprint("key-", m/2), derived: map[int]string{},
			stages: stageLog{results: map[string]string{}, commits: map[string]int{}}})
	}
	return w.ledgers[n]
}

// conclude: the caller has an answer. If it is final, he may ask once more, or begin something else, with the next key.
func (w *world) conclude(a *attempt) {
	c := a.caller
	if a.told.final() && !w.drained && chance(w.random, 60) {
		c.tries, c.ledger = 0, w.ledger(c.ledger.n+1)
	}
	w.retry(c)
}

// request is what a caller sends. One order has several spellings.
func (c *caller) request(n int) *idempotency.Request {
	body := fmt.Sprintf(`{"order":%d,"amount":1.0}`, c.order)
	if n%2 == 1 {
		body = fmt.Sprintf(`{ "amount": 1, "order": %d }`, c.order)
	}
	return &idempotency.Request{Method: "POST", Path: "/orders", Route: "POST /orders", Body: []byte(body), RequestID: fmt.Sprint("request-", n),
		Header: http.Header{idempotency.KeyHeader: {c.ledger.key}, "Content-Type": {"application/json"}},
		Caller: idempotency.Caller{Claims: map[string]string{"tenant": c.ledger.tenant, "sub": c.sub}}}
}

// call sends a try to a machine.
func (w *world) call(c *caller, m *machine) {
	a := &attempt{world: w, n: len(w.attempts), caller: c, ledger: c.ledger, machine: m, script: w.script(), died: make(chan struct{}), resume: make(chan struct{}, 1)}
	w.plan(&a.script)
	a.outlawed = w.set.rulesChange > 0 && w.now >= w.set.rulesChange && c.order == 0 && c.ledger.n == 0
	ctx := context.WithValue(context.Background(), attemptKey{}, a)
	ctx, a.cancel = context.WithCancel(ctx)
	if d := w.set.deadline; d > 0 {
		ctx, a.cancel = context.WithTimeout(ctx, d)
		ctx = clocked{ctx, m.clock().Add(d)}
	}
	c.current, c.next = a, -1
	c.tries++
	w.attempts = append(w.attempts, a)
	w.note("caller %d -> attempt %d on machine %d: %v%s", c.n, a.n, m.n, a.script, map[bool]string{true: ", against the rules"}[a.outlawed])
	go a.serve(ctx)
	w.settle()
}

// clocked is a context whose deadline is told by its machine's clock.
type clocked struct {
	context.Context
	deadline time.Time
}

// Deadline implements [context.Context].
func (c clocked) Deadline() (time.Time, bool) { return c.deadline, true }

// retry lets a caller come again, or not.
func (w *world) retry(c *caller) {
	c.current = nil
	if c.tries < maxTries && !w.drained {
		c.next = w.now + 1 + w.random.IntN(12)
	}
}

// abandon: the caller does not wait for its attempt any more. The machine may notice that, or go on.
func (w *world) abandon(a *attempt, notices bool) {
	w.note("caller %d gives up attempt %d, noticed %v", a.caller.n, a.n, notices)
	if notices {
		a.cancel()
	}
	w.retry(a.caller)
	w.settle()
}
