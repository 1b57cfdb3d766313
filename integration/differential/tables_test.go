package differential

import (
	"context"
	"fmt"
	"time"
)

// key is an attribute of a key, with its type.
type key struct{ name, kind string }

// index is a secondary index; a local one has the table's partition key.
type index struct {
	name       string
	hash, sort key
	projection object
}

// table is one of the tables that calls go to.
type table struct {
	name       string
	hash, sort key // without a name: no sort key
	indexes    []index
}

var tables = []table{
	{name: "differential-plain", hash: key{"pk", "S"}},
	{name: "differential-sorted", hash: key{"pk", "S"}, sort: key{"sk", "N"}, indexes: []index{
		{"by-s", key{"pk", "S"}, key{"s", "S"}, object{"ProjectionType": "INCLUDE", "NonKeyAttributes": list{"n", "l"}}},
		{"by-g", key{"g", "S"}, key{"n", "N"}, object{"ProjectionType": "ALL"}},
		{"by-n", key{"n", "N"}, key{}, object{"ProjectionType": "KEYS_ONLY"}},
	}},
	{name: "differential-binary", hash: key{"pk", "N"}, sort: key{"sk", "B"}},
}

// keys are the attributes of the table's key.
func (t *table) keys() []key { return twoKeys(t.hash, t.sort) }

func (x *index) keys() []key { return twoKeys(x.hash, x.sort) }

func twoKeys(hash, sort key) []key {
	if sort.name == "" {
		return []key{hash}
	}
	return []key{hash, sort}
}

// create makes the table and waits for it. It must not exist: it may be somebody's.
func (t *table) create(ctx context.Context, e *endpoint, f features) error {
	body := object{
		"TableName":   t.name,
		"BillingMode": "PAY_PER_REQUEST",
		"KeySchema":   keySchema(t.keys()),
	}
	if f.streams {
		body["StreamSpecification"] = object{"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}
	}
	attributes := object{}
	for _, k := range t.keys() {
		attributes[k.name] = k.kind
	}
	for _, x := range t.indexes {
		kind := "GlobalSecondaryIndexes"
		if x.hash == t.hash {
			kind = "LocalSecondaryIndexes"
		}
		all, _ := body[kind].(list)
		body[kind] = append(all, object{"IndexName": x.name, "KeySchema": keySchema(x.keys()), "Projection": x.projection})
		for _, k := range x.keys() {
			attributes[k.name] = k.kind
		}
	}
	var definitions list
	for name, kind := range attributes {
		definitions = append(definitions, object{"AttributeName": name, "AttributeType": kind})
	}
	body["AttributeDefinitions"] = definitions
	if _, err := e.must(ctx, "CreateTable", body); err != nil {
		return fmt.Errorf("%w\nIf the table is left over from a run that was killed, delete it", err)
	}
	return t.wait(ctx, e)
}

func keySchema(keys []key) list {
	out := list{object{"AttributeName": keys[0].name, "KeyType": "HASH"}}
	if len(keys) > 1 {
		out = append(out, object{"AttributeName": keys[1].name, "KeyType": "RANGE"})
	}
	return out
}

// wait waits until the table and its indexes are active.
func (t *table) wait(ctx context.Context, e *endpoint) error {
	for {
		r, err := e.must(ctx, "DescribeTable", object{"TableName": t.name})
		if err != nil {
			return err
		}
		described := r.body["Table"].(object)
		active := described["TableStatus"] == "ACTIVE"
		indexes, _ := described["GlobalSecondaryIndexes"].(list)
		for _, x := range indexes {
			active = active && x.(object)["IndexStatus"] == "ACTIVE"
		}
		if active {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s: table %s does not become active: %w", e.name, t.name, ctx.Err())
		}
	}
}

// contents are the items of the table, in an order that is the same for every server.
func (t *table) contents(ctx context.Context, e *endpoint) (list, error) {
	r, err := e.must(ctx, "Scan", object{"TableName": t.name, "ConsistentRead": true})
	if err != nil {
		return nil, err
	}
	items, _ := r.body["Items"].(list)
	return items, nil
}

// clear deletes the items.
func (t *table) clear(ctx context.Context, e *endpoint, items list) error {
	for len(items) > 0 {
		var deletes list
		n := min(len(items), 25)
		for _, it := range items[:n] {
			key := object{}
			for _, k := range t.keys() {
				key[k.name] = it.(object)[k.name]
			}
			deletes = append(deletes, object{"DeleteRequest": object{"Key": key}})
		}
		if _, err := e.must(ctx, "BatchWriteItem", object{"RequestItems": object{t.name: deletes}}); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}
