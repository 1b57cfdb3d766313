package simulation

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"

	"firstwriter/idempotency"
)

// dropped is a flaw in the text of an expression.
func dropped(name string, op kind, from, to string) Flaw {
	return Flaw{Name: name, Request: func(k kind, body []byte) []byte {
		if k != op {
			return body
		}
		return bytes.Replace(body, []byte(from), []byte(to), 1)
	}}
}

func compared(f Flaw) Flaw {
	f.Compare = true
	return f
}

// shared takes the owner and the checksum out of the ids of body items, or those of stages' results.
func shared(mark string) func(kind, []byte) []byte {
	return func(_ kind, body []byte) []byte {
		before, after, found := bytes.Cut(body, []byte(mark))
		if !found {
			return body
		}
		_, after, _ = bytes.Cut(after, []byte("#"))
		_, n, _ := bytes.Cut(after, []byte("#"))
		return bytes.Join([][]byte{before, []byte(mark), n}, nil)
	}
}

// known reports whether an error tells the outcome.
func known(err error) bool {
	var theirs *idempotency.BusinessError
	return err == nil || errors.Is(err, idempotency.ErrRefused) || errors.Is(err, idempotency.ErrBusy) || errors.As(err, &theirs)
}

// faulty is a store that changes what goes through it, in both directions.
type faulty struct {
	idempotency.Store
	claim     func(*idempotency.Claim)
	takeover  func(*idempotency.Takeover)
	claimed   func(error) error
	completed func(error) error
	recorded  func(name string, err error) error
	skips     string                            // checkpoints of names that begin like this are not made
	found     func(r, mine *idempotency.Record) // mine: what the asker would claim
	seen      func(*idempotency.Record)         // undoes found before a takeover
	alone     bool                              // forgets the enlisted writes

	mu    sync.Mutex
	mines map[*attempt]*idempotency.Record // guarded by mu
}

// stored is a flaw in a store.
func stored(name string, build func(*faulty)) Flaw {
	return Flaw{Name: name, Store: func(s idempotency.Store) idempotency.Store {
		f := &faulty{Store: s, mines: map[*attempt]*idempotency.Record{}}
		build(f)
		return f
	}}
}

func (f *faulty) Claim(ctx context.Context, w idempotency.Claim) error {
	mine := w.Record
	f.mu.Lock()
	f.mines[attemptOf(ctx)] = &mine
	f.mu.Unlock()
	if f.claim != nil {
		f.claim(&w)
	}
	err := f.Store.Claim(ctx, w)
	if f.claimed != nil {
		err = f.claimed(err)
	}
	return f.show(ctx, err)
}

func (f *faulty) Takeover(ctx context.Context, w idempotency.Takeover) error {
	if f.takeover != nil {
		f.takeover(&w)
	}
	if f.seen != nil {
		seen := *w.Seen
		f.seen(&seen)
		w.Seen = &seen
	}
	return f.show(ctx, f.Store.Takeover(ctx, w))
}

func (f *faulty) Complete(ctx context.Context, w idempotency.Completion) error {
	if f.alone {
		w.Enlisted = nil
	}
	err := f.Store.Complete(ctx, w)
	if f.completed != nil {
		err = f.completed(err)
	}
	return f.show(ctx, err)
}

func (f *faulty) Checkpoint(ctx context.Context, w idempotency.Checkpoint) error {
	if f.alone {
		w.Enlisted = nil
	}
	if f.skips != "" && strings.HasPrefix(w.Step.Name, f.skips) {
		return nil
	}
	err := f.Store.Checkpoint(ctx, w)
	if f.recorded != nil {
		err = f.recorded(w.Step.Name, err)
	}
	return f.show(ctx, err)
}

func (f *faulty) Get(ctx context.Context, id string) (*idempotency.Record, error) {
	r, err := f.Store.Get(ctx, id)
	if r != nil {
		f.look(ctx, r)
	}
	return r, err
}

func (f *faulty) show(ctx context.Context, err error) error {
	var refused *idempotency.RefusedError
	if errors.As(err, &refused) && refused.Record != nil {
		f.look(ctx, refused.Record)
	}
	return err
}

func (f *faulty) look(ctx context.Context, r *idempotency.Record) {
	f.mu.Lock()
	mine := f.mines[attemptOf(ctx)]
	f.mu.Unlock()
	if f.found != nil && mine != nil {
		f.found(r, mine)
	}
}
