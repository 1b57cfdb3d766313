package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"firstwriter/idempotency"
)

type record = idempotency.Record

// flawed is a store into which flaws can be built. It keeps large bodies apart.
type flawed struct {
	mu      sync.Mutex
	records map[string]*record
	bodies  map[string][]byte

	apply   func(w any, old *record) (*record, bool) // what a write means
	bodyID  func(c idempotency.Completion) string
	read    func(s *flawed, id string) *record
	unsafe  bool // no lock between the look at a record and its change
	keeps   bool // keeps what it is given
	lends   bool // returns what it keeps
	silent  bool // a refusal does not say by which record
	deaf    bool // does not look at contexts
	partial bool // commits enlisted writes before it looks at the record
	forgets bool // acknowledges some claims that it does not keep
	blind   bool // LoadBody does not compare checksums
	writes  int
}

func newFlawed(build func(*flawed)) *flawed {
	s := &flawed{records: map[string]*record{}, bodies: map[string][]byte{}, apply: specified,
		bodyID: func(c idempotency.Completion) string { return c.Held.ID + c.Held.Owner },
		read:   func(s *flawed, id string) *record { return s.records[id] }}
	if build != nil {
		build(s)
	}
	return s
}

func specified(w any, old *record) (*record, bool) {
	return w.(interface {
		Apply(*record) (*record, bool)
	}).Apply(old)
}

func (s *flawed) Claim(ctx context.Context, w idempotency.Claim) error {
	if !s.keeps {
		w.Record.Fingerprint = slices.Clone(w.Record.Fingerprint)
	}
	return s.write(ctx, w.Record.ID, w)
}

func (s *flawed) Takeover(ctx context.Context, w idempotency.Takeover) error {
	return s.write(ctx, w.Seen.ID, w)
}

func (s *flawed) Release(ctx context.Context, w idempotency.Release) error {
	return s.write(ctx, w.ID, w)
}

func (s *flawed) Orphan(ctx context.Context, w idempotency.Orphaning) error {
	return s.write(ctx, w.ID, w)
}

func (s *flawed) Extend(ctx context.Context, w idempotency.Extension) error {
	return s.write(ctx, w.ID, w)
}

func (s *flawed) Checkpoint(ctx context.Context, w idempotency.Checkpoint) error {
	if !s.keeps {
		w.Step.Result = slices.Clone(w.Step.Result)
	}
	if s.partial {
		commit(w.Enlisted)
		w.Enlisted = nil
	}
	return s.write(ctx, w.Held.ID, w)
}

func (s *flawed) LoadStep(ctx context.Context, _ *record, _ int) error { return ctx.Err() }

func (s *flawed) Complete(ctx context.Context, w idempotency.Completion) error {
	if !s.keeps {
		w.Response = &idempotency.Response{Status: w.Response.Status, Header: w.Response.Header.Clone(), Body: slices.Clone(w.Response.Body)}
	}
	if s.partial {
		commit(w.Enlisted)
		w.Enlisted = nil
	}
	s.mu.Lock()
	if len(w.Response.Body) > 1000 {
		s.bodies[s.bodyID(w)] = w.Response.Body
	}
	s.mu.Unlock()
	if len(w.Response.Body) <= 1000 {
		return s.write(ctx, w.Held.ID, w)
	}
	sum := sha256.Sum256(w.Response.Body)
	return s.write(ctx, w.Held.ID, apart{w, idempotency.BodyItems{Chunks: 1, Sum: sum[:]}})
}

// apart is a completion whose body is kept apart.
type apart struct {
	idempotency.Completion
	items idempotency.BodyItems
}

func commit(enlisted []any) {
	for _, e := range enlisted {
		e.(func())()
	}
}

func (s *flawed) write(ctx context.Context, id string, w any) error {
	if ctx.Err() != nil && !s.deaf {
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.records[id]
	if s.unsafe {
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
	}
	r, ok := s.meaning(w, old)
	switch {
	case !ok && s.silent:
		return &idempotency.RefusedError{}
	case !ok:
		return &idempotency.RefusedError{Record: copied(old)}
	}
	if s.writes++; s.forgets && s.writes%10 == 0 {
		return nil
	}
	if s.records[id] = r; r == nil {
		delete(s.records, id)
	}
	return nil
}

func (s *flawed) meaning(w any, old *record) (*record, bool) {
	var items idempotency.BodyItems
	if a, ok := w.(apart); ok {
		w, items = a.Completion, a.items
	}
	r, ok := s.apply(w, old)
	if c, records := w.(idempotency.Checkpoint); ok && records {
		commit(c.Enlisted)
	}
	if c, completes := w.(idempotency.Completion); ok && completes {
		commit(c.Enlisted)
		if r.Body = items; items.Chunks > 0 {
			r.Response = &idempotency.Response{Status: c.Response.Status, Header: c.Response.Header}
		}
	}
	return r, ok
}

func copied(r *record) *record {
	if r == nil {
		return nil
	}
	return clone(r)
}

func (s *flawed) Get(ctx context.Context, id string) (*record, error) {
	if ctx.Err() != nil && !s.deaf {
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.read(s, id)
	if s.lends {
		return r, nil
	}
	return copied(r), nil
}

func (s *flawed) LoadBody(ctx context.Context, r *record) error {
	if r.Body.Chunks == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Response.Body = slices.Clone(s.bodies[s.bodyID(idempotency.Completion{Held: r})])
	if sum := sha256.Sum256(r.Response.Body); !s.blind && !slices.Equal(sum[:], r.Body.Sum) {
		return fmt.Errorf("flawed: %w", idempotency.ErrBodyLost)
	}
	if r.Response.Header == nil {
		r.Response.Header = http.Header{}
	}
	return nil
}

// options lets the suite damage the store's bodies, and enlist what it commits.
func (s *flawed) options(o *Options) {
	committing(o)
	o.MaxBody = 10_000
	o.LoseBody = func(_ context.Context, r *record) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bodies[s.bodyID(idempotency.Completion{Held: r})] = []byte("damaged")
		return nil
	}
}
