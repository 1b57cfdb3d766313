// Package chaos plays a bad day against the API, with real processes: clients that retry until they have a final answer,
// and an agitator that kills, freezes and starves what serves them. In the end every operation must be answered, and
// charged and recorded exactly once.
//
//	go test ./integration/chaos -run TestChaos -count=1 -timeout 0 -v -args -operations 10000
//	go test ./integration/chaos -run TestOrders -count=1 -timeout 0 -v -args -orders 500
//
// Plans and disturbances come from a seed, which is printed and can be given with -seed. The machine's scheduling is
// not seeded: the same seed makes the same kind of trouble, not the same run.
package chaos

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"
)

var (
	operations = flag.Int("operations", 200, "how many payments are made")
	ordered    = flag.Int("orders", 60, "how many orders are made")
	clients    = flag.Int("clients", 16, "how many payments or orders are made at the same time")
	seed       = flag.Uint64("seed", 0, "seed of plans and disturbances; 0 is a new one")
)

const (
	functionTimeout = 3 * time.Second
	progressEvery   = 5 * time.Second
	restartEvery    = 80 // finished operations
)

// TestChaos crashes requests at every point, with a fresh process after each: before the claim (F02), after it (F03), in
// the effect (F07), between the effect and the completion (F08); and loses acknowledgements of claims (F04), completions
// (F09) and transactions (F63). Dead and fenced processes' writes land late, processes freeze, the database throttles.
func TestChaos(t *testing.T) {
	badDay(t, *operations, planPayments, (*host).audit)
}

// badDay makes n operations and checks what has become of them.
func badDay(t *testing.T, n int, plan func(*rand.Rand, int) []operation, audit func(*host, context.Context, []*result, *tally) ([]string, error)) {
	if testing.Short() {
		n = min(n, 40)
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	out := t.Output()
	fmt.Fprintf(out, "chaos: %d operations, seed %d\n", n, *seed)
	h := newHost(t)
	if err := h.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	y := newTally()
	results := disturbed(t, h, y, out, plan(rand.New(rand.NewPCG(*seed, 2)), n))
	if t.Failed() {
		return // the day was cut short
	}
	if err := h.restart(t.Context()); err != nil { // what is checked must have been kept
		t.Fatal(err)
	}
	found, err := audit(h, t.Context(), results, y)
	if err != nil {
		t.Fatal(err)
	}
	y.print(out, len(results), h.log)
	report(t, append(found, y.unexplained(h.log)...), n)
}

// disturbed runs all operations while the agitator is at work.
func disturbed(t *testing.T, h *host, y *tally, out io.Writer, ops []operation) []*result {
	ctx, stop := context.WithCancel(t.Context())
	var aside sync.WaitGroup
	a := &agitator{host: h, tally: y, rng: rand.New(rand.NewPCG(*seed, 1)), at: ops[0].at, of: len(ops)}
	aside.Go(func() {
		if err := a.run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
			stop()
		}
	})
	aside.Go(func() { y.progress(ctx, out, len(ops)) })
	defer aside.Wait()
	defer stop()
	return makeAll(ctx, h, y, ops)
}

// makeAll makes the operations, some at a time.
func makeAll(ctx context.Context, h *host, y *tally, ops []operation) []*result {
	results := make([]*result, len(ops))
	next := make(chan int)
	var wg sync.WaitGroup
	for range *clients {
		wg.Go(func() {
			c := &customer{host: h, tally: y, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
			defer c.http.CloseIdleConnections()
			for i := range next {
				results[i] = c.pay(ctx, ops[i])
				y.finish()
			}
		})
	}
	for i := range ops {
		next <- i
	}
	close(next)
	wg.Wait()
	return results
}

func report(t *testing.T, found []string, n int) {
	t.Helper()
	for i, what := range found {
		if i == 20 {
			t.Errorf("and %d more", len(found)-i)
			break
		}
		t.Error(what)
	}
	if len(found) > 0 {
		t.Logf("repeat with the same number, %d, and -seed %d; the sandbox's log is kept with -artifacts", n, *seed)
	}
}
