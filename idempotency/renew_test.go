package idempotency

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// long is a run outside Lambda that may take ten minutes.
func long(c *Config) { c.MaxRun = 10 * time.Minute }

// works takes d, or until its context ends.
func works(d time.Duration) RunHandler {
	return func(ctx context.Context) (*Response, error) {
		select {
		case <-time.After(d):
			return &Response{Status: 201}, nil
		case <-ctx.Done():
			return &Response{Status: 503}, nil
		}
	}
}

func TestRenewal(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  func(string, int) fault
		work   time.Duration
		status int
		took   time.Duration
	}{
		{"within the first lease", nil, 5 * time.Second, 201, 5 * time.Second},
		{"renewed", nil, 5 * time.Minute, 201, 5 * time.Minute},
		{"longer than it may be", nil, time.Hour, 503, 10 * time.Minute},
		{"F14 acknowledgement lost", on("extend", 1, ackLost), 2 * time.Minute, 201, 2 * time.Minute},
		{"F14 every acknowledgement lost", on("extend", 0, ackLost), 2 * time.Minute, 201, 2 * time.Minute},
		{"F15 throttled for a while", func(op string, n int) fault {
			if op == "extend" && n < 10 {
				return failed
			}
			return answered
		}, 2 * time.Minute, 201, 2 * time.Minute},
		{"F15 throttled for good: stops before the lease is over", on("extend", 0, failed), 2 * time.Minute, 503, 28 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTrial(t, long)
				x.store.fault = c.fault
				start, done := time.Now(), make(chan struct{})
				go func() {
					defer close(done)
					r := x.guard.Serve(context.Background(), post("k", "{}"), works(c.work))
					if r.Status != c.status {
						t.Errorf("answered %d %s, want %d", r.Status, r.Body, c.status)
					}
				}()
				for took := time.Duration(0); ; took += 10 * time.Second {
					synctest.Wait()
					select {
					case <-done:
						if took := time.Since(start); took != c.took {
							t.Errorf("took %v, want %v", took, c.took)
						}
						return
					default:
					}
					if took > 0 {
						x.want("meanwhile", x.serve(post("k", "{}")), 409, "in-progress")
					}
					select {
					case <-done:
					case <-time.After(10 * time.Second):
					}
				}
			})
		})
	}
}

// TestRenewalAfterAFreeze: the machine stands still for longer than the lease. Timers go on as if nothing had happened;
// the wall clock says that the lease is over: F16.
func TestRenewalAfterAFreeze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var frozen atomic.Int64
		x := newTrial(t, func(c *Config) {
			long(c)
			c.Now = func() time.Time { return time.Now().Add(time.Duration(frozen.Load())) }
		})
		done := make(chan *Response)
		start := time.Now()
		go func() { done <- x.guard.Serve(context.Background(), post("k", "{}"), works(5*time.Minute)) }()
		time.Sleep(5*time.Second + time.Millisecond)
		frozen.Store(int64(time.Hour))
		if r := <-done; r.Status != 503 || time.Since(start) > 7*time.Second {
			t.Errorf("answered %d after %v, want the handler's 503 within a tick", r.Status, time.Since(start))
		}
	})
}

// TestRenewalWhenTakenOver: a renewal that finds another owner stops the handler.
func TestRenewalWhenTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTrial(t, long)
		memory := x.store.Store.(*Memory)
		go func() {
			time.Sleep(5 * time.Second)
			memory.mu.Lock()
			defer memory.mu.Unlock()
			for id, r := range memory.records {
				taken := *r
				taken.Owner = "winner"
				memory.records[id] = &taken
			}
		}()
		start := time.Now()
		r := x.guard.Serve(context.Background(), post("k", "{}"), works(5*time.Minute))
		if r.Status != 503 || time.Since(start) > 15*time.Second {
			t.Errorf("answered %d after %v", r.Status, time.Since(start))
		}
	})
}

// TestLeaseHasTheMargin: the lease that others see ends later than the time that the owner works, by the greatest difference
// between two clocks: F19, F20.
func TestLeaseHasTheMargin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []time.Duration{0, 7 * time.Second} {
			x := newTrial(t, nil)
			ctx, works := context.Background(), DefaultLease
			if limit > 0 {
				limited, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				ctx, works = limited, limit
			}
			x.guard.Serve(ctx, post("k", "{}"), func(context.Context) (*Response, error) {
				for _, r := range x.store.Store.(*Memory).records {
					if got := time.Until(r.LeaseUntil); got != works+DefaultSkew {
						t.Errorf("limit %v: the lease is live for %v, want %v", limit, got, works+DefaultSkew)
					}
				}
				return &Response{Status: 201}, nil
			})
		}
	})
}
