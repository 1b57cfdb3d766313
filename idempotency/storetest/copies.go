package storetest

import (
	"errors"
	"fmt"
	"slices"

	"firstwriter/idempotency"
)

// checkCopies: a store neither changes nor keeps what it is given, and what it returns is the caller's: F79.
func checkCopies(p *probe) error {
	id := p.id()
	given, pristine := newRecord(id, "A", p.t0), newRecord(id, "A", p.t0)
	if err := p.play(claim(given, p.t0)); err != nil {
		return err
	}
	err := unchanged("the claimed record", &pristine, &given)
	scribble(&given)
	return errors.Join(err, p.stands("the caller changed the record that it had claimed", &pristine), p.stepCopies(), p.completedCopies(pristine))
}

// stepCopies is the same for a step that a caller has recorded, and for one that it has read.
func (p *probe) stepCopies() error {
	id := p.id()
	held := newRecord(id, "A", p.t0)
	w := idempotency.Checkpoint{Held: &held, Step: steps(1)[0], Until: p.t0.Add(week)}
	after, _ := w.Apply(&held)
	want := clone(after)
	if err := p.play(claim(held, p.t0), checkpoint(w)); err != nil {
		return err
	}
	err := unchanged("the recorded step", want, after)
	scribble(after)
	err = errors.Join(err, p.stands("the caller changed the step that it had recorded", want))
	read, readErr := p.store.Get(p.ctx, id)
	if read == nil || readErr != nil {
		return errors.Join(err, fmt.Errorf("the record is read as %s (%v)", describe(read), readErr))
	}
	scribble(read)
	return errors.Join(err, p.stands("a reader changed the steps that it had read", want))
}

// completedCopies is the same for a completion of the record.
func (p *probe) completedCopies(held idempotency.Record) error {
	w := completion(held.ID, "A", p.t0)
	w.Held, w.Response = &held, response("A", 300)
	w.Response.Header["X-Many"] = []string{"1", "2"}
	want, _ := w.Apply(clone(&held))
	want = clone(want)
	if err := p.play(complete(w)); err != nil {
		return err
	}
	handed, _ := w.Apply(&held)
	err := unchanged("the response", want, handed)
	scribble(handed)
	return errors.Join(err, p.standsLoaded("the caller changed the response that it had recorded", want), p.readerCopies(want))
}

// readerCopies: what one reader does to its record, the next one does not see.
func (p *probe) readerCopies(want *idempotency.Record) error {
	read, err := p.store.Get(p.ctx, want.ID)
	refusal := p.send(claim(newRecord(want.ID, "me", p.t0), p.t0))
	for _, r := range []*idempotency.Record{read, refusal.record} {
		if r == nil || r.Response == nil {
			return fmt.Errorf("a completed record is read as %s (%v)", describe(r), err)
		}
		if err := p.store.LoadBody(p.ctx, r); err != nil {
			return err
		}
		scribble(r)
	}
	return p.standsLoaded("a reader changed what it had read", want)
}

// clone copies what [scribble] changes.
func clone(r *idempotency.Record) *idempotency.Record {
	c := *r
	c.Fingerprint, c.Steps = slices.Clone(r.Fingerprint), slices.Clone(r.Steps)
	for i, s := range c.Steps {
		c.Steps[i].Result = slices.Clone(s.Result)
	}
	if r.Response != nil {
		c.Response = &idempotency.Response{Status: r.Response.Status, Header: r.Response.Header.Clone(), Body: slices.Clone(r.Response.Body)}
	}
	return &c
}

// scribble changes everything in a record that others could see through it.
func scribble(r *idempotency.Record) {
	for i := range r.Fingerprint {
		r.Fingerprint[i] ^= 0xff
	}
	for _, s := range r.Steps {
		for i := range s.Result {
			s.Result[i] ^= 0xff
		}
	}
	if r.Response == nil {
		return
	}
	for _, values := range r.Response.Header {
		values[0] = "scribbled"
	}
	for i := range r.Response.Body {
		r.Response.Body[i] ^= 0xff
	}
}

func unchanged(what string, want, got *idempotency.Record) error {
	if diff := Diff(want, got); diff != "" {
		return fmt.Errorf("the store changed %s: %s", what, diff)
	}
	return nil
}

func (p *probe) stands(after string, want *idempotency.Record) error {
	got, err := p.store.Get(p.ctx, want.ID)
	if diff := Diff(want, got); diff != "" || err != nil {
		return fmt.Errorf("after %s, the record differs: %s %v", after, diff, err)
	}
	return nil
}

func (p *probe) standsLoaded(after string, want *idempotency.Record) error {
	if err := p.loaded(want); err != nil {
		return fmt.Errorf("after %s: %w", after, err)
	}
	return nil
}
