package idempotency

import (
	"context"
	"sync"
	"time"
)

// timeout is a context that ends after a while, as that of [context.WithTimeout] does. Its timer is made when somebody
// first waits for the end: a store that answers without waiting never needs one.
type timeout struct {
	parent context.Context
	until  time.Time

	mu     sync.Mutex
	ended  bool               // guarded by mu
	timed  context.Context    // guarded by mu; nil until somebody waits
	cancel context.CancelFunc // guarded by mu; of timed
}

func newTimeout(parent context.Context, d time.Duration) *timeout {
	return &timeout{parent: parent, until: time.Now().Add(d)}
}

// end ends the context at once.
func (c *timeout) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}

// Deadline implements [context.Context].
func (c *timeout) Deadline() (time.Time, bool) {
	if d, ok := c.parent.Deadline(); ok && d.Before(c.until) {
		return d, true
	}
	return c.until, true
}

// Done implements [context.Context].
func (c *timeout) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.parent, c.until)
		if c.ended {
			c.cancel()
		}
	}
	return c.timed.Done()
}

// Err implements [context.Context].
func (c *timeout) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.timed != nil:
		return c.timed.Err()
	case c.parent.Err() != nil:
		return c.parent.Err()
	case c.ended:
		return context.Canceled
	case !time.Now().Before(c.until):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context]. Once there is a timer it goes through the timed context, so that contexts made
// from this one find it and need no goroutine to follow its end.
func (c *timeout) Value(key any) any {
	c.mu.Lock()
	ctx := c.timed
	c.mu.Unlock()
	if ctx == nil {
		ctx = c.parent
	}
	return ctx.Value(key)
}
