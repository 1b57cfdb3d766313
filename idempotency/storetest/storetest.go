// Package storetest is the conformance suite of [idempotency.Store]. A store that passes it can be trusted with the
// guard's protocol:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) idempotency.Store { return mystore.New(…) })
//	}
//
// The suite has one specification: the Apply methods of the writes in package idempotency. It runs every write on every
// state of a record, with clocks around every boundary; lets goroutines race; and searches concurrent histories, with
// calls whose outcome nobody knows, for an order that explains them.
//
// All instants lie in the future, so that a store's own deletion of expired records does not meet the suite.
package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"firstwriter/idempotency"
)

// Options say what a store can do that not every store can. The zero value of each field is the default that its comment
// gives.
type Options struct {
	// MaxBody is the largest response body that the store must keep, in bytes. Default 1 MiB.
	MaxBody int
	// Enlisted makes a write to enlist, in the store's own type, and a function that reports whether it was committed.
	// Default: enlisted writes are not checked.
	Enlisted func(name string) (write any, committed func(context.Context) (bool, error))
	// Refused makes a write to enlist whose own condition does not hold. Default: refused writes are not checked.
	Refused func() any
	// LoseBody damages or removes the body of a completed record that keeps it apart. Default: lost bodies are not
	// checked.
	LoseBody func(context.Context, *idempotency.Record) error
	// LoseStep damages or removes the result of the i-th step of a record, which is kept apart. Default: lost results are
	// not checked.
	LoseStep func(ctx context.Context, r *idempotency.Record, i int) error
	// Histories is how many concurrent histories are recorded and checked. Default 40.
	Histories int
	// FailFast makes [Check] end with the first part of the suite that finds something. Default: it runs all of them.
	FailFast bool
	// Resends says that the store sends a call again by itself when it gets no answer, and that answers do get lost in
	// this test. An answer may then hide that the same call took effect before. Default: no.
	Resends bool
}

// Run runs the suite, each check as a subtest. open makes its store, and has it closed when the test ends; it may as
// well return one store every time, since checks never meet each other's records.
func Run(t *testing.T, open func(*testing.T) idempotency.Store, opts ...func(*Options)) {
	t.Helper()
	o := options(opts)
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(newProbe(t.Context(), open(t), o)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Check runs the suite on one store and returns everything that is wrong with it, or nil. It is for stores that are
// meant to fail, and for programs that are no tests.
func Check(ctx context.Context, s idempotency.Store, opts ...func(*Options)) error {
	o := options(opts)
	var wrong []error
	for _, c := range checks {
		if err := c.run(newProbe(ctx, s, o)); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", c.name, err))
			if o.FailFast {
				break
			}
		}
	}
	return errors.Join(wrong...)
}

// CheckHistories is the last part of [Check] alone: concurrent calls, and the search for an order that explains them.
func CheckHistories(ctx context.Context, s idempotency.Store, opts ...func(*Options)) error {
	return checkHistories(newProbe(ctx, s, options(opts)))
}

// checks are the parts of the suite. A check returns what is wrong with the probe's store.
var checks = []struct {
	name string
	run  func(*probe) error
}{
	{"conditions", checkConditions},
	{"absent", checkAbsent},
	{"versions", checkVersions},
	{"responses", checkResponses},
	{"bodies", checkBodies},
	{"lost bodies", checkLostBodies},
	{"steps", checkSteps},
	{"lost steps", checkLostSteps},
	{"enlisted writes", checkEnlisted},
	{"copies", checkCopies},
	{"contexts", checkContexts},
	{"races", checkRaces},
	{"histories", checkHistories},
}

func options(opts []func(*Options)) Options {
	o := Options{MaxBody: 1 << 20, Histories: 40}
	for _, set := range opts {
		set(&o)
	}
	return o
}

// probe is a store under test, with what a check needs.
type probe struct {
	ctx     context.Context
	store   idempotency.Store
	options Options
	t0      time.Time // the first claim of every story
	prefix  string    // of ids: checks never meet each other's records
	ids     int
}

const (
	skew      = 2 * time.Second
	lease     = 30 * time.Second
	retention = 24 * time.Hour
	week      = 7 * 24 * time.Hour
)

func newProbe(ctx context.Context, s idempotency.Store, o Options) *probe {
	return &probe{ctx: ctx, store: s, options: o, prefix: rand.Text(), t0: time.Now().Add(retention).Truncate(time.Second).Round(0)}
}

// id is a new record's.
func (p *probe) id() string {
	p.ids++
	return fmt.Sprintf("%s-%d", p.prefix, p.ids)
}

// play sends calls that must all be accepted.
func (p *probe) play(calls ...call) error {
	for _, c := range calls {
		if r := p.send(c); r.kind != accepted {
			return fmt.Errorf("%s is not accepted: %v", c.name, r)
		}
	}
	return nil
}

// expect sends a call and compares what the store says with the specification, for the record old, and then the record
// that stands with the one that the specification leaves.
func (p *probe) expect(old *idempotency.Record, c call) error {
	want := c.on(old)
	got := p.send(c)
	if diff := got.differs(want); diff != "" {
		return fmt.Errorf("%s: %s", c.name, diff)
	}
	standing, err := p.store.Get(p.ctx, c.id)
	if err != nil {
		return fmt.Errorf("read after %s: %w", c.name, err)
	}
	if diff := Diff(want.after, standing); diff != "" {
		return fmt.Errorf("the record after %s: %s", c.name, diff)
	}
	return nil
}
