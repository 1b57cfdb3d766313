package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"firstwriter/idempotency"
)

// checkAbsent: what was never written is nil, nil, also beside ids that begin alike.
func checkAbsent(p *probe) error {
	id := p.id()
	if err := p.play(claim(newRecord(id+"x", "A", p.t0), p.t0)); err != nil {
		return err
	}
	r, err := p.store.Get(p.ctx, id)
	if r != nil || err != nil {
		return fmt.Errorf("a read of an unknown id returns %s, %v; want nil, nil", describe(r), err)
	}
	return nil
}

// checkVersions: a record of a release that this code does not read is left alone, also when it has expired: F33.
func checkVersions(p *probe) error {
	later := newRecord(p.id(), "A", p.t0)
	later.Version = 99
	if err := p.play(claim(later, p.t0), complete(completion(later.ID, "A", p.t0))); err != nil {
		return err
	}
	long := p.t0.Add(10 * retention)
	r := p.send(claim(newRecord(later.ID, "me", long), long))
	if r.kind != refused || r.record == nil || r.record.Version != 99 {
		return fmt.Errorf("a claim over an expired record of version 99: %v; want a refusal with that record", r)
	}
	standing, err := p.store.Get(p.ctx, later.ID)
	if err != nil || standing == nil || standing.Version != 99 {
		return fmt.Errorf("then %s stands (%v); want version 99", describe(standing), err)
	}
	return nil
}

