package idempotency

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// TestFreezeInRecovery: where the machine stands still while the recovery function runs, its context does not notice,
// but the wall clock does. The handler must not start without a lease, renewed or not: F16.
func TestFreezeInRecovery(t *testing.T) {
	for _, maxRun := range []time.Duration{DefaultLease, 10 * time.Minute} {
		var stoodStill atomic.Int64
		x := newTrial(t, func(c *Config) {
			c.Now = func() time.Time { return time.Now().Add(time.Duration(stoodStill.Load())) }
			c.Orphans, c.MaxRun = Recover, maxRun
			c.Recover = func(context.Context) (*Response, error) {
				stoodStill.Add(int64(time.Minute))
				return nil, nil
			}
		})
		x.guard.Serve(t.Context(), post("k", "{}"), func(context.Context) (*Response, error) { return nil, context.Canceled })
		x.want("a freeze longer than the lease", x.serve(post("k", "{}")), 503, "store-unavailable")
		if x.runs != 0 {
			t.Error("the handler ran without a lease")
		}
	}
}
