package idempotency

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRecoverLeavesOrphans: whatever the recovery function answers, unless it found the response or the handler may run,
// the next attempt looks again.
func TestRecoverLeavesOrphans(t *testing.T) { // F08
	for name, recover := range map[string]RunHandler{
		"503": func(context.Context) (*Response, error) { return &Response{Status: 503}, nil },
		"403": func(context.Context) (*Response, error) { return &Response{Status: 403}, nil },
		"LetGo": func(ctx context.Context) (*Response, error) {
			AttemptFrom(ctx).Decide(LetGo)
			return &Response{Status: 200}, nil
		},
		"an error, LetGo": func(ctx context.Context) (*Response, error) {
			AttemptFrom(ctx).Decide(LetGo)
			return nil, errors.New("the provider is away")
		},
	} {
		looks, runs := 0, 0
		x := newTrial(t, func(c *Config) {
			c.Orphans, c.Recover = Recover, func(ctx context.Context) (*Response, error) { looks++; return recover(ctx) }
		})
		failing := func(context.Context) (*Response, error) { runs++; return nil, errors.New("no answer") }
		for range 3 {
			x.guard.Serve(context.Background(), post("k", "{}"), failing)
		}
		if looks != 2 || runs != 1 || x.outcome() != OutcomeOrphaned {
			t.Errorf("%s: %d looks, %d runs, outcome %s", name, looks, runs, x.outcome())
		}
	}
}

// TestRecoverLeavesNothing: the handler starts anew after a look-up that found nothing.
func TestRecoverLeavesNothing(t *testing.T) {
	committed := 0
	x := newTrial(t, func(c *Config) {
		c.Orphans, c.Recover = Recover, func(ctx context.Context) (*Response, error) {
			a := AttemptFrom(ctx)
			if a.Request().Path != "/payments" {
				t.Errorf("path %q", a.Request().Path)
			}
			a.Enlist(func() { committed++ })
			a.Decide(LetGo)
			a.Withhold()
			return nil, nil
		}
	})
	x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) { return nil, errors.New("no answer") })
	x.want("the handler's response", x.serve(post("k", "{}")), 201, "")
	x.want("is recorded", x.serve(post("k", "{}")), 201, "")
	if committed != 0 || x.outcome() != OutcomeReplay {
		t.Errorf("%d committed, outcome %s", committed, x.outcome())
	}
}

// TestNoDisposition: a function that has no opinion leaves it to the status, one that returns nonsense leaves an orphan.
func TestNoDisposition(t *testing.T) {
	for d, want := range map[Disposition]Outcome{0: OutcomeFirst, -1: OutcomeOrphaned, 99: OutcomeOrphaned} {
		x := newTrial(t, func(c *Config) { c.Disposition = func(*Response) Disposition { return d } })
		x.want("response", x.serve(post("k", "{}")), 201, "")
		if x.outcome() != want {
			t.Errorf("Disposition %d: outcome %s, want %s", d, x.outcome(), want)
		}
		x = newTrial(t, nil)
		x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
			AttemptFrom(ctx).Decide(d)
			return &Response{Status: 201}, nil
		})
		if x.outcome() != want {
			t.Errorf("Decide(%d): outcome %s, want %s", d, x.outcome(), want)
		}
	}
}

// TestSharedResponse: a response may be one for all requests.
func TestSharedResponse(t *testing.T) {
	shared := &Response{Status: 201, Header: http.Header{"content-type": {"text/plain"}, "X": {"a\r\nb"}, ReplayHeader: {"true"}}}
	x := newTrial(t, nil)
	refusing := newTrial(t, nil)
	refusing.store.Store = &business{Store: refusing.store.Store, answer: shared}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			key := strings.Repeat("k", i+1)
			x.guard.Serve(context.Background(), post(key, "{}"), func(context.Context) (*Response, error) { return shared, nil })
			r := refusing.guard.Serve(context.Background(), post(key, "{}"), func(ctx context.Context) (*Response, error) {
				AttemptFrom(ctx).Enlist(func() {})
				return &Response{Status: 200}, nil
			})
			if len(r.Header) != 1 || r.Header.Get("Content-Type") != "text/plain" {
				t.Errorf("headers %v", r.Header)
			}
		})
	}
	wg.Wait()
	if len(shared.Header) != 3 {
		t.Errorf("the handler's headers are now %v", shared.Header)
	}
}

