package idempotency

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// sdk is a store whose client tries a call again when it is not answered, as the AWS SDK does.
type sdk struct{ Store }

func (s sdk) Claim(ctx context.Context, w Claim) error {
	if err := s.Store.Claim(ctx, w); !errors.Is(err, errDown) {
		return err
	}
	return s.Store.Claim(ctx, w)
}

func (s sdk) Takeover(ctx context.Context, w Takeover) error {
	if err := s.Store.Takeover(ctx, w); !errors.Is(err, errDown) {
		return err
	}
	return s.Store.Takeover(ctx, w)
}

func (s sdk) Complete(ctx context.Context, w Completion) error {
	if err := s.Store.Complete(ctx, w); !errors.Is(err, errDown) {
		return err
	}
	return s.Store.Complete(ctx, w)
}

// withSDK lets the guard's calls be tried again.
func withSDK(c *Config) { c.Store = sdk{c.Store} }

func TestOwnClaimRecognised(t *testing.T) { // F04
	x := newTrial(t, withSDK)
	x.store.fault = on("claim", 1, ackLost)
	x.want("claim's acknowledgement lost", x.serve(post("k", "{}")), 201, "")
	x.want("replay", x.serve(post("k", "{}")), 201, "")
	if x.runs != 1 {
		t.Errorf("%d runs", x.runs)
	}

	x = newTrial(t, withSDK)
	x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) { return &Response{Status: 503}, nil })
	x.store.fault = on("takeover", 1, ackLost)
	x.want("takeover's acknowledgement lost", x.serve(post("k", "{}")), 201, "")
}

