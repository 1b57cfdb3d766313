package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// The attribute "steps" is a map by the steps' names. Each step is a map: "n" is its place in the order, from 0; "r" its
// result as JSON text, or "chunks", "encoding", "sum" and "owner" say where it is kept apart, like a response's body.

// Checkpoint implements [idempotency.Store]: one UpdateItem, or one TransactWriteItems where writes are enlisted, after
// one PutItem where the result does not fit into the record.
func (s *Store) Checkpoint(ctx context.Context, c idempotency.Checkpoint) error {
	step, apart := placeStep(c.Held, c.Step)
	if apart != nil {
		if err := s.putBody(ctx, stepOf(c.Held, c.Held.Owner), *apart, c.Until); err != nil {
			return err
		}
	}
	return s.commit(ctx, "checkpoint", c.Held.ID, checkpoint(c, step), c.Enlisted)
}

// placeStep chooses where a step's result goes: into the record, or into items of its own.
func placeStep(held *idempotency.Record, s idempotency.RecordedStep) (types.AttributeValue, *body) {
	n := len(held.Steps)
	if !crowded(held, stepsSize(held), n, s) {
		return inlineStep(n, s.Result), nil
	}
	b := apart(s.Result)
	return stepApart(n, b, held.Owner), &b
}

// crowded reports whether a result takes the record beyond one write unit. It stays in it all the same where that takes no
// more than to say where it is.
func crowded(r *idempotency.Record, steps, n int, s idempotency.RecordedStep) bool {
	inline := stepSize(s.Name, inlineStep(n, s.Result))
	return sizeOf(r)+steps+inline > recordSize && inline > stepSize(s.Name, stepApart(n, body{}, r.Owner))
}

// LoadStep implements [idempotency.Store]. It reads the body items of the result, one GetItem each. Of a record whose lease
// is live, it lets them live as long as the record, with one UpdateItem each where it must: an operation that is tried
// again for weeks needs them still. Who looks at an orphan changes nothing.
func (s *Store) LoadStep(ctx context.Context, r *idempotency.Record, i int) error {
	step := &r.Steps[i]
	if step.Result != nil {
		return nil
	}
	of := stepOf(r, step.Apart.Owner)
	whole, expires, err := s.load(ctx, of, step.Apart.BodyItems)
	if err != nil {
		return err
	}
	step.Result = whole
	if until := stepsNeeded(r); expires.Before(until) && time.Now().Before(r.LeaseUntil) {
		return s.prolong(ctx, of, step.Apart.BodyItems, until.Add(prolongAhead))
	}
	return nil
}

const prolongAhead = 24 * time.Hour // so that attempts within a day need not prolong again

// stepsNeeded is until when the results of a processing record's steps are needed.
func stepsNeeded(r *idempotency.Record) time.Time {
	if r.ExpiresAt.IsZero() {
		return r.LeaseUntil.Add(idempotency.LongRetention)
	}
	return r.ExpiresAt.Add(bodyOutlives)
}

// prolong moves the expiry of body items.
func (s *Store) prolong(ctx context.Context, of place, items idempotency.BodyItems, until time.Time) error {
	return each(ctx, items.Chunks, func(ctx context.Context, n int) error {
		out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: s.table, Key: key(of.item(items.Sum, n)),
			ConditionExpression: aws.String("attribute_exists(id)"), UpdateExpression: aws.String("SET expires_at = :until"),
			ExpressionAttributeValues: item{":until": seconds(until)}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
		if err != nil {
			spentWriting(ctx, nil)
			return fmt.Errorf("dynamostore: keep body item %d: %w", n, err)
		}
		spentWriting(ctx, out.ConsumedCapacity)
		return nil
	})
}

func inlineStep(n int, result []byte) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: item{"n": num(n), "r": str(string(result))}}
}

func stepApart(n int, b body, owner string) types.AttributeValue {
	m := item{"n": num(n), "chunks": num(len(b.chunks)), "sum": bin(b.sum[:]), "owner": str(owner)}
	if b.encoding != "" {
		m["encoding"] = str(b.encoding)
	}
	return &types.AttributeValueMemberM{Value: m}
}

// stepSize is what a step adds to the size of a record.
func stepSize(name string, step types.AttributeValue) int { return 1 + len(name) + valueSize(step) }

// stepsSize is what recorded steps add to the size of a record. A result that was recorded by this attempt is kept apart
// if it was crowded out, as now.
func stepsSize(r *idempotency.Record) int {
	size := len("steps") + valueSize(&types.AttributeValueMemberM{})
	for n, s := range r.Steps {
		step := inlineStep(n, s.Result)
		if s.Apart.Chunks > 0 || crowded(r, size, n, s) {
			step = stepApart(n, body{encoding: "gzip"}, r.Owner)
		}
		size += stepSize(s.Name, step)
	}
	return size
}

// steps reads the recorded steps.
func (d *decoder) steps(r *idempotency.Record) {
	if d.has("undo_failures") {
		r.UndoFailures = int(d.num("undo_failures"))
	}
	if !d.has("steps") {
		return
	}
	m := get[*types.AttributeValueMemberM](d, "steps")
	if m == nil {
		return
	}
	r.Steps = make([]idempotency.RecordedStep, len(m.Value))
	for name, v := range m.Value {
		if err := decodeStep(r.Steps, name, v); err != nil {
			d.fail("steps", err.Error())
		}
	}
}

// decodeStep puts a step where it belongs. Each place is taken once.
func decodeStep(into []idempotency.RecordedStep, name string, v types.AttributeValue) error {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return errors.New("holds something else than maps")
	}
	d := decoder{item: m.Value}
	n, s := d.num("n"), idempotency.RecordedStep{Name: name}
	if d.has("r") {
		s.Result = []byte(d.str("r"))
	} else {
		s.Apart = idempotency.StepItems{Owner: d.str("owner"), BodyItems: d.items("chunks", "encoding", "sum")}
	}
	switch {
	case d.err != nil:
		return d.err
	case name == "" || n < 0 || n >= int64(len(into)) || into[n].Name != "":
		return fmt.Errorf("gives step %q a place that is not its own", name)
	}
	into[n] = s
	return nil
}
