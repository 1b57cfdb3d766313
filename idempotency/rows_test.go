package idempotency

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) } // F78

// TestClocksApart: with clocks that differ by the margin, a handler that works to the very end of its time never overlaps
// the one that takes over: F19, F20.
func TestClocksApart(t *testing.T) {
	for _, c := range []struct {
		name         string
		owner, taker time.Duration // how far their clocks are ahead
	}{
		{"same clock", 0, 0},
		{"F19 fast reclaimer", 0, skew},
		{"F20 slow owner", -skew, 0},
		{"fast owner", skew, 0},
		{"both, a margin apart", -skew / 2, skew / 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ahead := func(d time.Duration) func(*Config) {
					return func(c *Config) { c.Now = func() time.Time { return time.Now().Add(d) } }
				}
				owner := newTrial(t, ahead(c.owner))
				taker := newTrial(t, func(cfg *Config) { ahead(c.taker)(cfg); cfg.Store = owner.store })
				ended, crash := make(chan time.Time, 1), make(chan bool)
				defer close(crash)
				go owner.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
					<-ctx.Done()
					ended <- time.Now()
					<-crash // a process that is stopped here
					return nil, errors.New("crashed")
				})
				synctest.Wait()
				for {
					var began time.Time
					r := taker.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) {
						began = time.Now()
						return &Response{Status: 201}, nil
					})
					if r.Status == 201 {
						select {
						case end := <-ended:
							if began.Before(end) {
								t.Errorf("the taker began %v before the owner ended", end.Sub(began))
							}
						default:
							t.Error("the taker began while the owner was at work")
						}
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		})
	}
}

// TestOtherRequestByEveryWay: whichever way a record is seen, another request's is a 422: F38.
func TestOtherRequestByEveryWay(t *testing.T) {
	slow := func(context.Context) (*Response, error) {
		time.Sleep(time.Second)
		return &Response{Status: 201}, nil
	}
	for name, see := range map[string]func(*trial) *Response{
		"with the refused claim": func(x *trial) *Response { x.serve(post("k", "{}")); return x.serve(post("k", "[]")) },
		"by a poll": func(x *trial) *Response {
			// The record that is waited for is let go and claimed by the other request meanwhile.
			go x.guard.Serve(context.Background(), post("k", "[]"), slow)
			synctest.Wait()
			memory := x.store.Store.(*Memory)
			go func() {
				time.Sleep(10 * time.Millisecond)
				memory.mu.Lock()
				defer memory.mu.Unlock()
				for id, r := range memory.records {
					other := *r
					other.Fingerprint = x.guard.fingerprints.of(post("k", "{}")).current
					memory.records[id] = &other
				}
			}()
			return x.serve(post("k", "[]"))
		},
		"by the read of a refused validation": func(x *trial) *Response {
			x.serve(post("k", "{}"))
			x.guard.cfg.Validate = func(context.Context, *Request) *Response { return &Response{Status: 400, Header: http.Header{}} }
			return x.serve(post("k", "[]"))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newTrial(t, func(c *Config) { c.Wait = 5 * time.Second })
			x.want(name, see(x), 422, "key-reused")
			time.Sleep(2 * time.Second)
		})
	}
}

// TestCompressedBodies: a body is compared and limited as it was sent, and never unpacked: F53.
func TestCompressedBodies(t *testing.T) {
	pack := func(level int) []byte {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(bytes.Repeat([]byte("0"), 10<<20))
		w.Close()
		return b.Bytes()
	}
	send := func(body []byte) *Request {
		r := post("k", string(body))
		r.Header.Set("Content-Encoding", "gzip")
		return r
	}
	x := newTrial(t, nil)
	x.want("10 MB in 10 KB", x.serve(send(pack(gzip.BestCompression))), 201, "")
	x.want("the same bytes", x.serve(send(pack(gzip.BestCompression))), 201, "")
	x.want("packed in another way", x.serve(send(pack(gzip.BestSpeed))), 422, "key-reused")
}

// TestHandlerChangesTheRequest: the identity was computed before: F80.
func TestHandlerChangesTheRequest(t *testing.T) {
	x := newTrial(t, nil)
	r := post("k", `{"amount":1}`)
	x.guard.Serve(context.Background(), r, func(context.Context) (*Response, error) {
		r.Body[0], r.Path = 'X', "/other"
		r.Header.Set(KeyHeader, "other")
		r.Caller.Claims["tenant"] = "other"
		return &Response{Status: 201}, nil
	})
	again := x.serve(post("k", `{"amount":1}`))
	x.want("replay", again, 201, "")
	if again.Header.Get(ReplayHeader) != "true" || x.runs != 0 {
		t.Errorf("headers %v, %d runs", again.Header, x.runs)
	}
}

// TestSharedGuard: requests that run at once on one guard do not meet: F74, F83.
func TestSharedGuard(t *testing.T) {
	x := newTrial(t, nil)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			key := fmt.Sprint("key-", i)
			for range 4 {
				r := x.guard.Serve(context.Background(), post(key, `{"n":`+fmt.Sprint(i)+`}`), func(ctx context.Context) (*Response, error) {
					if got, want := AttemptFrom(ctx).ID(), x.guard.hasher.record("acme", key); got != want {
						t.Errorf("%s runs as %s", key, got)
					}
					return &Response{Status: 201, Body: []byte(key)}, nil
				})
				if r.Status != 201 || string(r.Body) != key {
					t.Errorf("%s is answered %d %s", key, r.Status, r.Body)
				}
			}
		})
	}
	wg.Wait()
}

// TestNothingOutlivesTheHandler: what a handler left behind sees its context end: F78.
func TestNothingOutlivesTheHandler(t *testing.T) {
	for _, renewed := range []bool{false, true} {
		x := newTrial(t, func(c *Config) {
			if renewed {
				long(c)
			}
		})
		var left context.Context
		x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
			left = ctx
			return &Response{Status: 201}, nil
		})
		if left.Err() == nil {
			t.Errorf("renewed %v: the handler's context goes on after the answer", renewed)
		}
	}
}
