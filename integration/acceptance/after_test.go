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

// checkAfter checks what the case has left at the provider and on the bus.
func (c Case) checkAfter(x runner) error {
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
	return nil
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
