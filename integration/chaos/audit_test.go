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
	var mu sync.Mutex // guards found and err
	var wg sync.WaitGroup
	turn := make(chan struct{}, 4)
	for _, r := range results {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			e, failed := h.evidence(ctx, r.op, y)
			e.charges = made[r.op.key]
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				err = failed
			}
			found = append(found, r.check(e)...)
		})
	}
	wg.Wait()
	return found, err
}

func (h *host) evidence(ctx context.Context, op operation, y *tally) (e evidence, err error) {
	var items []struct{ ID string }
	for range 5 { // a busy machine may keep a read waiting for longer than it may take
		if err = h.get(ctx, "/payments?reference="+op.key, &items); err == nil {
			break
		}
	}
	if err != nil {
		return e, err
	}
	for _, it := range items {
		e.payments = append(e.payments, it.ID)
	}
	c := &customer{host: h, tally: y, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	e.replay = c.send(ctx, op, 1, maxPatience)[0]
	return e, nil
}

// check says what is wrong with an operation.
func (r *result) check(e evidence) (found []string) {
	wrong := func(format string, args ...any) {
		found = append(found, r.op.key+": "+fmt.Sprintf(format, args...))
	}
	found = append(found, r.wrong...)
	if len(r.finals) == 0 {
		wrong("never answered")
		return found
	}
	first, unreplayed := r.finals[0], 0
	for _, f := range append(r.finals, e.replay) {
		if !f.same(first) {
			wrong("answered %s %.200s, then %s %.200s", first.name(), first.body, f.name(), f.body)
		}
		if !f.replayed {
			unreplayed++
		}
	}
	// A decline is recorded alone, and answered even where that fails; a payment only together with its record.
	if first.status == http.StatusCreated && (unreplayed > 1 || !e.replay.replayed) {
		wrong("%d answers of a first run; the last one was a replay: %v", unreplayed, e.replay.replayed)
	}
	want := 0
	if first.status == http.StatusCreated {
		want = 1
	}
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
