package simulation

import (
	"context"
	"slices"
	"time"

	"firstwriter/idempotency"
)

// operation is what a call of the store is for.
type operation struct {
	kind  kind
	id    string
	owner string
	lease time.Time // that it writes
	// completion has what would be recorded.
	completion *idempotency.Completion
	checkpoint *idempotency.Checkpoint
	apply      func(*idempotency.Record) (*idempotency.Record, bool) // nil: a read
}

// kind is a sort of store call.
type kind string

const (
	claiming      kind = "claim"
	takingOver    kind = "takeover"
	completing    kind = "completion"
	releasing     kind = "release"
	orphaning     kind = "orphaning"
	extending     kind = "renewal"
	checkpointing kind = "checkpoint"
	reading       kind = "read"
	loading       kind = "body read"
)

// seam stands between a guard and its store, and says in the context what each call is for.
type seam struct{ store idempotency.Store }

type operationKey struct{}

func with(ctx context.Context, op operation) context.Context {
	return context.WithValue(ctx, operationKey{}, &op)
}

func (s *seam) Claim(ctx context.Context, w idempotency.Claim) error {
	return s.store.Claim(with(ctx, operation{kind: claiming, id: w.Record.ID, owner: w.Record.Owner, lease: w.Record.LeaseUntil, apply: w.Apply}), w)
}

func (s *seam) Takeover(ctx context.Context, w idempotency.Takeover) error {
	return s.store.Takeover(with(ctx, operation{kind: takingOver, id: w.Seen.ID, owner: w.Owner, lease: w.LeaseUntil, apply: w.Apply}), w)
}

func (s *seam) Complete(ctx context.Context, w idempotency.Completion) error {
	kept := w
	kept.Response = &idempotency.Response{Status: w.Response.Status, Header: w.Response.Header.Clone(), Body: slices.Clone(w.Response.Body)}
	return s.store.Complete(with(ctx, operation{kind: completing, id: w.Held.ID, owner: w.Held.Owner, completion: &kept, apply: kept.Apply}), w)
}

func (s *seam) Release(ctx context.Context, w idempotency.Release) error {
	return s.store.Release(with(ctx, operation{kind: releasing, id: w.ID, owner: w.Owner, apply: w.Apply}), w)
}

func (s *seam) Orphan(ctx context.Context, w idempotency.Orphaning) error {
	return s.store.Orphan(with(ctx, operation{kind: orphaning, id: w.ID, owner: w.Owner, apply: w.Apply}), w)
}

func (s *seam) Extend(ctx context.Context, w idempotency.Extension) error {
	return s.store.Extend(with(ctx, operation{kind: extending, id: w.ID, owner: w.Owner, lease: w.LeaseUntil, apply: w.Apply}), w)
}

func (s *seam) Checkpoint(ctx context.Context, w idempotency.Checkpoint) error {
	seen := w
	seen.Held = &idempotency.Record{Owner: w.Held.Owner, Steps: slices.Clone(w.Held.Steps)}
	return s.store.Checkpoint(with(ctx, operation{kind: checkpointing, id: w.Held.ID, owner: w.Held.Owner, checkpoint: &seen, apply: seen.Apply}), w)
}

func (s *seam) LoadStep(ctx context.Context, r *idempotency.Record, i int) error {
	return s.store.LoadStep(with(ctx, operation{kind: loading, id: r.ID}), r, i)
}

func (s *seam) Get(ctx context.Context, id string) (*idempotency.Record, error) {
	return s.store.Get(with(ctx, operation{kind: reading, id: id}), id)
}

func (s *seam) LoadBody(ctx context.Context, r *idempotency.Record) error {
	return s.store.LoadBody(with(ctx, operation{kind: loading, id: r.ID}), r)
}
