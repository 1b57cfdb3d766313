package simulation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// epilogue lets somebody ask for every key again, when everybody else has stopped and nothing goes wrong any more: he
// gets an answer that is final, and the next one gets the same.
func (w *world) epilogue() {
	for _, l := range w.ledgers {
		if l.record == nil {
			continue
		}
		c := &caller{n: len(w.callers), ledger: l, sub: l.sub, order: l.order}
		w.callers = append(w.callers, c)
		first := w.ask(c)
		if first == nil || !first.told.final() || first.told == reused || first.told == forbidden {
			w.violate("L3", "nobody gets a final answer for key %d any more: %v", l.n, first)
			return
		}
		again := w.ask(c)
		if acc := first.accepted; first.told == own && acc != nil && w.inRetention(acc) && (again == nil || again.told != replay) {
			w.violate("L3", "the completion of attempt %d is not replayed: %v", first.n, again)
		}
	}
}

// ask sends a caller's request until it is answered for good, for longer than every lease.
func (w *world) ask(c *caller) *attempt {
	for until := w.now + int(3*(w.set.maxRun+w.set.skew+2*w.set.fastest())/step); w.now < until; {
		w.call(c, w.machines[0])
		a := c.current
		w.finish()
		if a.told == unavailable {
			w.violate("L4", "attempt %d is told %q, and nothing goes wrong", a.n, a.told)
		}
		if len(w.violations) > 0 || a.told.final() {
			return a
		}
		for range 4 {
			w.advance()
		}
	}
	return nil
}

// String is an attempt in a violation.
func (a *attempt) String() string {
	if a == nil {
		return "no answer"
	}
	return fmt.Sprintf("attempt %d is told %q", a.n, a.told)
}

// checkBusiness: each business write has a completion, and each completion that carries some has them.
func (w *world) checkBusiness(ctx context.Context) {
	written, sold, err := w.businessTable(ctx)
	if err != nil {
		w.violate("S0", "reading the business table: %v", err)
		return
	}
	for _, l := range w.ledgers {
		for n := range l.committed() {
			if !written[n] {
				w.violate("B1", "attempt %d is completed without its business write", n)
			}
			delete(written, n)
			sold[l.tenant]--
		}
	}
	if len(written) > 0 {
		w.violate("B1", "business writes without a completion: %v", written)
	}
	for _, tenant := range slices.Sorted(maps.Keys(sold)) {
		if sold[tenant] != 0 {
			w.violate("B2", "%s has sold %d more than it has completions for", tenant, sold[tenant])
		}
	}
}

// businessTable is what the business table holds: the attempts that have an item, and what each tenant has sold.
func (w *world) businessTable(ctx context.Context) (written map[int]bool, sold map[string]int, err error) {
	out, err := w.direct.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(business), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, nil, err
	}
	w.checkStages(out.Items)
	written, sold = map[int]bool{}, map[string]int{}
	for _, item := range out.Items {
		id := item["id"].(*types.AttributeValueMemberS).Value
		if tenant, found := strings.CutPrefix(id, "sold by "); found {
			sold[tenant], err = strconv.Atoi(item["sold"].(*types.AttributeValueMemberN).Value)
		} else if n, failed := strconv.Atoi(strings.TrimPrefix(id, "run-")); failed == nil {
			written[n] = true
		}
	}
	return written, sold, err
}

// settled checks what must hold when nobody is left.
func (w *world) settled(l *ledger) {
	if r := l.record; r != nil && r.Status != idempotency.Processing && r.ExpiresAt.IsZero() {
		w.violate("L3", "key %d is never new again", l.n)
	}
}
