package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// table is one AWS::DynamoDB::Table. Backups, encryption and deletion protection stay behind: they mean nothing here.
type table struct {
	id      string // logical id
	name    string
	attrs   []types.AttributeDefinition
	keys    []types.KeySchemaElement
	indexes []types.GlobalSecondaryIndex
	ttl     string // the attribute; "" for none
	stream  string // the view type; "" for no stream
}

func readTable(r *resolver, id string, res *node) (table, error) {
	p := res.get("Properties")
	if err := p.only("table "+id, "AttributeDefinitions", "BillingMode", "ContributorInsightsSpecification",
		"DeletionProtectionEnabled", "GlobalSecondaryIndexes", "KeySchema", "OnDemandThroughput",
		"PointInTimeRecoverySpecification", "ProvisionedThroughput", "SSESpecification", "StreamSpecification", "TableClass", "TableName", "Tags",
		"TimeToLiveSpecification"); err != nil {
		return table{}, err
	}
	if p == nil || p.get("KeySchema") == nil || p.get("AttributeDefinitions") == nil {
		return table{}, res.errorf("table %s: KeySchema and AttributeDefinitions are needed", id)
	}
	t := table{id: id, name: r.refs[id]}
	for _, a := range p.get("AttributeDefinitions").items {
		name, kind, err := r.pair(a, "AttributeName", "AttributeType")
		if err != nil {
			return t, err
		}
		t.attrs = append(t.attrs, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeType(kind)})
	}
	var err error
	if t.keys, err = readKeys(r, p.get("KeySchema")); err != nil {
		return t, err
	}
	if t.indexes, err = readIndexes(r, p.get("GlobalSecondaryIndexes")); err != nil {
		return t, err
	}
	if spec := p.get("StreamSpecification"); spec != nil {
		if t.stream, err = r.member(spec, "StreamViewType"); err != nil {
			return t, err
		}
	}
	if ttl := p.get("TimeToLiveSpecification"); ttl != nil && ttl.get("Enabled") != nil && ttl.get("Enabled").text == "true" {
		t.ttl, err = r.member(ttl, "AttributeName")
	}
	return t, err
}

func readKeys(r *resolver, schema *node) ([]types.KeySchemaElement, error) {
	var keys []types.KeySchemaElement
	for _, k := range schema.items {
		name, kind, err := r.pair(k, "AttributeName", "KeyType")
		if err != nil {
			return nil, err
		}
		keys = append(keys, types.KeySchemaElement{AttributeName: &name, KeyType: types.KeyType(kind)})
	}
	return keys, nil
}

func readIndexes(r *resolver, indexes *node) ([]types.GlobalSecondaryIndex, error) {
	if indexes == nil {
		return nil, nil
	}
	var out []types.GlobalSecondaryIndex
	for _, i := range indexes.items {
		name, err := r.member(i, "IndexName")
		if err != nil {
			return nil, err
		}
		if i.get("KeySchema") == nil || i.get("Projection") == nil {
			return nil, i.errorf("index %s: KeySchema and Projection are needed", name)
		}
		keys, err := readKeys(r, i.get("KeySchema"))
		if err != nil {
			return nil, err
		}
		projection, err := r.member(i.get("Projection"), "ProjectionType")
		if err != nil {
			return nil, err
		}
		included, err := r.texts(i.get("Projection").get("NonKeyAttributes"))
		if err != nil {
			return nil, err
		}
		out = append(out, types.GlobalSecondaryIndex{IndexName: &name, KeySchema: keys, Projection: &types.Projection{
			ProjectionType: types.ProjectionType(projection), NonKeyAttributes: included,
		}})
	}
	return out, nil
}

// member evaluates a needed member of an object.
func (r *resolver) member(n *node, key string) (string, error) {
	if n.get(key) == nil {
		return "", n.errorf("%s is needed here", key)
	}
	return r.text(n.get(key))
}

func (r *resolver) pair(n *node, a, b string) (string, string, error) {
	va, err := r.member(n, a)
	if err != nil {
		return "", "", err
	}
	vb, err := r.member(n, b)
	return va, vb, err
}

// createTables creates the tables that are not there yet and waits until each can be used.
func createTables(ctx context.Context, client *dynamodb.Client, log *logger, tables []table) error {
	for _, t := range tables {
		created, err := createTable(ctx, client, t)
		if err == nil && created && t.ttl != "" {
			err = setTTL(ctx, client, log, t)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return nil
}

// createTable reports whether the table is new.
func createTable(ctx context.Context, client *dynamodb.Client, t table) (bool, error) {
	in := &dynamodb.CreateTableInput{
		TableName:              &t.name,
		AttributeDefinitions:   t.attrs,
		KeySchema:              t.keys,
		GlobalSecondaryIndexes: t.indexes,
		BillingMode:            types.BillingModePayPerRequest,
	}
	if t.stream != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(t.stream)}
	}
	_, err := client.CreateTable(ctx, in)
	var there *types.ResourceInUseException
	if errors.As(err, &there) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, waitForTable(ctx, client, t.name)
}

// waitForTable asks more often than the SDK would, which waits for 20 s after the first time.
func waitForTable(ctx context.Context, client *dynamodb.Client, name string) error {
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 200*time.Millisecond, 2*time.Second
	})
	return waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, databaseLimit(true)) // ctx may end before
}

// setTTL turns on the deletion of expired items. A server without it will do: nothing may rely on that deletion, which
// is late by days on DynamoDB too.
func setTTL(ctx context.Context, client *dynamodb.Client, log *logger, t table) error {
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &t.name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.ttl, Enabled: aws.Bool(true)}})
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() == "UnknownOperationException" {
		log.printf("sandbox", "table %s: the database server has no UpdateTimeToLive; expired items stay", t.name)
		return nil
	}
	return err
}