// TestNoStatus: a status that no HTTP answer can have fails loudly, once, instead of on every replay.
func TestNoStatus(t *testing.T) {
	for _, status := range []int{0, 1, 100, 199, 1000, -5} {
		x := newTrial(t, nil)
		x.want("response", x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) {
			return &Response{Status: status}, nil
		}), 500, "handler-failed")
		if x.outcome() != OutcomeOrphaned {
			t.Errorf("%d: outcome %s", status, x.outcome())
		}
		x = newTrial(t, nil)
		x.store.Store = &business{Store: x.store.Store, answer: &Response{Status: status}}
		x.want("answer to a refused write", x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
			AttemptFrom(ctx).Enlist(func() {})
			return &Response{Status: 200}, nil
		}), 500, "handler-failed")
	}
}

// TestHugeResponse: what is too large to be kept is sent, and not recorded.
func TestHugeResponse(t *testing.T) {
	for _, over := range []int{0, 1} {
		x := newTrial(t, nil)
		r := x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) {
			return &Response{Status: 200, Body: make([]byte, maxRecorded+over)}, nil
		})
		if r.Status != 200 || len(r.Body) != maxRecorded+over {
			t.Errorf("%d over: %d with %d bytes", over, r.Status, len(r.Body))
		}
		if r = x.serve(post("k", "{}")); over == 0 && (r.Status != 200 || len(r.Body) != maxRecorded) || over == 1 && codeOf(r) != "response-not-stored" {
			t.Errorf("%d over: replay %d %s, %d bytes", over, r.Status, codeOf(r), len(r.Body))
		}
	}
}

// TestLongLeaseExpiry: TTL must not delete a record whose lease is live, however long that is.
func TestLongLeaseExpiry(t *testing.T) { // F22
	for _, days := range []int{1, 6, 7, 10, 30} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(days)*24*time.Hour)
		x := newTrial(t, nil)
		x.guard.Serve(ctx, post("k", "{}"), func(context.Context) (*Response, error) {
			for _, r := range x.store.Store.(*Memory).records {
				if r.ExpiresAt.Before(r.LeaseUntil.Add(leaseToExpiry)) || r.ExpiresAt.Before(time.Now().Add(orphanRetention-time.Minute)) {
					t.Errorf("a lease of %d days until %v expires at %v", days, r.LeaseUntil, r.ExpiresAt)
				}
			}
			return &Response{Status: 201}, nil
		})
		cancel()
	}
}

// TestHooksPanic: code of the endpoint's that panics after the handler orphans the claim too.
func TestHooksPanic(t *testing.T) { // F06
	for name, end := range map[string]func(){"panic": func() { panic("bug") }, "Goexit": runtime.Goexit} {
		x := newTrial(t, func(c *Config) {
			c.Disposition = func(r *Response) Disposition {
				if r.Status == 202 {
					end()
				}
				return Keep
			}
		})
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) { return &Response{Status: 202}, nil })
		}()
		<-done
		x.want(name+": the next attempt runs at once", x.serve(post("k", "{}")), 201, "")
	}
}

// TestDoRefusedWrite: what was answered to a refused write is no result.
func TestDoRefusedWrite(t *testing.T) {
	for _, answer := range []*Response{
		{Status: 409, Header: http.Header{"Content-Type": {problemType}}, Body: []byte(`{"code":"low-balance"}`)},
		{Status: 409, Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte(`"low balance"`)},
	} {
		x := newTrial(t, nil)
		x.store.Store = &business{Store: x.store.Store, answer: answer}
		for range 2 {
			got, err := Do(context.Background(), x.guard, Op{Name: "settle", Scope: "acme", Key: "k"}, func(ctx context.Context) (string, error) {
				AttemptFrom(ctx).Enlist(func() {})
				return "settled", nil
			})
			var e *Error
			if !errors.Is(err, ErrWriteRefused) || !errors.As(err, &e) || string(e.Response.Body) != string(answer.Body) || got != "" {
				t.Errorf("%q, %v", got, err)
			}
		}
	}
}
