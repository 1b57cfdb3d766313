package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// pieces are what the sandbox has in stock at first, of each product that is ordered.
var pieces = map[string]int{"book": 1000, "rare": 1}

// TestOrders does to orders what TestChaos does to payments: an order is killed between its steps (F07, F08), in its
// compensation (F65), and its event is published again (F66). Stock runs out, and comes back from declined orders. In the
// end stock and orders add up, and there are as many charges and events as confirmed orders.
func TestOrders(t *testing.T) {
	badDay(t, *ordered, planOrders, (*host).auditOrders)
}

// planOrders makes n different orders. A tenth are for the product of which there is one piece.
func planOrders(rng *rand.Rand, n int) []operation {
	ops := make([]operation, n)
	for i := range ops {
		op, sku, quantity := planned(rng, orders, i), "book", 1+rng.IntN(3)
		if rng.IntN(10) == 0 {
			sku, quantity = "rare", 1
		}
		op.body = fmt.Sprintf(`{"sku":%q,"quantity":%d,"source":%q,"reference":%q}`, sku, quantity, source(rng), op.key)
		ops[i] = op
	}
	return ops
}

// order is a confirmed order, as it was answered.
type order struct {
	SKU      string
	Quantity int
	Amount   int
}

// auditOrders compares what the orders were answered with what happened.
func (h *host) auditOrders(ctx context.Context, results []*result, y *tally) (found []string, err error) {
	charges, err := h.charges(ctx, y)
	if err != nil {
		return nil, err
	}
	confirmed, sold := 0, map[string]int{}
	for _, r := range results {
		if o := r.order(); o != nil {
			confirmed++
			sold[o.SKU] += o.Quantity
		}
	}
	events, err := h.events(ctx, confirmed, y)
	if err != nil {
		return nil, err
	}
	y.left["confirmed"] = confirmed
	found, err = eachOf(results, func(r *result) ([]string, error) {
		return h.checkOrder(ctx, r, orderEvidence{charges[r.op.key], events[r.op.key]}, y)
	})
	if err != nil {
		return nil, err
	}
	for sku, n := range pieces {
		var left struct{ Stock int }
		if err := h.fetch(ctx, "/_sandbox/stock?sku="+sku, &left); err != nil {
			return nil, err
		}
		y.left["pieces of "+sku] = left.Stock
		if left.Stock < 0 || left.Stock != n-sold[sku] {
			found = append(found, fmt.Sprintf("%d pieces of %s are left of %d, and %d were sold", left.Stock, sku, n, sold[sku]))
		}
	}
	return found, nil
}

// order is what was ordered; nil where nothing was.
func (r *result) order() *order {
	if len(r.finals) == 0 || r.made() == 0 {
		return nil
	}
	var o order
	if err := json.Unmarshal([]byte(r.finals[0].body), &o); err != nil {
		return nil // checkOrder finds it
	}
	return &o
}

// orderEvidence is what the world holds about an order when all is over.
type orderEvidence struct {
	charges int // at the provider
	events  int // that were published, duplicates not counted
}

// checkOrder says what is wrong with an order.
func (h *host) checkOrder(ctx context.Context, r *result, e orderEvidence, y *tally) (found []string, err error) {
	found = r.checkAnswers(h.again(ctx, r.op, y))
	if len(r.finals) == 0 {
		return found, nil
	}
	wrong := r.complaints(&found)
	first, want := r.finals[0], r.made()
	if e.charges != want {
		wrong("answered %s, and %d charges", first.name(), e.charges)
	}
	if e.events != want {
		wrong("answered %s, and %d events", first.name(), e.events)
	}
	if want == 0 {
		return found, nil
	}
	var stored json.RawMessage
	if err := h.fetch(ctx, first.location, &stored); err != nil {
		return found, err
	}
	if string(stored) != first.body || r.order() == nil {
		wrong("answered %s, and the order is %s", first.body, stored)
	}
	return found, nil
}

// events counts the published events by reference, duplicates by their id not counted. It waits for a while until there
// are enough: the relay may have been killed just now.
func (h *host) events(ctx context.Context, enough int, y *tally) (map[string]int, error) {
	for deadline := time.Now().Add(30 * time.Second); ; sleep(ctx, 100*time.Millisecond) {
		var published []struct {
			ID     string
			Detail struct{ Reference string }
		}
		if err := h.fetch(ctx, "/_sandbox/events", &published); err != nil {
			return nil, err
		}
		seen, counts := map[string]bool{}, map[string]int{}
		for _, e := range published {
			if !seen[e.ID] {
				seen[e.ID] = true
				counts[e.Detail.Reference]++
			}
		}
		if len(seen) >= enough || time.Now().After(deadline) {
			y.left["events"], y.left["events published again"] = len(seen), len(published)-len(seen)
			return counts, nil
		}
	}
}
