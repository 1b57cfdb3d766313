package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"firstwriter/idempotency"
)

// checkpoint is sent by an owner that knows of so many steps, and has taken one more.
func (p *probe) checkpoint(id, owner string, known int) call {
	return checkpoint(idempotency.Checkpoint{Held: &idempotency.Record{ID: id, Owner: owner, Steps: steps(known)},
		Step: steps(known + 1)[known], Until: p.t0.Add(week)})
}

// steps are the first n of the steps that everybody takes.
func steps(n int) (all []idempotency.RecordedStep) {
	for i := range n {
		all = append(all, idempotency.RecordedStep{Name: "step-" + strconv.Itoa(i), Result: fmt.Appendf(nil, `{"result":%d}`, i)})
	}
	return all
}

// withSteps are states of a record with steps of A's, or of me's.
func (p *probe) withSteps(owner string) (all []state) {
	then := func(name string, n int, more ...func(id string) call) {
		all = append(all, state{fmt.Sprintf("%d steps, %s by %s", n, name, owner), func(id string) []call {
			calls := []call{claim(newRecord(id, owner, p.t0), p.t0)}
			for known := range n {
				calls = append(calls, p.checkpoint(id, owner, known))
			}
			for _, m := range more {
				calls = append(calls, m(id))
			}
			return calls
		}})
	}
	then("processing", 1)
	then("processing", 2)
	then("not undone", 1, func(id string) call {
		return orphaning(idempotency.Orphaning{ID: id, Owner: owner, UndoFailures: 3})
	})
	if owner == "A" {
		return all
	}
	then("orphaned", 1, func(id string) call { return orphan(id, owner) })
	then("released", 1, func(id string) call {
		return release(idempotency.Release{ID: id, Owner: owner, ExpiresAt: p.t0.Add(retention)})
	})
	then("completed", 1, func(id string) call { return complete(completion(id, owner, p.t0)) })
	then("renewed", 1, func(id string) call { return p.renewal(id, owner, p.t0.Add(lease+skew), lease) })
	return all
}

// stepWrites are checkpoints of me's, who knows of some steps, and of what else says something of steps.
func (p *probe) stepWrites() (ws []func(id string) call) {
	for known := range 3 {
		ws = append(ws, func(id string) call { return p.checkpoint(id, "me", known) })
	}
	for known := 1; known <= 2; known++ {
		for _, status := range []idempotency.Status{idempotency.Processing, idempotency.Released} {
			ws = append(ws, func(id string) call {
				seen := newRecord(id, "A", p.t0)
				seen.Status, seen.Steps = status, steps(known)
				return p.takenBy("me", &seen)
			})
		}
	}
	return append(ws, func(id string) call {
		return orphaning(idempotency.Orphaning{ID: id, Owner: "me", UndoFailures: 7})
	})
}

// checkSteps: results of every size come back, in their order, whatever a store does with them, and outlive the attempt that
// recorded them; of a completed record nothing is left.
func checkSteps(p *probe) error {
	var results [][]byte
	for size := 2; size <= 1300; size += 59 {
		results = append(results, quoted(noise(size)))
	}
	return errors.Join(
		p.steps("results of many sizes", results...),
		p.steps("odd results", []byte("null"), []byte(`"äöü € 𝄞 \u0000"`), []byte(`{"a": [1e400, "\"\\"]}`), []byte(" true\n")),
		p.steps("a large result", quoted(noise(200_000))),
		p.steps("many steps", slices.Repeat([][]byte{[]byte("1")}, idempotency.MaxSteps)...),
		p.steps("a large result between others", []byte("1"), quoted(bytes.Repeat([]byte{'x'}, 100_000)), []byte("3"), quoted(noise(900))),
		p.lateStep())
}

// quoted is a JSON string of about two characters a byte.
func quoted(b []byte) []byte { return fmt.Appendf(nil, "%q", fmt.Sprintf("%x", b)) }