func TestOwnClaimTooLate(t *testing.T) { // F95
	synctest.Test(t, func(t *testing.T) {
		x := newTrial(t, withSDK)
		x.store.fault = on("claim", 1, ackLost)
		x.store.hook = func(op string, n int) {
			if op == "claim" && n == 2 {
				time.Sleep(900 * time.Millisecond)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		x.want("no time to run", x.guard.Serve(ctx, post("k", "{}"), x.created), 503, "store-unavailable")
		if x.runs != 0 || x.store.calls["release"] != 1 {
			t.Errorf("%d runs, calls %v", x.runs, x.store.calls)
		}
		x.want("the next one need not wait", x.serve(post("k", "{}")), 201, "")
	})
}

func TestClaimUnknown(t *testing.T) { // F05, F60
	for _, f := range []fault{failed, ackLost} {
		x := newTrial(t, nil)
		x.store.fault = on("claim", 1, f)
		r := x.serve(post("k", "{}"))
		x.want("claim not answered", r, 503, "store-unavailable")
		if r.Header.Get("Retry-After") == "" || x.runs != 0 || x.outcome() != OutcomeStoreError {
			t.Errorf("Retry-After %q, %d runs, outcome %s", r.Header.Get("Retry-After"), x.runs, x.outcome())
		}
		x.want("then", x.serve(post("k", "{}")), 201, "")
	}
}

func TestRecordGone(t *testing.T) { // F06
	x := newTrial(t, nil)
	x.serve(post("k", "{}"))
	memory := x.store.Store.(*Memory)
	gone := &vanishing{Store: memory}
	x.store.Store = gone
	x.want("refused, then gone", x.serve(post("k", "{}")), 503, "store-unavailable")
	if gone.claims != claimRounds {
		t.Errorf("%d claims, want %d", gone.claims, claimRounds)
	}
}

// vanishing refuses each claim, and has no record when asked.
type vanishing struct {
	Store
	claims int
}

func (v *vanishing) Claim(context.Context, Claim) error { v.claims++; return &RefusedError{} }

func TestOwnCompletionRecognised(t *testing.T) { // F09
	x := newTrial(t, withSDK)
	x.store.fault = on("complete", 1, ackLost)
	r := x.serve(post("k", "{}"))
	x.want("completion's acknowledgement lost", r, 201, "")
	if r.Header.Get(ReplayHeader) != "" || x.outcome() != OutcomeFirst {
		t.Errorf("headers %v, outcome %s", r.Header, x.outcome())
	}
}

func TestCompletionFails(t *testing.T) { // F10
	x := newTrial(t, nil)
	x.store.fault = on("complete", 0, failed)
	x.want("plain: the real response", x.serve(post("k", "{}")), 201, "")
	if x.outcome() != OutcomeNotRecorded {
		t.Errorf("outcome %s", x.outcome())
	}
	x.want("its lease is live", x.serve(post("k", "{}")), 409, "in-progress")

	committed := 0
	enlisting := func(ctx context.Context) (*Response, error) {
		AttemptFrom(ctx).Enlist(func() { committed++ })
		return &Response{Status: 201}, nil
	}
	x = newTrial(t, nil)
	x.store.fault = on("complete", 0, failed)
	r := x.guard.Serve(context.Background(), post("k", "{}"), enlisting)
	x.want("transaction: never the handler's response", r, 503, "outcome-unknown")
	if r.Header.Get("Retry-After") == "" || committed != 0 || x.store.calls["get"] != 1 || x.store.calls["release"] != 0 {
		t.Errorf("headers %v, %d committed, calls %v", r.Header, committed, x.store.calls)
	}

	x = newTrial(t, nil)
	x.store.fault = on("complete", 0, ackLost)
	x.want("transaction landed: one read tells", x.guard.Serve(context.Background(), post("k", "{}"), enlisting), 201, "")
	if committed != 1 || x.outcome() != OutcomeFirst {
		t.Errorf("%d committed, outcome %s", committed, x.outcome())
	}
}

// business is a store whose completions with enlisted writes are refused by one of these.
type business struct {
	Store
	answer *Response
	late   bool // the refused transaction lands after all, before the next call
}

func (b *business) Complete(ctx context.Context, w Completion) error {
	if len(w.Enlisted) == 0 {
		return b.Store.Complete(ctx, w)
	}
	if b.late {
		w.Enlisted = nil
		b.Store.Complete(ctx, w)
	}
	return &BusinessError{Answer: b.answer, Reason: "exists"}
}

func TestBusinessCondition(t *testing.T) { // F99
	enlisting := func(ctx context.Context) (*Response, error) {
		AttemptFrom(ctx).Enlist(func() {})
		return &Response{Status: 201}, nil
	}
	serve := func(b *business, r *Request) (*trial, *Response) {
		x := newTrial(t, nil)
		b.Store, x.store.Store = x.store.Store, b
		return x, x.guard.Serve(context.Background(), r, enlisting)
	}
	x, r := serve(&business{answer: &Response{Status: 409}}, post("k", "{}"))
	x.want("the handler's answer", r, 409, "")
	x.want("is recorded", x.serve(post("k", "{}")), 409, "")
	x, r = serve(&business{}, post("k", "{}"))
	x.want("no answer", r, 500, "handler-failed")
	x.want("orphaned", x.serve(post("k", "{}")), 201, "")
	x, r = serve(&business{answer: &Response{Status: 409}, late: true}, post("k", "{}"))
	x.want("an earlier try landed: its response", r, 201, "")
	x, r = serve(&business{late: true}, post("k", "{}"))
	x.want("an earlier try landed, no answer: its response", r, 201, "")
}

func TestFenced(t *testing.T) { // F11, F12, F88
	for _, c := range []struct {
		name   string
		winner string // its body
		status int    // of the winner's response; 0: still at work
		want   int
		code   string
	}{
		{"the winner's response", "{}", 201, 201, ""},
		{"the winner is at work", "{}", 0, 409, "in-progress"},
		{"the winner let go", "{}", 503, 409, "in-progress"},
		{"F88 the winner's response to another request", "[]", 201, 422, "key-reused"},
	} {
		x := newTrial(t, nil)
		id := x.guard.hasher.record("acme", "k")
		memory := x.store.Store.(*Memory)
		r := x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
			memory.mu.Lock()
			taken := *memory.records[id]
			taken.Owner, taken.Epoch, taken.Fingerprint = "winner", taken.Epoch+1, x.guard.fingerprints.of(post("k", c.winner)).current
			switch {
			case c.status >= 500:
				taken.Status, taken.ExpiresAt = Released, time.Now().Add(time.Hour)
			case c.status > 0:
				taken.Status, taken.ExpiresAt = Completed, time.Now().Add(time.Hour)
				taken.Response = &Response{Status: c.status, Header: http.Header{"Winner": {"yes"}}}
			}
			memory.records[id] = &taken
			memory.mu.Unlock()
			return &Response{Status: 202}, nil
		})
		x.want(c.name, r, c.want, c.code)
		if x.outcome() != OutcomeFenced || memory.records[id].Owner != "winner" {
			t.Errorf("%s: outcome %s, owner %s", c.name, x.outcome(), memory.records[id].Owner)
		}
		if c.want == 201 && (r.Header.Get("Winner") == "" || r.Header.Get(ReplayHeader) != "true") {
			t.Errorf("%s: headers %v", c.name, r.Header)
		}
	}

	x := newTrial(t, nil)
	r := x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) {
		clear(x.store.Store.(*Memory).records)
		return &Response{Status: 201}, nil
	})
	x.want("F23 the record is gone", r, 409, "outcome-unknown")
	if len(x.store.Store.(*Memory).records) != 0 {
		t.Error("the completion made a record")
	}
}

