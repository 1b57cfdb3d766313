// Package conformance runs the suite for stores against DynamoDB, as far as the server in integration/dynamofake is it.
package conformance

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/idempotency/storetest"
	"firstwriter/integration/dynamofake"
)

const (
	records  = "idempotency"
	business = "business"
)

// database is a server with the two tables.
type database struct {
	t      *testing.T
	server *dynamofake.Server
	client *dynamodb.Client
}

func newDatabase(t *testing.T, opts ...func(*dynamofake.Options)) *database {
	server, _ := dynamofake.Start(t, opts...)
	client := dynamodb.NewFromConfig(server.Config(), func(o *dynamodb.Options) {
		straight := o.HTTPClient // into the server, without a socket
		dynamostore.Tune(o)
		o.HTTPClient = straight
	})
	for _, table := range []string{records, business} {
		_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: &table, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return &database{t, server, client}
}

func (d *database) store() idempotency.Store { return dynamostore.New(d.client, records) }

// options say what the store can do beyond what every store can.
func (d *database) options(o *storetest.Options) {
	o.Enlisted, o.Refused, o.LoseBody, o.LoseStep = d.enlisted, d.refused, d.loseBody, d.loseStep
	if testing.Short() || raceDetector {
		o.Histories /= 4
	}
}

func id(s string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: s}}
}

func (d *database) enlisted(name string) (any, func(context.Context) (bool, error)) {
	put := types.TransactWriteItem{Put: &types.Put{TableName: aws.String(business), Item: id(name)}}
	return put, func(ctx context.Context) (bool, error) {
		out, err := d.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(business), Key: id(name), ConsistentRead: aws.Bool(true)})
		return err == nil && out.Item != nil, err
	}
}

// refused needs an item that is never there.
func (d *database) refused() any {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: aws.String(business), Key: id("never"),
		ConditionExpression: aws.String("attribute_exists(id)")}}
}

// loseBody deletes the record's last body item.
func (d *database) loseBody(ctx context.Context, r *idempotency.Record) error {
	last := fmt.Sprintf("%s#body#%s#%s#%d", r.ID, r.Owner, base64.RawURLEncoding.EncodeToString(r.Body.Sum[:9]), r.Body.Chunks-1)
	_, err := d.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(records), Key: id(last),
		ConditionExpression: aws.String("attribute_exists(id)")})
	return err
}

// loseStep damages the item of a step's result.
func (d *database) loseStep(ctx context.Context, r *idempotency.Record, i int) error {
	apart := r.Steps[i].Apart
	item := id(fmt.Sprintf("%s#step#%s#%s#0", r.ID, apart.Owner, base64.RawURLEncoding.EncodeToString(apart.Sum[:9])))
	_, err := d.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(records), Key: item,
		UpdateExpression: aws.String("SET #data = :damaged"), ConditionExpression: aws.String("attribute_exists(id)"),
		ExpressionAttributeNames:  map[string]string{"#data": "data"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":damaged": &types.AttributeValueMemberB{Value: []byte("damaged")}}})
	return err
}

// TestDynamoDB runs the whole suite: F01, F07, F08, F11, F12, F14, F18, F21, F22, F23, F31, F32, F33, F46, F48, F62, F79, F84, F85,
// F86, F87, F89, F91 and F98.
func TestDynamoDB(t *testing.T) {
	d := newDatabase(t)
	storetest.Run(t, func(*testing.T) idempotency.Store { return d.store() }, d.options)
}

// TestLostAnswers searches histories in which every fifth call of any kind is done without an answer, so that the SDK
// sends it again, or is kept out by a fault: F04, F09, F14.
func TestLostAnswers(t *testing.T) {
	d := newDatabase(t)
	for n := 1; n < 1000; n += 5 {
		kind := []dynamofake.FaultKind{dynamofake.FaultDropAck, dynamofake.FaultDropAck, dynamofake.FaultError}[n%3]
		if err := d.server.Inject(dynamofake.Fault{Nth: n, Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	err := storetest.CheckHistories(t.Context(), d.store(), func(o *storetest.Options) { o.Histories, o.Resends = 15, true })
	if err != nil {
		t.Error(err)
	}
}

// broken is a client that changes a condition on its way to the database.
type broken struct {
	dynamostore.Client
	from, to string
	changed  *atomic.Int64 // how many
}

func (b broken) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	b.change(in.ConditionExpression)
	return b.Client.PutItem(ctx, in, opts...)
}

func (b broken) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	b.change(in.ConditionExpression)
	b.change(in.UpdateExpression)
	return b.Client.UpdateItem(ctx, in, opts...)
}

func (b broken) change(expression *string) {
	if expression != nil && strings.Contains(*expression, b.from) {
		*expression = strings.ReplaceAll(*expression, b.from, b.to)
		b.changed.Add(1)
	}
}

// TestBrokenConditions: each condition that is dropped on the way to DynamoDB is found by the suite.
func TestBrokenConditions(t *testing.T) {
	for _, c := range []struct{ name, from, to string }{
		{"claim without the expiry", "expires_at <= :before AND", "expires_at <> :before AND"},
		{"claim without the status", "#status IN (:completed, :released)", "(#status IN (:completed, :released) OR attribute_exists(id))"},
		{"claim without the version", " v IN (", " NOT id IN ("},
		{"owner", "#owner = :me AND", "(#owner = :me OR attribute_exists(id)) AND"},
		{"status", "#status = :processing", "(#status = :processing OR attribute_exists(id))"},
		{"takeover without the owner seen", "#owner = :seen_owner", "(#owner = :seen_owner OR attribute_exists(id))"},
		{"takeover without the epoch seen", "epoch = :seen_epoch", "(epoch = :seen_epoch OR attribute_exists(id))"},
		{"takeover without the status seen", "#status = :seen_status", "(#status = :seen_status OR attribute_exists(id))"},
		{"takeover without the lease seen", "lease_until = :seen_lease", "(lease_until = :seen_lease OR attribute_exists(id))"},
		{"renewal without the lease known", "lease_until = :known", "(lease_until = :known OR attribute_exists(id))"},
		{"steps recorded without the number known", "size(steps) = :steps", "(size(steps) = :steps OR attribute_exists(id))"},
		{"first steps recorded twice", "AND attribute_not_exists(steps)", "AND (attribute_not_exists(steps) OR attribute_exists(id))"},
		{"steps left behind", "REMOVE lease_until, steps", "REMOVE lease_until, stages"},
		{"steps lost on release", "expires_at = :expires REMOVE lease_until", "expires_at = :expires REMOVE steps, lease_until"},
		{"expiry left behind", ", expires_at = :expires", ", expired_at = :expires"},
		{"expiry kept", "REMOVE expires_at", "REMOVE expired_at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t)
			b := broken{d.client, c.from, c.to, new(atomic.Int64)}
			err := storetest.Check(t.Context(), dynamostore.New(b, records), d.options, func(o *storetest.Options) { o.Histories, o.FailFast = 1, true })
			if err == nil || b.changed.Load() == 0 {
				t.Errorf("%d calls changed, and the suite says %v", b.changed.Load(), err)
			}
		})
	}
}
