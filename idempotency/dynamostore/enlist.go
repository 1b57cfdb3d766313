package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
)

// maxEnlisted is what DynamoDB takes in one transaction beside the record's own update.
const maxEnlisted = 99

// answerFunc makes the handler's answer to enlisted writes that were refused.
type answerFunc func(reasons []types.CancellationReason) *idempotency.Response

// ErrUnguarded says that there is no attempt in the context: the request runs without a key, or the context is not the
// one that the handler was given. The write is the handler's own to make then.
var ErrUnguarded = errors.New("dynamostore: the context carries no guarded attempt")

// Enlist gives writes to the attempt that a handler runs in. They are committed in one TransactWriteItems with the
// recorded response: all or nothing, and only if this attempt still holds its claim. Where the response is not
// recorded (a 5xx, say) they are dropped. The tables must be in the account and Region of the store's. At most 99
// writes, no two on one item.
//
// Enlisted writes may have conditions of their own; see [OnRefused].
func Enlist(ctx context.Context, items ...types.TransactWriteItem) error {
	if idempotency.AttemptFrom(ctx) == nil {
		return ErrUnguarded
	}
	for _, it := range items {
		idempotency.Enlist(ctx, it)
	}
	return nil
}

// OnRefused says what to answer when conditions of enlisted writes do not hold: the payment exists already, the balance
// is too low. The answer is recorded in place of the handler's response. The function gets the reasons of the
// enlisted writes, in their order; an item comes with a reason only where its write asked for ALL_OLD. Without a
// function, or where it returns nil, the request fails with 500 and its outcome counts as unknown.
func OnRefused(ctx context.Context, answer func(reasons []types.CancellationReason) *idempotency.Response) error {
	if !idempotency.Enlist(ctx, answerFunc(answer)) {
		return ErrUnguarded
	}
	return nil
}

// enlisted is what a handler has given to its attempt.
type enlisted struct {
	items  []types.TransactWriteItem
	answer answerFunc
}

func gather(given []any) (e enlisted, err error) {
	for _, v := range given {
		switch v := v.(type) {
		case types.TransactWriteItem:
			e.items = append(e.items, v)
		case answerFunc:
			e.answer = v
		default:
			return e, fmt.Errorf("cannot commit an enlisted %T; enlist with dynamostore.Enlist", v)
		}
	}
	if len(e.items) > maxEnlisted {
		return e, fmt.Errorf("%d writes are enlisted; a transaction takes %d beside the record's own", len(e.items), maxEnlisted)
	}
	return e, nil
}
