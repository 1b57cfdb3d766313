package orders

import (
	"net/http"
	"net/url"
	"time"
)

// audit checks what each order has come to.
func (w *world) audit(trials []*trial) {
	w.t.Helper()
	sold, events := 0, w.events(trials)
	for _, one := range trials {
		if one.status == http.StatusCreated {
			sold += 2
		}
		w.check(one, events[one.name])
	}
	var stock struct{ Stock int }
	if w.control(http.MethodGet, "stock?sku=book", &stock); stock.Stock != initial["book"]-sold {
		w.t.Errorf("%d books are left of %d, and %d were sold", stock.Stock, initial["book"], sold)
	}
	if w.control(http.MethodGet, "stock?sku="+soldOut, &stock); stock.Stock != 0 {
		w.t.Errorf("%d pieces of what is sold out", stock.Stock)
	}
}

// check compares one order with the world. ids are those of its events.
func (w *world) check(one *trial, ids map[string]bool) {
	w.t.Helper()
	first, want := one.finals[0], 0
	if one.status == http.StatusCreated {
		want = 1
	}
	for i, a := range one.finals {
		if i > 0 && !a.replayed {
			w.t.Errorf("%s: answer %d is no replay: %+v", one.name, i, a)
		}
		if a.status != one.status || a.code != one.code || a.body != first.body || a.location != first.location {
			w.t.Errorf("%s: answer %d is %+v; the first was %+v", one.name, i, a, first)
		}
	}
	var charges []any
	if w.control(http.MethodGet, "psp/charges?reference="+url.QueryEscape(one.name), &charges); len(charges) != want {
		w.t.Errorf("%s: %d charges, want %d", one.name, len(charges), want)
	}
	if len(ids) != want {
		w.t.Errorf("%s: %d events, want %d", one.name, len(ids), want)
	}
	if want == 0 {
		return
	}
	if got := w.call(http.MethodGet, first.location, "", ""); got.status != http.StatusOK || got.body != first.body {
		w.t.Errorf("%s: ordered %s, read %+v", one.name, first.body, got)
	}
}

// events are the ids of what was published, by reference. It waits until there is one for each confirmed order, for a
// while: the relay may just have been started.
func (w *world) events(trials []*trial) map[string]map[string]bool {
	w.t.Helper()
	want := 0
	for _, one := range trials {
		if one.status == http.StatusCreated {
			want++
		}
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var published []struct {
			ID         string
			DetailType string `json:"detail_type"`
			Detail     struct{ Reference string }
		}
		w.control(http.MethodGet, "events", &published)
		ids := map[string]map[string]bool{}
		for _, e := range published {
			if e.DetailType != "OrderConfirmed" {
				w.t.Errorf("an event %s", e.DetailType)
			}
			if ids[e.Detail.Reference] == nil {
				ids[e.Detail.Reference] = map[string]bool{}
			}
			ids[e.Detail.Reference][e.ID] = true
		}
		if len(ids) >= want || time.Now().After(deadline) {
			return ids
		}
	}
}