// steps records results one after the other and compares what can be read then, and after each thing that keeps them.
func (p *probe) steps(what string, results ...[]byte) error {
	id := p.id()
	held := newRecord(id, "A", p.t0)
	if err := p.play(claim(held, p.t0)); err != nil {
		return err
	}
	for i, result := range results {
		w := idempotency.Checkpoint{Held: &held, Step: idempotency.RecordedStep{Name: fmt.Sprintf("step.%d_%s", i, strings.Repeat("x", i%20)), Result: result}, Until: p.t0.Add(week)}
		if err := p.play(checkpoint(w)); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		held.Steps = append(held.Steps, w.Step)
	}
	want := &held
	for _, c := range []call{
		p.renewal(id, "A", held.LeaseUntil, lease), p.takenBy("B", renewed(held)),
		release(idempotency.Release{ID: id, Owner: "B", ExpiresAt: p.t0.Add(retention)}),
		p.takenBy("C", p.releasedBy("B", held)), orphan(id, "C"),
	} {
		if err := p.play(c); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		want, _ = c.apply(want)
		if err := p.stepsLoaded(want); err != nil {
			return fmt.Errorf("%s: after a %s: %w", what, c.name, err)
		}
	}
	return nil
}

func renewed(r idempotency.Record) *idempotency.Record {
	r.LeaseUntil = r.LeaseUntil.Add(lease)
	return &r
}

func (p *probe) releasedBy(owner string, r idempotency.Record) *idempotency.Record {
	r.Status, r.Owner, r.Epoch = idempotency.Released, owner, r.Epoch+1
	return &r
}

// stepsLoaded compares a record, with the results of its steps, with what can be read, and with what a refusal brings.
func (p *probe) stepsLoaded(want *idempotency.Record) error {
	got, err := p.store.Get(p.ctx, want.ID)
	refusal := p.send(p.checkpoint(want.ID, "nobody", 0))
	for what, r := range map[string]*idempotency.Record{"read": got, "refusal": refusal.record} {
		if r == nil {
			return fmt.Errorf("the %s brings no record (%v)", what, err)
		}
		for i := range r.Steps {
			if err := p.store.LoadStep(p.ctx, r, i); err != nil {
				return fmt.Errorf("step %d of the %s: %w", i, what, err)
			}
		}
		if diff := Diff(want, r); diff != "" {
			return fmt.Errorf("%s: %.400s", what, diff)
		}
	}
	return nil
}

// lateStep: an owner that lost its claim touches neither the steps of the winner nor their results: F11.
func (p *probe) lateStep() error {
	id := p.id()
	seen := newRecord(id, "late", p.t0)
	w := idempotency.Takeover{Seen: &seen, Owner: "winner", Epoch: seen.Epoch + 1, LeaseUntil: seen.LeaseUntil.Add(lease), ExpiresAt: seen.ExpiresAt}
	held, _ := w.Apply(&seen)
	step := func(held *idempotency.Record, of string) idempotency.Checkpoint {
		return idempotency.Checkpoint{Held: held, Step: idempotency.RecordedStep{Name: "step", Result: quoted(bytes.Repeat([]byte(of), 2000))}, Until: p.t0.Add(week)}
	}
	won := step(held, "winner")
	if err := p.play(claim(seen, p.t0), takeover(w), checkpoint(won)); err != nil {
		return err
	}
	if r := p.send(checkpoint(step(&seen, "late"))); r.kind != refused {
		return fmt.Errorf("the late owner's checkpoint: %v", r)
	}
	want, _ := won.Apply(held)
	return p.stepsLoaded(want)
}

// checkLostSteps: a result that is gone is an error of its own kind, and the record stays.
func checkLostSteps(p *probe) error {
	if p.options.LoseStep == nil {
		return nil
	}
	id := p.id()
	held := newRecord(id, "A", p.t0)
	w := idempotency.Checkpoint{Held: &held, Step: idempotency.RecordedStep{Name: "step", Result: quoted(noise(50_000))}, Until: p.t0.Add(week)}
	if err := p.play(claim(held, p.t0), checkpoint(w)); err != nil {
		return err
	}
	r, err := p.store.Get(p.ctx, id)
	if err != nil || r == nil || len(r.Steps) != 1 {
		return fmt.Errorf("a read of the record finds %s, %v", describe(r), err)
	}
	if err := p.options.LoseStep(p.ctx, r, 0); err != nil {
		return err
	}
	if err := p.store.LoadStep(p.ctx, r, 0); !errors.Is(err, idempotency.ErrBodyLost) {
		return fmt.Errorf("LoadStep of a lost result returns %v; want an error that matches ErrBodyLost", err)
	}
	want, _ := w.Apply(&held)
	return p.stands("the loss of a step's result", want)
}