// TestFencedByUnreadable: a fenced attempt is never told that it did not run, whatever stands in its record's place.
func TestFencedByUnreadable(t *testing.T) { // F11, F32
	for name, spoil := range map[string]func(*trial, *Record){
		"its body is lost":  func(x *trial, _ *Record) { x.store.body = func(*Record) error { return ErrBodyLost } },
		"its schema is new": func(_ *trial, r *Record) { r.Version = SchemaVersion + 1 },
	} {
		x := newTrial(t, nil)
		id := x.guard.hasher.record("acme", "k")
		memory := x.store.Store.(*Memory)
		r := x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) {
			memory.mu.Lock()
			defer memory.mu.Unlock()
			taken := *memory.records[id]
			taken.Owner, taken.Status, taken.ExpiresAt = "winner", Completed, time.Now().Add(time.Hour)
			taken.Response = &Response{Status: 201}
			spoil(x, &taken)
			memory.records[id] = &taken
			return &Response{Status: 202}, nil
		})
		x.want(name, r, 503, "outcome-unknown")
		if x.outcome() != OutcomeFenced {
			t.Errorf("%s: outcome %s", name, x.outcome())
		}
	}
}

func TestBodyLost(t *testing.T) { // F32
	x := newTrial(t, nil)
	x.serve(post("k", "{}"))
	x.store.body = func(*Record) error { return ErrBodyLost }
	x.want("body item missing", x.serve(post("k", "{}")), 503, "store-unavailable")
	if x.runs != 1 {
		t.Errorf("%d runs", x.runs)
	}
}

func TestManyAtOnce(t *testing.T) { // F01, F74
	x := newTrial(t, nil)
	var firsts, replays, busy atomic.Int32
	start := make(chan struct{})
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			<-start
			switch r := x.serve(post("k", "{}")); {
			case r.Status == 409:
				busy.Add(1)
			case r.Header.Get(ReplayHeader) != "":
				replays.Add(1)
			default:
				firsts.Add(1)
			}
		})
	}
	close(start)
	wg.Wait()
	if x.runs != 1 || firsts.Load() != 1 || replays.Load()+busy.Load() != 63 {
		t.Errorf("%d runs; %d first, %d replays, %d in progress", x.runs, firsts.Load(), replays.Load(), busy.Load())
	}
}

func TestInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTrial(t, nil)
		go x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) {
			time.Sleep(10 * time.Second)
			return &Response{Status: 201}, nil
		})
		synctest.Wait()
		for _, c := range []struct {
			after time.Duration
			retry string
		}{{0, "2"}, {9 * time.Second, "2"}} {
			time.Sleep(c.after)
			r := x.serve(post("k", "{}"))
			x.want("at work", r, 409, "in-progress")
			if got := r.Header.Get("Retry-After"); got != c.retry {
				t.Errorf("Retry-After %s, want %s", got, c.retry)
			}
			x.want("F37 other payload", x.serve(post("k", "[]")), 422, "key-reused")
		}
		time.Sleep(2 * time.Second)
		x.want("later", x.serve(post("k", "{}")), 201, "")
	})
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTrial(t, func(c *Config) { c.Wait = 5 * time.Second })
		slow := func(context.Context) (*Response, error) {
			time.Sleep(3 * time.Second)
			return &Response{Status: 201}, nil
		}
		go x.guard.Serve(context.Background(), post("k", "{}"), slow)
		synctest.Wait()
		r := x.serve(post("k", "{}"))
		x.want("waits for the first run's response", r, 201, "")
		if r.Header.Get(ReplayHeader) != "true" || x.runs != 0 {
			t.Errorf("headers %v, %d runs", r.Header, x.runs)
		}

		go x.guard.Serve(context.Background(), post("l", "{}"), func(context.Context) (*Response, error) {
			time.Sleep(20 * time.Second)
			return &Response{Status: 201}, nil
		})
		synctest.Wait()
		start := time.Now()
		x.want("patience is over", x.serve(post("l", "{}")), 409, "in-progress")
		if took := time.Since(start); took < 4*time.Second || took > 5*time.Second {
			t.Errorf("waited %v", took)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		start = time.Now()
		x.want("its own deadline is near", x.guard.Serve(ctx, post("l", "{}"), x.created), 409, "in-progress")
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("waited %v of 3 s", took)
		}
		time.Sleep(20 * time.Second)
	})
}

