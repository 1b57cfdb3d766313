package idempotency

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Memory is a [Store] in this process's memory: for tests, and for trying things out. Records are forgotten with the
// process, and expired ones stay until their key is claimed anew. The zero value is ready to use.
type Memory struct {
	mu      sync.Mutex
	records map[string]*Record // guarded by mu; a stored record is never changed, only replaced
}

// Claim implements [Store].
func (m *Memory) Claim(ctx context.Context, w Claim) error {
	w.Record.Fingerprint = slices.Clone(w.Record.Fingerprint)
	return m.write(ctx, w.Record.ID, w.Apply)
}

// Takeover implements [Store].
func (m *Memory) Takeover(ctx context.Context, w Takeover) error {
	return m.write(ctx, w.Seen.ID, w.Apply)
}

// Complete implements [Store]. An enlisted write must be a func(); it runs under the store's lock.
func (m *Memory) Complete(ctx context.Context, w Completion) error {
	w.Response = w.Response.clone()
	return m.commit(ctx, w.Held.ID, w.Enlisted, w.Apply)
}

// Checkpoint implements [Store]. Enlisted writes are as for Complete.
func (m *Memory) Checkpoint(ctx context.Context, w Checkpoint) error {
	w.Step.Result = slices.Clone(w.Step.Result)
	return m.commit(ctx, w.Held.ID, w.Enlisted, w.Apply)
}

// Release implements [Store].
func (m *Memory) Release(ctx context.Context, w Release) error { return m.write(ctx, w.ID, w.Apply) }

// Orphan implements [Store].
func (m *Memory) Orphan(ctx context.Context, w Orphaning) error { return m.write(ctx, w.ID, w.Apply) }

// Extend implements [Store].
func (m *Memory) Extend(ctx context.Context, w Extension) error { return m.write(ctx, w.ID, w.Apply) }

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, id string) (*Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[id].clone(), nil
}

// LoadBody implements [Store]. The body is always in the record.
func (m *Memory) LoadBody(ctx context.Context, _ *Record) error { return ctx.Err() }

// LoadStep implements [Store]. The result is always in the record.
func (m *Memory) LoadStep(ctx context.Context, _ *Record, _ int) error { return ctx.Err() }

// commit writes together with enlisted writes.
func (m *Memory) commit(ctx context.Context, id string, enlisted []any, apply func(*Record) (*Record, bool)) error {
	for _, e := range enlisted {
		if _, ok := e.(func()); !ok {
			return errors.New("idempotency: the memory store commits enlisted writes of type func() only; use the store whose Enlist the handler calls")
		}
	}
	return m.write(ctx, id, func(old *Record) (*Record, bool) {
		r, ok := apply(old)
		for _, e := range enlisted {
			if ok {
				e.(func())()
			}
		}
		return r, ok
	})
}

func (m *Memory) write(ctx context.Context, id string, apply func(*Record) (*Record, bool)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := apply(m.records[id])
	if !ok {
		return &RefusedError{Record: r.clone()}
	}
	if m.records == nil {
		m.records = map[string]*Record{}
	}
	m.records[id] = r
	return nil
}

// clone copies what a caller could change.
func (r *Record) clone() *Record {
	if r == nil {
		return nil
	}
	c := *r
	c.Response, c.Fingerprint, c.Steps = r.Response.clone(), slices.Clone(r.Fingerprint), slices.Clone(r.Steps)
	for i, s := range c.Steps {
		c.Steps[i].Result = slices.Clone(s.Result)
	}
	return &c
}
