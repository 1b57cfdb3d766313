package chaos

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

// evidence is what the world holds about an operation when all is over.
type evidence struct {
	charges  int      // at the provider
	payments []string // ids of the payment items with the operation's reference
	replay   reply    // to one more request with the key
}

// audit compares what the operations were answered with what happened.
func (h *host) audit(ctx context.Context, results []*result, y *tally) (found []string, err error) {
	made, err := h.charges(ctx, y)
	if err != nil {
		return nil, err
	}
	return eachOf(results, func(r *result) ([]string, error) {
		e, err := h.evidence(ctx, r.op, y)
		e.charges = made[r.op.key]
		return r.check(e), err
	})
}

// charges counts the provider's charges by reference.
func (h *host) charges(ctx context.Context, y *tally) (map[string]int, error) {
	var charges []struct{ Reference string }
	if err := h.get(ctx, "/_sandbox/psp/charges", &charges); err != nil {
		return nil, err
	}
	made := map[string]int{}
	for _, c := range charges {
		made[c.Reference]++
		if made[c.Reference] == 2 {
			y.doubled++
		}
	}
	y.charges = len(charges)
	return made, nil
}

// eachOf collects what is found in the results, some at a time.
func eachOf(results []*result, check func(*result) ([]string, error)) (found []string, err error) {
	var mu sync.Mutex // guards found and err
	var wg sync.WaitGroup
	turn := make(chan struct{}, 4)
	for _, r := range results {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			wrong, failed := check(r)
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				err = failed
			}
			found = append(found, wrong...)
		})
	}
	wg.Wait()
	return found, err
}

func (h *host) evidence(ctx context.Context, op operation, y *tally) (e evidence, err error) {
	var items []struct{ ID string }
	if err := h.fetch(ctx, "/payments?reference="+op.key, &items); err != nil {
		return e, err
	}
	for _, it := range items {
		e.payments = append(e.payments, it.ID)
	}
	e.replay = h.again(ctx, op, y)
	return e, nil
}

// fetch reads from the API. A busy machine may keep a read waiting for longer than it may take: so it is tried again.
func (h *host) fetch(ctx context.Context, path string, into any) (err error) {
	for range 5 {
		if err = h.get(ctx, path, into); err == nil {
			return nil
		}
	}
	return err
}

// again sends a finished operation once more.
func (h *host) again(ctx context.Context, op operation, y *tally) reply {
	c := &customer{host: h, tally: y, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	return c.send(ctx, op, 1, maxPatience)[0]
}

// check says what is wrong with a payment.
func (r *result) check(e evidence) (found []string) {
	found = r.checkAnswers(e.replay)
	if len(r.finals) == 0 {
		return found
	}
	wrong := r.complaints(&found)
	first, want := r.finals[0], r.made()
	if e.charges != want {
		wrong("answered %s, and %d charges", first.name(), e.charges)
	}
	if len(e.payments) != want {
		wrong("answered %s, and %d payments", first.name(), len(e.payments))
	} else if want == 1 && first.location != "/payments/"+e.payments[0] {
		wrong("answered %s, and the payment is %s", first.location, e.payments[0])
	}
	return found
}

// made is how many charges, payments, orders and events an answered operation must have.
func (r *result) made() int {
	if r.finals[0].status == http.StatusCreated {
		return 1
	}
	return 0
}

// complaints adds to what is found.
func (r *result) complaints(found *[]string) func(format string, args ...any) {
	return func(format string, args ...any) {
		*found = append(*found, r.op.key+": "+fmt.Sprintf(format, args...))
	}
}

// checkAnswers says what is wrong with what an operation was answered: in the end, and then once more.
func (r *result) checkAnswers(replay reply) (found []string) {
	found = append(found, r.wrong...)
	wrong := r.complaints(&found)
	if len(r.finals) == 0 {
		wrong("never answered")
		return found
	}
	first, unreplayed := r.finals[0], 0
	for _, f := range append(r.finals, replay) {
		if !f.same(first) {
			wrong("answered %s %.200s, then %s %.200s", first.name(), first.body, f.name(), f.body)
		}
		if !f.replayed {
			unreplayed++
		}
	}
	// A decline is recorded alone, and answered even where that fails; a payment or an order only together with its record.
	if first.status == http.StatusCreated && (unreplayed > 1 || !replay.replayed) {
		wrong("%d answers of a first run; the last one was a replay: %v", unreplayed, replay.replayed)
	}
	return found
}
