package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
)

// trial is a guard on a memory store, with what it did.
type trial struct {
	t      *testing.T
	guard  *Guard
	store  *script
	events []Event
	runs   int
	mu     sync.Mutex // guards events and runs
}

// newTrial makes a guard with the scope "acme" on a scripted memory store.
func newTrial(t *testing.T, change func(*Config)) *trial {
	t.Helper()
	x := &trial{t: t, store: &script{Store: &Memory{}, calls: map[string]int{}}}
	c := Config{Store: x.store, Scope: JWTClaim("tenant"), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Observe: func(_ context.Context, e Event) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.events = append(x.events, e)
		}}
	if change != nil {
		change(&c)
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	x.guard = g
	return x
}

// post makes a request of tenant acme.
func post(key, body string) *Request {
	r := &Request{Method: "POST", Path: "/payments", Route: "POST /payments", Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(body), Caller: Caller{Claims: map[string]string{"tenant": "acme", "sub": "alice"}}}
	if key != "" {
		r.Header.Set(KeyHeader, key)
	}
	return r
}

// created is a handler that counts its runs and answers 201.
func (x *trial) created(context.Context) (*Response, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.runs++
	return &Response{Status: 201, Header: http.Header{"Content-Type": {"application/json"}, "Location": {"/payments/1"}}, Body: []byte(`{"id":1}`)}, nil
}

func (x *trial) serve(r *Request) *Response {
	return x.guard.Serve(context.Background(), r, x.created)
}

// want checks an answer's status and, for problem documents, its code.
func (x *trial) want(what string, r *Response, status int, code string) {
	x.t.Helper()
	if r.Status != status || codeOf(r) != code {
		x.t.Errorf("%s: %d %s %s, want %d %s", what, r.Status, codeOf(r), r.Body, status, code)
	}
}

func codeOf(r *Response) string {
	var doc struct{ Code string }
	if r.Header.Get("Content-Type") == "application/problem+json" {
		json.Unmarshal(r.Body, &doc)
	}
	return doc.Code
}

// outcome is that of the last event.
func (x *trial) outcome() Outcome {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.events) == 0 {
		return ""
	}
	return x.events[len(x.events)-1].Outcome
}

var errDown = errors.New("store is down")

// fault is what happens to a call of a store.
type fault int

const (
	answered fault = iota
	failed         // not done
	ackLost        // done, and told as failed
)

// script is a store whose calls go as a test says.
type script struct {
	Store
	mu    sync.Mutex
	calls map[string]int               // guarded by mu
	fault func(op string, n int) fault // of the n-th call of an operation, from 1; nil: answered
	hook  func(op string, n int)       // before each call
	body  func(*Record) error          // instead of LoadBody
}

func (s *script) do(op string, call func() error) error {
	s.mu.Lock()
	s.calls[op]++
	n, f := s.calls[op], answered
	if s.fault != nil {
		f = s.fault(op, n)
	}
	s.mu.Unlock()
	if s.hook != nil {
		s.hook(op, n)
	}
	if f == failed {
		return errDown
	}
	if err := call(); err != nil || f == answered {
		return err
	}
	return errDown
}

func (s *script) Claim(ctx context.Context, w Claim) error {
	return s.do("claim", func() error { return s.Store.Claim(ctx, w) })
}

func (s *script) Takeover(ctx context.Context, w Takeover) error {
	return s.do("takeover", func() error { return s.Store.Takeover(ctx, w) })
}

func (s *script) Complete(ctx context.Context, w Completion) error {
	return s.do("complete", func() error { return s.Store.Complete(ctx, w) })
}

func (s *script) Release(ctx context.Context, w Release) error {
	return s.do("release", func() error { return s.Store.Release(ctx, w) })
}

func (s *script) Orphan(ctx context.Context, w Orphaning) error {
	return s.do("orphan", func() error { return s.Store.Orphan(ctx, w) })
}

func (s *script) Extend(ctx context.Context, w Extension) error {
	return s.do("extend", func() error { return s.Store.Extend(ctx, w) })
}

func (s *script) Checkpoint(ctx context.Context, w Checkpoint) error {
	return s.do("checkpoint", func() error { return s.Store.Checkpoint(ctx, w) })
}

func (s *script) LoadStep(ctx context.Context, r *Record, i int) error {
	return s.do("load", func() error { return s.Store.LoadStep(ctx, r, i) })
}

func (s *script) Get(ctx context.Context, id string) (r *Record, err error) {
	err = s.do("get", func() error { r, err = s.Store.Get(ctx, id); return err })
	return r, err
}

func (s *script) LoadBody(ctx context.Context, r *Record) error {
	if s.body != nil {
		return s.body(r)
	}
	return s.Store.LoadBody(ctx, r)
}

// on makes the n-th call of an operation go wrong; n 0 is every call.
func on(op string, n int, f fault) func(string, int) fault {
	return func(o string, i int) fault {
		if o == op && (n == 0 || n == i) {
			return f
		}
		return answered
	}
}
