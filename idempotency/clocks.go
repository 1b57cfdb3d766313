package idempotency

import (
	"fmt"
	"time"
)

// ClockMargin is for how long a lease must be over by this machine's clock where the store's is not known.
const ClockMargin = 5 * time.Minute

// Clocks is what is known of the time at which a record was read. A machine that is no server may be minutes wrong, and
// must not end the lease of a run that is alive.
type Clocks struct {
	Local time.Time // of this machine
	Store time.Time // as the store's answer says, see Look of the DynamoDB store; zero: not known
}

// past is an instant that has come: by both clocks, or by this machine's with [ClockMargin] to spare.
func (c Clocks) past() time.Time {
	switch {
	case c.Store.IsZero():
		return c.Local.Add(-ClockMargin)
	case c.Store.Before(c.Local):
		return c.Store
	}
	return c.Local
}

// Likely is the time for all that fences nobody: the store's where it is known.
func (c Clocks) Likely() time.Time {
	if c.Store.IsZero() {
		return c.Local
	}
	return c.Store
}

// Ahead is by how much this machine's clock is ahead of the store's; negative: behind; 0 where the store's is not known.
func (c Clocks) Ahead() time.Duration {
	if c.Store.IsZero() {
		return 0
	}
	return c.Local.Sub(c.Store)
}

// refuse says why a lease is not known to be over; "" where it is.
func (c Clocks) refuse(lease time.Time) string {
	if !c.past().Before(lease) {
		return ""
	}
	why := "its run may go on until " + clockTime(ceilSeconds(lease))
	switch {
	case c.Store.IsZero():
		return fmt.Sprintf("%s; this machine's clock says %s, and a lease must be over for %v by it, since the store's clock is not known", why, clockTime(c.Local), ClockMargin)
	case c.Store.Before(lease):
		return fmt.Sprintf("%s; the store's clock says %s, this machine's %s", why, clockTime(c.Store), clockTime(c.Local))
	}
	return fmt.Sprintf("by this machine's clock, which says %s, %s; the store's says %s, so the lease is over: set this machine's clock right and try again",
		clockTime(c.Local), why, clockTime(c.Store))
}

func clockTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
