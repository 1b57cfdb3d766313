package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"

	"firstwriter/idempotency"
)

// noise is a body that does not compress.
func noise(size int) []byte {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size)}).Read(b)
	return b
}

// checkBodies: bodies of every size come back, whatever a store does with them: F31.
func checkBodies(p *probe) error {
	var wrong []error
	try := func(size int, body []byte) {
		if err := p.roundTrip(&idempotency.Response{Status: 201, Body: body}); err != nil {
			wrong = append(wrong, fmt.Errorf("a body of %d bytes: %w", size, err))
		}
	}
	for size := 0; size <= 2048; size += 97 {
		try(size, noise(size))
	}
	for _, size := range []int{p.options.MaxBody / 3, p.options.MaxBody} {
		try(size, noise(size))
		try(size, bytes.Repeat([]byte("x"), size))
	}
	return errors.Join(append(wrong, p.lateBody(), p.nextBody())...)
}

// lateBody: an owner that lost its claim does not touch the winner's body: F11.
func (p *probe) lateBody() error {
	id := p.id()
	seen := newRecord(id, "late", p.t0)
	w := idempotency.Takeover{Seen: &seen, Owner: "winner", Epoch: seen.Epoch + 1, LeaseUntil: seen.LeaseUntil.Add(lease), ExpiresAt: seen.ExpiresAt}
	held, _ := w.Apply(&seen)
	won, late := completion(id, "winner", p.t0), completion(id, "late", p.t0)
	won.Held, won.Response = held, response("winner", p.options.MaxBody/2)
	late.Held, late.Response = &seen, response("late", p.options.MaxBody/2)
	if err := p.play(claim(seen, p.t0), takeover(w), complete(won)); err != nil {
		return err
	}
	if r := p.send(complete(late)); r.kind != refused {
		return fmt.Errorf("the late owner's completion: %v", r)
	}
	want, _ := won.Apply(held)
	if err := p.loaded(want); err != nil {
		return fmt.Errorf("after a late owner's completion: %w", err)
	}
	return nil
}

// nextBody: after the retention, nothing of the old body is left in the new one: F22.
func (p *probe) nextBody() error {
	id := p.id()
	first, old := newRecord(id, "A", p.t0), completion(id, "A", p.t0)
	old.Held, old.Response = &first, response("A", p.options.MaxBody/2)
	later := p.t0.Add(retention + skew)
	again, fresh := newRecord(id, "B", later), completion(id, "B", later)
	fresh.Held, fresh.Response = &again, response("B", 100)
	if err := p.play(claim(first, p.t0), complete(old), claim(again, later), complete(fresh)); err != nil {
		return err
	}
	want, _ := fresh.Apply(&again)
	if err := p.loaded(want); err != nil {
		return fmt.Errorf("after the retention: %w", err)
	}
	return nil
}

// checkLostBodies: a body that is gone is an error of its own kind, and the record stays: F32.
func checkLostBodies(p *probe) error {
	if p.options.LoseBody == nil {
		return nil
	}
	id := p.id()
	first, w := newRecord(id, "A", p.t0), completion(id, "A", p.t0)
	w.Held, w.Response = &first, &idempotency.Response{Status: 201, Body: noise(p.options.MaxBody)}
	if err := p.play(claim(first, p.t0), complete(w)); err != nil {
		return err
	}
	r, err := p.store.Get(p.ctx, id)
	if err != nil || r == nil || r.Response == nil {
		return fmt.Errorf("a read of the completed record finds %s, %v", describe(r), err)
	}
	if err := p.options.LoseBody(p.ctx, r); err != nil {
		return err
	}
	if err := p.store.LoadBody(p.ctx, r); !errors.Is(err, idempotency.ErrBodyLost) {
		return fmt.Errorf("LoadBody of a lost body returns %v; want an error that matches ErrBodyLost", err)
	}
	want, _ := w.Apply(&first)
	return p.expect(want, claim(newRecord(id, "me", p.t0), p.t0))
}
