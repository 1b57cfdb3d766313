package main

import (
	"context"
	"sync"
	"time"
)

const (
	priceLifetime = time.Minute            // for how long a price is used before it is read again
	priceBudget   = 500 * time.Millisecond // for one read: a store that is away must still be told within seconds
)

// catalog finds what products cost. It keeps what it has read for a minute, so that replays do not read the table. The
// products that do not exist it asks for each time: there is no end of them.
type catalog struct {
	stock stockTable
	now   func() time.Time

	mu     sync.Mutex
	listed map[string]listing // by sku; guarded by mu
}

type listing struct {
	product
	until time.Time
}

func newCatalog(stock stockTable, now func() time.Time) *catalog {
	return &catalog{stock: stock, now: now, listed: map[string]listing{}}
}

// find returns the product with a sku, as it was at most a minute ago.
func (c *catalog) find(ctx context.Context, sku string) (p product, found bool, err error) {
	now := c.now()
	c.mu.Lock()
	known := c.listed[sku]
	c.mu.Unlock()
	if now.Before(known.until) {
		return known.product, true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, priceBudget)
	defer cancel()
	p, found, err = c.stock.price(ctx, sku)
	c.mu.Lock()
	defer c.mu.Unlock()
	if found {
		c.listed[sku] = listing{p, now.Add(priceLifetime)}
	} else if err == nil {
		delete(c.listed, sku)
	}
	return p, found, err
}