func TestOrphanPolicies(t *testing.T) { // F03, F07
	dies := func(context.Context) (*Response, error) { return nil, errors.New("dies") }
	recovered := 0
	for _, c := range []struct {
		name    string
		policy  OrphanPolicy
		recover RunHandler
		want    int
		code    string
		runs    int
	}{
		{"Rerun", Rerun, nil, 201, "", 1},
		{"Refuse", Refuse, nil, 409, "outcome-unknown", 0},
		{"Recover finds the response", Recover, func(context.Context) (*Response, error) { recovered++; return &Response{Status: 200}, nil }, 200, "", 0},
		{"Recover finds nothing", Recover, func(context.Context) (*Response, error) { recovered++; return nil, nil }, 201, "", 1},
		{"Recover fails", Recover, func(context.Context) (*Response, error) { recovered++; return nil, errors.New("x") }, 500, "handler-failed", 0},
	} {
		recovered = 0
		x := newTrial(t, func(cfg *Config) { cfg.Orphans, cfg.Recover = c.policy, c.recover })
		x.guard.Serve(context.Background(), post("k", "{}"), dies)
		x.want(c.name, x.serve(post("k", "{}")), c.want, c.code)
		if x.runs != c.runs || recovered != min(1, int(c.policy)/int(Recover)) {
			t.Errorf("%s: %d runs, %d recoveries", c.name, x.runs, recovered)
		}
	}
}

func TestEpochRises(t *testing.T) { // F92
	synctest.Test(t, func(t *testing.T) {
		x := newTrial(t, nil)
		epoch := func() (e int64) {
			x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
				e = AttemptFrom(ctx).Epoch()
				return &Response{Status: 503}, nil
			})
			return e
		}
		first, second := epoch(), epoch()
		if second != first+1 || first != time.Now().UnixMilli() {
			t.Errorf("epochs %d, %d at %d", first, second, time.Now().UnixMilli())
		}
		time.Sleep(48 * time.Hour)
		if third := epoch(); third != time.Now().UnixMilli() {
			t.Errorf("after the retention: %d at %d", third, time.Now().UnixMilli())
		}
	})
}

func TestRetentionEnds(t *testing.T) { // F21, F22
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(500 * time.Millisecond)
		x := newTrial(t, nil)
		x.serve(post("k", "{}"))
		time.Sleep(24*time.Hour + 2*time.Second)
		x.want("within retention and margin", x.serve(post("k", "{}")), 201, "")
		if x.runs != 1 {
			t.Errorf("%d runs", x.runs)
		}
		time.Sleep(time.Second)
		x.want("after them the key is new, also for another request", x.serve(post("k", "[]")), 201, "")
		if x.runs != 2 {
			t.Errorf("%d runs", x.runs)
		}
	})
}

// TestLettingGoOfAnOrphan: what was taken from an orphan, or may have been, is an orphan when it is let go: the next
// attempt recovers first.
func TestLettingGoOfAnOrphan(t *testing.T) {
	for _, f := range []fault{failed, ackLost} {
		recovered := 0
		x := newTrial(t, func(c *Config) {
			c.Orphans, c.Recover = Recover, func(context.Context) (*Response, error) {
				recovered++
				return &Response{Status: 200}, nil
			}
		})
		x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) { return nil, errors.New("dies") })
		x.store.fault = on("takeover", 1, f)
		x.want("takeover not answered", x.serve(post("k", "{}")), 503, "store-unavailable")
		x.want("then", x.serve(post("k", "{}")), 200, "")
		if recovered != 1 || x.runs != 0 || x.store.calls["release"] != 0 {
			t.Errorf("%d recoveries, %d runs, calls %v", recovered, x.runs, x.store.calls)
		}
	}
}
