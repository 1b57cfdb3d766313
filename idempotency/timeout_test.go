package idempotency

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimeout compares the guard's timeouts with those of the context package: asked by the clock alone, and waited for.
func TestTimeout(t *testing.T) {
	type key struct{}
	cases := []struct {
		name string
		do   func(cancel, end context.CancelFunc)
		want error
	}{
		{"still open", func(_, _ context.CancelFunc) { time.Sleep(time.Second - 1) }, nil},
		{"over", func(_, _ context.CancelFunc) { time.Sleep(time.Second) }, context.DeadlineExceeded},
		{"parent cancelled", func(cancel, _ context.CancelFunc) { cancel() }, context.Canceled},
		{"ended", func(_, end context.CancelFunc) { end() }, context.Canceled},
	}
	for _, c := range cases {
		for _, waited := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
				defer cancel()
				ctx := newTimeout(parent, time.Second)
				defer ctx.end()
				if waited {
					ctx.Done()
				}
				c.do(cancel, ctx.end)
				synctest.Wait()
				if err := ctx.Err(); !errors.Is(err, c.want) || c.want == nil && err != nil {
					t.Errorf("%s, waited %v: %v, want %v", c.name, waited, err, c.want)
				}
				select {
				case <-ctx.Done():
					if c.want == nil {
						t.Errorf("%s, waited %v: done", c.name, waited)
					}
				default:
					if c.want != nil {
						t.Errorf("%s, waited %v: not done", c.name, waited)
					}
				}
				if got := ctx.Value(key{}); got != "v" {
					t.Errorf("%s: value %v", c.name, got)
				}
			})
		}
	}
}

// TestTimeoutDeadline: the earlier one counts, and a context made from a timeout ends with it.
func TestTimeoutDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		limit, _ := parent.Deadline()
		for _, d := range []time.Duration{time.Second, time.Hour} {
			ctx := newTimeout(parent, d)
			defer ctx.end()
			want := limit
			if d < time.Minute {
				want = time.Now().Add(d)
			}
			if got, ok := ctx.Deadline(); !ok || !got.Equal(want) {
				t.Errorf("deadline %v %v, want %v", got, ok, want)
			}
			child, stop := context.WithCancel(ctx)
			defer stop()
			<-child.Done()
			if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) || time.Now().Before(want) {
				t.Errorf("child ended at %v by %v, want %v", time.Now(), err, want)
			}
		}
	})
}
