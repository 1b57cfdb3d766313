package main

import (
	"testing"
	"time"

	"firstwriter/integration/dynamofake"
)

func TestCatalogReadsOnceAMinute(t *testing.T) {
	f := newFunction(t)
	now := time.Date(2026, 11, 29, 20, 5, 7, 0, time.UTC)
	c := newCatalog(stockTable{client: f.client, name: "stock"}, func() time.Time { return now })
	for _, step := range []struct {
		wait  time.Duration
		price int64 // from now on
		want  int64
		reads int // so far
	}{
		{0, 100, 100, 1},
		{priceLifetime - 1, 200, 100, 1},
		{1, 300, 300, 2},
		{time.Second, 400, 300, 2},
	} {
		now = now.Add(step.wait)
		f.put("stock", productItem("book", step.price, 1))
		p, found, err := c.find(t.Context(), "book")
		if reads := f.db.Stats().Calls["GetItem"]; p.Price != step.want || !found || err != nil || reads != step.reads {
			t.Errorf("after %v: %+v, %v, %v; %d reads", step.wait, p, found, err, reads)
		}
	}
}

// What is not there may come, and what was there may go; a product that cannot be read has not gone.
func TestCatalogForgets(t *testing.T) {
	f := newFunction(t)
	now := time.Date(2026, 11, 29, 20, 5, 7, 0, time.UTC)
	c := newCatalog(stockTable{client: f.client, name: "stock"}, func() time.Time { return now })
	find := func(want, fails bool) {
		t.Helper()
		if _, found, err := c.find(t.Context(), "new"); found != want || (err != nil) != fails {
			t.Errorf("found %v, %v", found, err)
		}
	}
	find(false, false)
	f.put("stock", productItem("new", 1, 1))
	find(true, false)
	f.delete("stock", stockTable{}.key("new"))
	find(true, false)
	now = now.Add(priceLifetime)
	find(false, false)
	if err := f.db.Inject(dynamofake.Fault{Op: "GetItem", Times: -1, Kind: dynamofake.FaultError}); err != nil {
		t.Fatal(err)
	}
	find(false, true)
}
