package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// ending is how a handler or a recovery function ends.
type ending string

const (
	creates  ending = "201"
	declines ending = "402"
	isAway   ending = "503"
	doubts   ending = "500, in doubt"
	fails    ending = "an error"
	givesUp  ending = "an error, nothing done"
	panics   ending = "a panic"
	exits    ending = "Goexit"
	finds    ending = "found"        // a recovery function finds the outcome
	misses   ending = "nothing done" // a recovery function finds none
)

// script is what an attempt's handler does.
type script struct {
	steps    int  // that it takes
	heeds    bool // its context's end
	end      ending
	size     int  // of its response's body
	explains bool // what to answer where its business condition does not hold
	recovery ending
	recovers int // steps that the recovery function takes
	plan     plan
}

func (w *world) script() script {
	r := w.random
	s := script{steps: r.IntN(8), heeds: chance(r, 60), end: creates, size: w.set.size, explains: chance(r, 80),
		recovery: pick(r, misses, misses, finds), recovers: r.IntN(4)}
	if w.drained {
		s.steps, s.recovers = r.IntN(2), r.IntN(2)
		return s
	}
	if w.set.chaos == 0 {
		return s
	}
	if chance(r, 40) {
		s.steps = r.IntN(2 * int(w.set.maxRun/step))
	}
	if chance(r, 15*w.set.chaos) {
		s.end = pick(r, declines, isAway, isAway, doubts, fails, givesUp, panics, exits)
		s.recovery = pick(r, misses, finds, fails)
	}
	return s
}

// String is the script in a line of a history.
func (s script) String() string {
	return fmt.Sprintf("%s after %d steps, heeds %v, %d bytes, explains %v, recovery %s after %d, %+v", s.end, s.steps, s.heeds, s.size, s.explains, s.recovery, s.recovers, s.plan)
}

// run is a handler, or a recovery function, at work.
type run struct {
	ctx      context.Context
	recovery bool
	epoch    int64
	derived  string // key for a downstream call
	began    int    // the step at which the scheduler saw it
	due      int    // the step from which the scheduler lets it go on
	pausing  int    // how many steps it waits from when the scheduler sees that it waits; guarded by the attempt's mu
	waits    bool   // guarded by the attempt's mu
	ended    bool   // guarded by the attempt's mu
}

// begin begins a run. It ends when the function that it returns is called.
func (a *attempt) begin(ctx context.Context, recovery bool) (r *run, end func()) {
	t := idempotency.AttemptFrom(ctx)
	r = &run{ctx: ctx, recovery: recovery, epoch: t.Epoch(), derived: t.DeriveKey("charge")}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun, a.run = r, r
	return r, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		r.ended = true
	}
}

// pause waits until the scheduler lets a run go on, and returns an error if it shall do nothing more.
func (a *attempt) pause(ctx context.Context, r *run, steps int) error {
	a.mu.Lock()
	r.waits, r.pausing = true, steps
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		r.waits = false
	}()
	var cut <-chan struct{}
	if a.script.heeds {
		cut = ctx.Done()
	}
	select {
	case <-a.resume:
		return nil
	case <-a.died:
		return errCrashed
	case <-cut:
		return context.Cause(ctx)
	}
}

// recover is the endpoint's recovery function.
func (a *attempt) recover(ctx context.Context) (*idempotency.Response, error) {
	r, end := a.begin(ctx, true)
	defer end()
	if err := a.pause(ctx, r, a.script.recovers); err != nil {
		return nil, err
	}
	switch a.script.recovery {
	case finds:
		return a.answer(http.StatusCreated, "recovered"), nil
	case fails:
		return nil, errors.New("scripted")
	}
	return nil, nil
}

// handle is the endpoint's handler.
func (a *attempt) handle(ctx context.Context) (*idempotency.Response, error) {
	r, end := a.begin(ctx, false)
	defer end()
	if err := a.pause(ctx, r, a.script.steps); err != nil {
		return nil, err
	}
	if response, err := a.takeStages(ctx, r); response != nil || err != nil {
		return response, err
	}
	switch a.script.end {
	case creates:
		return a.answer(http.StatusCreated, "created"), a.enlist(ctx)
	case declines:
		return a.answer(http.StatusPaymentRequired, "declined"), nil
	case isAway:
		return a.answer(http.StatusServiceUnavailable, "away"), nil
	case doubts:
		idempotency.AttemptFrom(ctx).Decide(idempotency.Doubt)
		return a.answer(http.StatusInternalServerError, "in doubt"), nil
	case givesUp:
		idempotency.AttemptFrom(ctx).Decide(idempotency.LetGo)
	case panics:
		panic("scripted")
	case exits:
		runtime.Goexit()
	}
	return nil, errors.New("scripted")
}

// answer is a response that says whose it is.
func (a *attempt) answer(status int, what string) *idempotency.Response {
	body := fmt.Appendf(nil, `{"run":%d,"for":"%s %s","is":"%s"}`, a.n, a.ledger.tenant, a.ledger.key, what)
	body = append(body, bytes.Repeat([]byte{' '}, max(0, a.script.size-len(body)))...)
	return &idempotency.Response{Status: status, Header: http.Header{"Location": {fmt.Sprint("/runs/", a.n)}}, Body: body}
}

const stock = 3 // of what each tenant sells

// enlist gives the run's business writes to the guard: an item of its own, and one less in the tenant's stock.
func (a *attempt) enlist(ctx context.Context) error {
	if !a.world.set.transacts {
		return nil
	}
	if a.script.explains {
		if err := dynamostore.OnRefused(ctx, a.soldOut); err != nil {
			return err
		}
	}
	return dynamostore.Enlist(ctx,
		types.TransactWriteItem{Put: &types.Put{TableName: aws.String(business), ConditionExpression: aws.String("attribute_not_exists(id)"),
			Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: fmt.Sprint("run-", a.n)}}}},
		types.TransactWriteItem{Update: &types.Update{TableName: aws.String(business),
			Key:                       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "sold by " + a.ledger.tenant}},
			UpdateExpression:          aws.String("ADD sold :one"),
			ConditionExpression:       aws.String("attribute_not_exists(sold) OR sold < :stock"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}, ":stock": &types.AttributeValueMemberN{Value: fmt.Sprint(stock)}}}})
}

func (a *attempt) soldOut([]types.CancellationReason) *idempotency.Response {
	return a.answer(http.StatusConflict, "sold out")
}
