package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// shop is a client of the payments API on a bad network.
type shop struct {
	base, token string
}

// tally counts what became of one payment's requests.
type tally struct {
	requests, lost, replays, conflicts, other int
	executions, charges                       int // calls of the provider, and what it charged
}

// answerLost sends a payment, hangs up before the answer comes, and sends it again until it has one.
func (s shop) answerLost(ctx context.Context) (t tally, err error) {
	const order = "demo-answer-lost"
	hasty, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	t.count(s.pay(hasty, order, "tok_slow_500"))
	for final := false; !final && t.requests < 50; {
		r := s.pay(ctx, order, "tok_slow_500")
		t.count(r)
		if final = r.status == http.StatusCreated; !final {
			if err := pause(ctx, r.retryAfter); err != nil {
				return t, err
			}
		}
	}
	return t, s.charges(ctx, order, &t)
}

// atOnce sends copies of one payment at the same moment, and one more when all are answered.
func (s shop) atOnce(ctx context.Context, copies int) (t tally, err error) {
	const order = "demo-at-once"
	replies := make([]reply, copies)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() { replies[i] = s.pay(ctx, order, "tok_slow_300") })
	}
	wg.Wait()
	for _, r := range append(replies, s.pay(ctx, order, "tok_slow_300")) {
		t.count(r)
	}
	return t, s.charges(ctx, order, &t)
}

// reply is what the client sees of an answer.
type reply struct {
	status     int
	replayed   bool
	retryAfter time.Duration
	err        error
}

func (t *tally) count(r reply) {
	t.requests++
	switch {
	case r.err != nil:
		t.lost++
	case r.replayed:
		t.replays++
	case r.status == http.StatusConflict:
		t.conflicts++
	case r.status != http.StatusCreated:
		t.other++
	}
}

// pay sends one payment. The order's number is its idempotency key.
func (s shop) pay(ctx context.Context, order, source string) reply {
	body := fmt.Sprintf(`{"amount":1299,"currency":"EUR","source":%q,"reference":%q}`, source, order)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/payments", strings.NewReader(body))
	if err != nil {
		return reply{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", order)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	wait, _ := time.ParseDuration(res.Header.Get("Retry-After") + "s")
	return reply{status: res.StatusCode, replayed: res.Header.Get("Idempotent-Replayed") == "true", retryAfter: wait, err: err}
}

// charges asks the fake provider what it was asked and what it did.
func (s shop) charges(ctx context.Context, order string, t *tally) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/_sandbox/psp/charges?reference="+url.QueryEscape(order), nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var charges []struct{ Attempts int }
	if err := json.NewDecoder(res.Body).Decode(&charges); err != nil {
		return err
	}
	t.charges = len(charges)
	for _, c := range charges {
		t.executions += c.Attempts
	}
	return nil
}

// pause waits before the next try, at least a quarter of a second.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 250*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errors.New("interrupted")
	}
}
