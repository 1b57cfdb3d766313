package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"firstwriter/idempotency"
)

// judgement is how long the search for an order may take.
const judgement = 20 * time.Second

// checkHistories records concurrent histories and looks for an order of their calls that explains every answer: F01,
// F11, F12, F86, F98.
func checkHistories(p *probe) error {
	for n := range p.options.Histories {
		if err := explain(p.history(uint64(n)), p.options.Resends); err != nil {
			return err
		}
	}
	return nil
}

// explain returns an error if the events are not linearizable.
func explain(events []event, resends bool) error {
	ops := operations(events, resends)
	switch porcupine.CheckOperationsTimeout(specification, ops, judgement) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("no order of %d concurrent calls was found within %v, and none is ruled out", len(ops), judgement)
	}
	return errors.New("no order of these concurrent calls explains their answers:\n" + transcript(events))
}

// specification is one record. Its steps are the Apply methods of the protocol's writes.
var specification = porcupine.Model{
	Init: func() any { return (*idempotency.Record)(nil) },
	Step: func(state, input, output any) (bool, any) {
		old, c, r := state.(*idempotency.Record), input.(call), output.(result)
		return step(old, c, r)
	},
	Equal: func(a, b any) bool { return Diff(a.(*idempotency.Record), b.(*idempotency.Record)) == "" },
}

// step says whether a store may give that answer to a call about the record old, and what it then holds.
func step(old *idempotency.Record, c call, r result) (bool, *idempotency.Record) {
	if c.apply == nil {
		return Diff(old, r.record) == "", old
	}
	want := c.on(old)
	switch r.kind {
	case unknown:
		return true, want.after
	case busy:
		return true, old
	}
	return r.differs(want) == "", want.after
}

// operations are the events as the search wants them. A call whose outcome nobody knows may take effect until the end
// of the history: one that never does is one that takes effect last, when nobody looks any more.
func operations(events []event, resends bool) []porcupine.Operation {
	var ops []porcupine.Operation
	for i, e := range events {
		op := porcupine.Operation{ClientId: i, Input: e.call, Call: e.began, Output: e.result, Return: e.ended}
		open := op
		open.Output, open.Return = result{kind: unknown}, math.MaxInt64
		if e.result.kind != unknown {
			ops = append(ops, op)
		}
		if e.result.kind == unknown || resends && e.call.apply != nil {
			ops = append(ops, open) // what was sent before the answer came may have taken effect as well
		}
	}
	return ops
}

// transcript lists events in the order in which they began.
func transcript(events []event) string {
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.began, b.began) })
	var lines []string
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("  %4d–%-4d %s: %v", e.began, e.ended, e.call.name, e.result))
	}
	return strings.Join(lines, "\n")
}
