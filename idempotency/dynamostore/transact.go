package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"firstwriter/idempotency"
)

// Codes of a cancellation's reasons, from the documentation of TransactWriteItems.
const (
	reasonNone       = "None"
	reasonCondition  = "ConditionalCheckFailed"
	reasonConflict   = "TransactionConflict"
	reasonThroughput = "ProvisionedThroughputExceeded"
	reasonThrottling = "ThrottlingError"
)

// Complete implements [idempotency.Store]: one UpdateItem, or one TransactWriteItems where writes are enlisted, after
// one PutItem for each body item. It is tried until the context's deadline.
func (s *Store) Complete(ctx context.Context, c idempotency.Completion) error {
	b := prepare(c.Held, c.Response)
	if err := s.putBody(ctx, responseOf(c.Held), b, c.ExpiresAt); err != nil {
		return err
	}
	return s.commit(ctx, "completion", c.Held.ID, complete(c, b), c.Enlisted)
}

// commit makes an update of the record, with enlisted writes or without.
func (s *Store) commit(ctx context.Context, what, id string, e expression, given []any) error {
	enlisted, err := gather(given)
	if err != nil {
		return &idempotency.BusinessError{Reason: err.Error()}
	}
	if len(enlisted.items) == 0 {
		return retry(ctx, completionTries, isTransient, func() error { return s.update(ctx, what, id, e) })
	}
	return s.transact(ctx, what, id, append([]types.TransactWriteItem{e.transactUpdate(s.table, id)}, enlisted.items...), enlisted.answer)
}

// transact commits the update of the record, first in items, with the enlisted writes. Each try has a client token of its
// own, made by the SDK: should an unanswered try land after all, the update's condition refuses the next one.
func (s *Store) transact(ctx context.Context, what, id string, items []types.TransactWriteItem, answer answerFunc) error {
	again := func(err error) bool { return isTransient(err) || verdictOf(err) == tryAgain }
	err := retry(ctx, completionTries, again, func() error {
		out, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
		if err != nil {
			spentTransacting(ctx, nil, len(items))
			return err
		}
		spentTransacting(ctx, out.ConsumedCapacity, len(items))
		return nil
	})
	switch verdictOf(err) {
	case refusedOurs:
		return s.refused(ctx, id, reasonsOf(err)[0].Item)
	case refusedTheirs:
		return business(reasonsOf(err)[1:], answer)
	}
	if reason := invalid(err); reason != "" {
		// A request that is wrong in itself was never committed, and never will be: no earlier try of it either.
		return &idempotency.BusinessError{Reason: "the transaction is invalid: " + reason}
	}
	if err != nil {
		return fmt.Errorf("dynamostore: %s with %d enlisted writes: %w", what, len(items)-1, err)
	}
	return nil
}

// invalid is what is wrong with a request as such, in the words of the service or of the SDK; "" where err says nothing of
// that kind.
func invalid(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() == "ValidationException" {
		return api.ErrorMessage()
	}
	var params smithy.InvalidParamsError
	if errors.As(err, &params) {
		return params.Error()
	}
	return ""
}

// verdict is what a cancellation means for the attempt.
type verdict int

const (
	noCancellation verdict = iota
	refusedOurs            // the claim is not held any more
	tryAgain               // somebody else was writing, or capacity was short
	refusedTheirs          // the claim is held, an enlisted write cannot be made
)

// verdictOf reads a cancellation by position, ours first: an own completion that landed unanswered may make the
// enlisted conditions fail as well, and must not be told as a failure.
func verdictOf(err error) verdict {
	reasons := reasonsOf(err)
	if len(reasons) == 0 {
		return noCancellation
	}
	if code(reasons[0]) == reasonCondition {
		return refusedOurs
	}
	for _, r := range reasons {
		switch code(r) {
		case reasonConflict, reasonThroughput, reasonThrottling:
			return tryAgain
		}
	}
	if code(reasons[0]) == reasonNone {
		return refusedTheirs
	}
	return noCancellation // our own update is invalid: a bug, which must not look like an answer
}

func reasonsOf(err error) []types.CancellationReason {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		return nil
	}
	return cancelled.CancellationReasons
}

func code(r types.CancellationReason) string { return aws.ToString(r.Code) }

// business is the error for enlisted writes that were refused. The handler's answer is asked for only where nothing
// but conditions failed: an invalid write has no business meaning.
func business(reasons []types.CancellationReason, answer answerFunc) error {
	e := &idempotency.BusinessError{Reason: "no reason given"}
	for i, r := range reasons {
		switch code(r) {
		case reasonNone:
			continue
		case reasonCondition:
			e.Reason = fmt.Sprintf("the condition of enlisted write %d does not hold", i)
		default:
			return &idempotency.BusinessError{Reason: fmt.Sprintf("enlisted write %d: %s: %s", i, code(r), aws.ToString(r.Message))}
		}
	}
	if answer != nil {
		e.Answer = answer(reasons)
	}
	return e
}