// checkResponses: status, headers and body come back as they were given: F46, F48.
func checkResponses(p *probe) error {
	var wrong []error
	for name, r := range map[string]*idempotency.Response{
		"no headers, no body": {Status: 204},
		"empty headers":       {Status: 201, Header: http.Header{}},
		"several values":      {Status: 303, Header: http.Header{"Link": {"<a>, <b>", "<c>"}, "Location": {"/x"}}, Body: []byte("{}")},
		"empty value":         {Status: 200, Header: http.Header{"X-Empty": {""}, "X-Umlaut": {"über"}}, Body: []byte{0, 255, 128}},
		"many headers":        {Status: 402, Header: http.Header{"X-Long": {strings.Repeat("v", 4000)}}, Body: []byte("declined")},
		"lowest status":       {Status: 100}, "highest status": {Status: 599},
	} {
		if err := p.roundTrip(r); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(wrong...)
}

// roundTrip records a response and compares it with what can be read.
func (p *probe) roundTrip(r *idempotency.Response) error {
	id := p.id()
	first := newRecord(id, "A", p.t0)
	w := completion(id, "A", p.t0)
	w.Held, w.Response = &first, r
	if err := p.play(claim(first, p.t0), complete(w)); err != nil {
		return err
	}
	want, _ := w.Apply(&first)
	return p.loaded(want)
}

// loaded compares a completed record, with its body, with what can be read, and with what a refusal brings.
func (p *probe) loaded(want *idempotency.Record) error {
	got, err := p.store.Get(p.ctx, want.ID)
	if err != nil {
		return err
	}
	again := p.send(claim(newRecord(want.ID, "me", p.t0), p.t0))
	for what, r := range map[string]*idempotency.Record{"read": got, "refusal": again.record} {
		if r == nil {
			return fmt.Errorf("the %s brings no record", what)
		}
		if err := p.store.LoadBody(p.ctx, r); err != nil {
			return fmt.Errorf("body of the %s: %w", what, err)
		}
		r.Body = idempotency.BodyItems{}
		if diff := Diff(want, r); diff != "" {
			return fmt.Errorf("%s: %s", what, diff)
		}
	}
	return nil
}

// checkEnlisted: enlisted writes are committed with the response or the step, or not at all: F08, F62, F89.
func checkEnlisted(p *probe) error {
	if p.options.Enlisted == nil {
		return nil
	}
	var wrong []error
	for _, step := range []bool{false, true} {
		wrong = append(wrong,
			p.enlist(enlisting{name: "held", want: accepted, step: step}),
			p.enlist(enlisting{name: "fenced", want: refused, fenced: true, step: step}))
		if p.options.Refused == nil {
			continue
		}
		wrong = append(wrong,
			p.enlist(enlisting{name: "held, with a refused write", want: business, refused: true, step: step}),
			p.enlist(enlisting{name: "fenced, with a refused write", want: refused, refused: true, fenced: true, step: step}))
	}
	return errors.Join(append(wrong, p.enlist(enlisting{name: "recorded before", want: refused, again: true, step: true}))...)
}

// enlisting is a completion or a checkpoint of A's with an enlisted write.
type enlisting struct {
	name    string
	step    bool // a checkpoint, no completion
	fenced  bool // B has taken the claim over before
	again   bool // the same step was recorded before
	refused bool // a second write is enlisted, whose condition does not hold
	want    kind
}

// String names it in errors.
func (e enlisting) String() string {
	if e.step {
		return "a checkpoint, " + e.name
	}
	return "a completion, " + e.name
}

// call is the call with these enlisted writes.
func (p *probe) enlistingCall(e enlisting, id string, writes []any) call {
	if !e.step {
		w := completion(id, "A", p.t0)
		w.Enlisted = writes
		return complete(w)
	}
	return checkpoint(idempotency.Checkpoint{Held: &idempotency.Record{ID: id, Owner: "A"}, Step: steps(1)[0], Until: p.t0.Add(week), Enlisted: writes})
}

func (p *probe) enlist(e enlisting) error {
	id := p.id()
	first := newRecord(id, "A", p.t0)
	calls := []call{claim(first, p.t0)}
	if e.fenced {
		calls = append(calls, p.takenBy("B", &first))
	}
	if e.again {
		calls = append(calls, p.checkpoint(id, "A", 0))
	}
	if err := p.play(calls...); err != nil {
		return err
	}
	write, committed := p.options.Enlisted(p.prefix + e.String())
	writes := []any{write}
	if e.refused {
		writes = append(writes, p.options.Refused())
	}
	last := p.enlistingCall(e, id, writes)
	if got := p.send(last); got.kind != e.want {
		return fmt.Errorf("%v: %v; want %s", e, got, e.want)
	}
	if done, err := committed(p.ctx); err != nil || done != (e.want == accepted) {
		return fmt.Errorf("%v: its write is committed: %v (%v)", e, done, err)
	}
	var want *idempotency.Record
	for _, c := range calls {
		want, _ = c.apply(want)
	}
	if e.want == accepted {
		want, _ = last.apply(want)
	}
	return p.stands(e.String(), want)
}

// checkContexts: a call whose context is over ends with an error that claims nothing, and may or may not take effect.
func checkContexts(p *probe) error {
	over, cancel := context.WithCancel(p.ctx)
	cancel()
	var wrong []error
	for _, w := range p.ownWrites() {
		id := p.id()
		first := newRecord(id, "me", p.t0)
		if err := p.play(claim(first, p.t0)); err != nil {
			return err
		}
		c := w(id)
		if r := c.send(over, p.store); r.kind != unknown {
			wrong = append(wrong, fmt.Errorf("%s with a cancelled context: %v; want an error", c.name, r))
		}
		after, _ := c.apply(&first)
		standing, err := p.store.Get(p.ctx, id)
		if err != nil || Diff(&first, standing) != "" && Diff(after, standing) != "" {
			wrong = append(wrong, fmt.Errorf("%s with a cancelled context leaves %s, %v", c.name, describe(standing), err))
		}
	}
	if _, err := p.store.Get(over, p.id()); err == nil {
		wrong = append(wrong, errors.New("a read with a cancelled context returns no error"))
	}
	return errors.Join(wrong...)
}

// ownWrites are what the owner "me" of a new record can send.
func (p *probe) ownWrites() []func(id string) call {
	return []func(id string) call{
		func(id string) call { return p.renewal(id, "me", p.t0.Add(lease+skew), time.Hour) },
		func(id string) call { return complete(completion(id, "me", p.t0)) },
		func(id string) call {
			return release(idempotency.Release{ID: id, Owner: "me", ExpiresAt: p.t0.Add(retention)})
		},
		func(id string) call { return orphan(id, "me") },
		func(id string) call { return p.checkpoint(id, "me", 0) },
	}
}
