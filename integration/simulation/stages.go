package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// The recorded steps of a handler are called stages here, where a step is one of time.

// undoes ends a handler with a final failure, whose stages are undone.
const undoes ending = "402, undone"

// plan is what an attempt does in its stages. Without chaos it goes through all of them.
type plan struct {
	breaks   int   // the stage that fails, once; -1: none
	stops    int   // after how many stages the handler gives up, where it ends by undoing them
	pauses   []int // how long each stage takes, in steps
	undoing  int   // how long an undo takes
	cannot   int   // the stage that cannot be undone; -1: none
	declares bool  // a handler that learns that it is being undone says so again
}

// plan draws from dice of its own, so that runs without stages stay what they were.
func (w *world) plan(s *script) {
	n := w.set.stages
	p := plan{breaks: -1, cannot: -1, stops: n, pauses: make([]int, n)}
	defer func() { s.plan = p }()
	if n == 0 || w.drained {
		return
	}
	r := w.dice
	for i := range p.pauses {
		p.pauses[i] = max(0, r.IntN(6)-3)
	}
	p.undoing, p.declares = max(0, r.IntN(4)-1), chance(r, 50)
	if chance(r, 35) {
		s.end, p.stops = undoes, 1+r.IntN(n)
	}
	if chance(r, 10*w.set.chaos) {
		p.breaks = r.IntN(n)
	}
	if chance(r, 15*w.set.chaos) {
		p.cannot = r.IntN(n)
	}
}

// effect is what a stage did to the world, or what the handler got of it.
type effect struct {
	what  string // the name of the stage or undo; "" for a result that the handler got
	stage string
	got   string
}

// tell hands an effect to the scheduler.
func (a *attempt) tell(e effect) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.effects = append(a.effects, e)
}

// stage is the name of the i-th stage.
func stage(i int) string { return fmt.Sprint("stage-", i) }

// takeStages takes the handler's stages, as far as its plan goes. It returns a response where the handler gives up.
func (a *attempt) takeStages(ctx context.Context, r *run) (*idempotency.Response, error) {
	for i := range a.world.set.stages {
		if a.script.end == undoes && i == a.script.plan.stops {
			return a.giveUp(ctx), nil
		}
		got, err := idempotency.Step(ctx, stage(i), func(ctx context.Context, s *idempotency.StepRun) (string, error) { return a.take(ctx, r, s, i) },
			idempotency.Undo(func(ctx context.Context, s *idempotency.StepRun, _ string) error { return a.undo(ctx, r, s, i) }))
		switch {
		case errors.Is(err, idempotency.ErrCompensating) && a.script.plan.declares:
			return a.giveUp(ctx), nil
		case err != nil:
			return nil, err
		}
		a.tell(effect{stage: stage(i), got: got})
	}
	if a.script.end == undoes {
		return a.giveUp(ctx), nil
	}
	return nil, nil
}

// giveUp declares that the operation failed for good.
func (a *attempt) giveUp(ctx context.Context) *idempotency.Response {
	idempotency.AttemptFrom(ctx).Compensate()
	return a.answer(http.StatusPaymentRequired, "undone")
}

// take is a stage at work.
func (a *attempt) take(ctx context.Context, r *run, s *idempotency.StepRun, i int) (string, error) {
	a.tell(effect{what: s.Name(), stage: s.Name()})
	if err := a.pause(ctx, r, a.script.plan.pauses[i]); err != nil {
		return "", err
	}
	if a.script.plan.breaks == i {
		return "", errors.New("scripted")
	}
	result := fmt.Sprintf("%s of attempt %d", s.Name(), a.n)
	return result + strings.Repeat(" ", max(0, a.script.size-len(result))), a.enlistStage(ctx, s.Name())
}

// undo is the undo of a stage at work.
func (a *attempt) undo(ctx context.Context, r *run, s *idempotency.StepRun, i int) error {
	a.tell(effect{what: s.Name(), stage: stage(i)})
	if err := a.pause(ctx, r, a.script.plan.undoing); err != nil {
		return err
	}
	if a.script.plan.cannot == i {
		return errors.New("scripted")
	}
	return a.enlistStage(ctx, s.Name())
}

// enlistStage counts a stage or an undo in an item of its key, by a write that would be made again if it were committed
// again.
func (a *attempt) enlistStage(ctx context.Context, name string) error {
	if !a.world.set.transacts {
		return nil
	}
	return dynamostore.Enlist(ctx, types.TransactWriteItem{Update: &types.Update{TableName: aws.String(business),
		Key:                       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: fmt.Sprintf("stages of %s %s", a.ledger.tenant, a.ledger.key)}},
		UpdateExpression:          aws.String("ADD #name :one"),
		ExpressionAttributeNames:  map[string]string{"#name": name},
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}}})
}

// drawStages chooses how many stages handlers have.
func (s *settings) drawStages(r *rand.Rand) { s.stages = pick(r, 0, 0, 1, 2, 3) }
