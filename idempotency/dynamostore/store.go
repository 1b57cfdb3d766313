// Package dynamostore keeps idempotency records in Amazon DynamoDB.
//
// The table needs a partition key "id" of type S, no sort key and no index, and TTL on "expires_at". The function needs
// dynamodb:GetItem, PutItem and UpdateItem on it, and nothing else. A client made with [Tune] gives
// up on a store that does not answer within seconds:
//
//	cfg, err := config.LoadDefaultConfig(ctx)
//	client := dynamodb.NewFromConfig(cfg, dynamostore.Tune)
//	store := dynamostore.New(client, os.Getenv("IDEMPOTENCY_TABLE"))
//
// A first run costs two calls, a replay one, and one more for each body item: see [idempotency.BodyItems]. A recorded step
// costs one call, and one more where its result has an item of its own.
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

// Client is what the store calls of the DynamoDB client.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Store implements [idempotency.Store] on one table.
type Store struct {
	client Client
	table  *string
}

var _ idempotency.Store = (*Store)(nil)

// New makes a store. The table's account and Region are the client's. It panics if there is no client or no table's
// name, since nothing could be guarded.
func New(client Client, table string) *Store {
	if client == nil || table == "" {
		panic("dynamostore: New needs a client and the table's name (is the environment variable set?)")
	}
	return &Store{client: client, table: &table}
}

// Claim implements [idempotency.Store] by one conditional PutItem.
func (s *Store) Claim(ctx context.Context, c idempotency.Claim) error {
	in := &dynamodb.PutItemInput{TableName: s.table, Item: encode(&c.Record),
		ConditionExpression: aws.String(claimable), ExpressionAttributeNames: claimNames,
		ExpressionAttributeValues:           claimValues(c),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal}
	return s.write(ctx, "claim", c.Record.ID, func() (*types.ConsumedCapacity, error) {
		out, err := s.client.PutItem(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	})
}

// Takeover implements [idempotency.Store] by one conditional UpdateItem.
func (s *Store) Takeover(ctx context.Context, t idempotency.Takeover) error {
	return s.update(ctx, "takeover", t.Seen.ID, takeover(t))
}

// Release implements [idempotency.Store] by one conditional UpdateItem.
func (s *Store) Release(ctx context.Context, r idempotency.Release) error {
	return s.update(ctx, "release", r.ID, release(r))
}

// Orphan implements [idempotency.Store] by one conditional UpdateItem.
func (s *Store) Orphan(ctx context.Context, o idempotency.Orphaning) error {
	return s.update(ctx, "orphaning", o.ID, orphan(o))
}

// Extend implements [idempotency.Store] by one conditional UpdateItem.
func (s *Store) Extend(ctx context.Context, e idempotency.Extension) error {
	return s.update(ctx, "renewal", e.ID, extend(e))
}

// Get implements [idempotency.Store] by a consistent GetItem.
func (s *Store) Get(ctx context.Context, id string) (*idempotency.Record, error) {
	item, err := s.get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("dynamostore: read: %w", err)
	}
	return decode(item), nil
}

func (s *Store) get(ctx context.Context, id string) (item, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: s.table, Key: key(id), ConsistentRead: aws.Bool(true),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	if err != nil {
		idempotency.Spend(ctx, idempotency.Usage{Calls: 1})
		return nil, err
	}
	spentReading(ctx, out.ConsumedCapacity, out.Item)
	return out.Item, nil
}

// update sends one conditional UpdateItem.
func (s *Store) update(ctx context.Context, what, id string, u expression) error {
	in := &dynamodb.UpdateItemInput{TableName: s.table, Key: key(id),
		UpdateExpression: aws.String(u.update), ConditionExpression: aws.String(u.condition),
		ExpressionAttributeNames: u.names, ExpressionAttributeValues: u.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal}
	return s.write(ctx, what, id, func() (*types.ConsumedCapacity, error) {
		out, err := s.client.UpdateItem(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	})
}

// write sends a conditional write, again while other writes on the item keep it out, and turns a failed condition into
// a refusal with the record that stands.
func (s *Store) write(ctx context.Context, what, id string, send func() (*types.ConsumedCapacity, error)) error {
	var failed *types.ConditionalCheckFailedException
	err := retry(ctx, conflictTries, isConflict, func() error {
		spent, err := send()
		if errors.As(err, &failed) {
			spentRefused(ctx, failed.Item)
			return nil
		}
		spentWriting(ctx, spent)
		return err
	})
	switch {
	case failed != nil:
		return s.refused(ctx, id, failed.Item)
	case err == nil:
		return nil
	case isConflict(err):
		return fmt.Errorf("dynamostore: %s: %w: %w", what, idempotency.ErrBusy, err)
	}
	return fmt.Errorf("dynamostore: %s: %w", what, err)
}

// refused makes the refusal from the item that came with it. DynamoDB sends the item whenever there is one; where none
// came, a read tells.
func (s *Store) refused(ctx context.Context, id string, came item) error {
	if came != nil {
		return &idempotency.RefusedError{Record: decode(came)}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	r, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	return &idempotency.RefusedError{Record: r}
}

// key is the primary key of a record or body item.
func key(id string) item { return item{"id": str(id)} }
