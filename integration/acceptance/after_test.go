package acceptance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"
)

// eventsLimit is how long an event may take until it is published. It takes a tenth of a second on an idle machine.
const eventsLimit = 5 * time.Second

// checkAfter checks what the case has left at the provider, on the bus and of the stock that there was before.
func (c Case) checkAfter(x runner, before map[string]int) error {
	for ref, want := range c.Charges {
		var charges []any
		if err := x.list("psp/charges", ref, &charges); err != nil {
			return err
		}
		if len(charges) != want {
			return fmt.Errorf("the provider holds %d charges for %s, want %d", len(charges), ref, want)
		}
	}
	// Those that are expected first: when they are there, whatever was committed before them is there too.
	refs := slices.SortedFunc(maps.Keys(c.Events), func(a, b string) int { return cmp.Compare(c.Events[b], c.Events[a]) })
	for _, ref := range refs {
		if err := x.awaitEvents(ref, c.Events[ref]); err != nil {
			return err
		}
	}
	after, err := x.stock(c.Stock)
	for sku, want := range c.Stock {
		if came := after[sku] - before[sku]; err == nil && came != want {
			err = fmt.Errorf("the stock of %s was %d and is %d; it should have changed by %d", sku, before[sku], after[sku], want)
		}
	}
	return err
}

// stock reads how many pieces there are of some products.
func (x runner) stock(of map[string]int) (map[string]int, error) {
	pieces := map[string]int{}
	for sku := range of {
		var left struct{ Stock int }
		b, err := x.control("GET /_sandbox/stock?sku=" + url.QueryEscape(sku))
		if err == nil {
			err = json.Unmarshal(b, &left)
		}
		if err != nil {
			return nil, fmt.Errorf("stock: %w", err)
		}
		pieces[sku] = left.Stock
	}
	return pieces, nil
}

// awaitEvents waits until there are that many events, and checks that there are no more.
func (x runner) awaitEvents(ref string, want int) error {
	for end := time.Now().Add(eventsLimit); ; time.Sleep(20 * time.Millisecond) {
		var events []struct{ ID string }
		if err := x.list("events", ref, &events); err != nil {
			return err
		}
		ids := map[string]bool{}
		for _, e := range events {
			ids[e.ID] = true
		}
		if len(ids) == want {
			return nil
		}
		if len(ids) > want || time.Now().After(end) {
			return fmt.Errorf("there are %d events for %s, want %d", len(ids), ref, want)
		}
	}
}

// list reads what a control route lists for a reference.
func (x runner) list(what, ref string, into any) error {
	b, err := x.control("GET /_sandbox/" + what + "?reference=" + url.QueryEscape(ref))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
