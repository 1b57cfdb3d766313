package idempotency

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// mute is a store that does not answer renewals.
type mute struct{ Store }

func (mute) Extend(ctx context.Context, _ Extension) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestUnansweredRenewal: a renewal that is under way does not keep the handler from being cut before its lease ends: F15.
func TestUnansweredRenewal(t *testing.T) {
	for _, lease := range []time.Duration{time.Second, 3 * time.Second, 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			x := newTrial(t, func(c *Config) { c.Store, c.Lease, c.MaxRun, c.Skew = mute{&Memory{}}, lease, time.Hour, time.Second })
			start := time.Now()
			x.guard.Serve(t.Context(), post("k", "{}"), works(time.Hour))
			if took := time.Since(start); took >= lease {
				t.Errorf("lease %v: the handler was cut after %v", lease, took)
			}
		})
	}
}

// TestShortFreezeInRecovery: the machine stands still in the recovery function for less than the lease. The handler's
// context ends when the wall clock says so: F16.
func TestShortFreezeInRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stoodStill atomic.Int64
		wall := func() time.Time { return time.Now().Add(time.Duration(stoodStill.Load())) }
		x := newTrial(t, func(c *Config) {
			c.Now, c.Orphans = wall, Recover
			c.Recover = func(context.Context) (*Response, error) {
				stoodStill.Add(int64(10 * time.Second))
				return nil, nil
			}
		})
		x.guard.Serve(t.Context(), post("k", "{}"), func(context.Context) (*Response, error) { return nil, context.Canceled })
		start := wall()
		x.guard.Serve(t.Context(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
			<-ctx.Done()
			if took := wall().Sub(start); took != DefaultLease-completionBudget {
				t.Errorf("the handler was cut after %v, want %v", took, DefaultLease-completionBudget)
			}
			return nil, ctx.Err()
		})
	})
}
