package dynamofake

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const twoIndexes = `sort+{"AttributeName":"g","AttributeType":"S"},{"AttributeName":"h","AttributeType":"S"};
	"LocalSecondaryIndexes":[{"IndexName":"lsi","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],
	"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`

// TestIndexesFollowTheTable writes at random and then compares each index with
// one that is built anew.
func TestIndexesFollowTheTable(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	s := open(t, Options{})
	createTable(t, s, "tab", twoIndexes)
	for range 2000 {
		key := fmt.Sprintf(`"pk":{"S":"p%d"},"sk":{"S":"s%d"}`, r.IntN(4), r.IntN(10))
		var more strings.Builder
		for _, name := range []string{"g", "h", "v"} {
			if r.IntN(3) > 0 {
				fmt.Fprintf(&more, `,%q:{"S":"%d"}`, name, r.IntN(3))
			}
		}
		switch r.IntN(4) {
		case 0:
			mustCall(t, s, "DeleteItem", fmt.Sprintf(`{"TableName":"tab","Key":{%s}}`, key))
		case 1:
			mustCall(t, s, "UpdateItem", fmt.Sprintf(`{"TableName":"tab","Key":{%s},"UpdateExpression":"SET g = :v REMOVE h","ExpressionAttributeValues":{":v":{"S":"%d"}}}`, key, r.IntN(3)))
		default:
			mustCall(t, s, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{%s%s}}`, key, more.String()))
		}
	}
	tab := s.tables["tab"]
	for _, x := range tab.indexes {
		fresh := &index{name: x.name, global: x.global, schema: x.schema, primary: x.primary, projection: x.projection}
		tab.items.Scan(func(_ string, rec *record) bool {
			fresh.change(nil, rec)
			return true
		})
		if !slices.Equal(x.entries.Keys(), fresh.entries.Keys()) || x.bytes != fresh.bytes {
			t.Errorf("%s: %d entries of %d bytes, want %d of %d", x.name, x.entries.Len(), x.bytes, fresh.entries.Len(), fresh.bytes)
		}
		x.entries.Scan(func(key string, rec *record) bool {
			want, _ := fresh.entries.Get(key)
			if !rec.item.equal(want.item) {
				t.Errorf("%s: %s, want %s", x.name, wire(rec.item), wire(want.item))
			}
			return true
		})
	}
}

// TestIndexCapacity has the documented cost of index writes.
func TestIndexCapacity(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", twoIndexes)
	kb := strings.Repeat("x", 1500)
	for _, c := range []struct{ what, more, want string }{
		{"not in the indexes", `"v":{"N":"1"}`, `{"TableName":"tab","CapacityUnits":1,"Table":{"CapacityUnits":1}}`},
		{"comes into both", `"g":{"S":"1"},"h":{"S":"1"}`, `{"TableName":"tab","CapacityUnits":3,"Table":{"CapacityUnits":1},"LocalSecondaryIndexes":{"lsi":{"CapacityUnits":1}},"GlobalSecondaryIndexes":{"gsi":{"CapacityUnits":1}}}`},
		{"only one projects the change", `"g":{"S":"1"},"h":{"S":"1"},"v":{"S":"` + kb + `"}`, `{"TableName":"tab","CapacityUnits":4,"Table":{"CapacityUnits":2},"LocalSecondaryIndexes":{"lsi":{"CapacityUnits":2}}}`},
		{"changes a key of both", `"g":{"S":"1"},"h":{"S":"2"},"v":{"S":"` + kb + `"}`, `{"TableName":"tab","CapacityUnits":8,"Table":{"CapacityUnits":2},"LocalSecondaryIndexes":{"lsi":{"CapacityUnits":4}},"GlobalSecondaryIndexes":{"gsi":{"CapacityUnits":2}}}`},
		{"nothing changes", `"g":{"S":"1"},"h":{"S":"2"},"v":{"S":"` + kb + `"}`, `{"TableName":"tab","CapacityUnits":2,"Table":{"CapacityUnits":2}}`},
		{"leaves one", `"h":{"S":"2"},"v":{"S":"` + kb + `"}`, `{"TableName":"tab","CapacityUnits":5,"Table":{"CapacityUnits":2},"LocalSecondaryIndexes":{"lsi":{"CapacityUnits":2}},"GlobalSecondaryIndexes":{"gsi":{"CapacityUnits":1}}}`},
	} {
		got := mustCall(t, s, "PutItem", `{"TableName":"tab","ReturnConsumedCapacity":"INDEXES","Item":{"pk":{"S":"a"},"sk":{"S":"b"},`+c.more+`}}`)
		equal(t, c.what, got, `{"ConsumedCapacity":`+c.want+`}`)
	}
}

func TestUpdateTableIndexes(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	put(t, s, "tab", "a", `"g":{"S":"x"},"v":{"N":"1"}`)
	put(t, s, "tab", "b", `"g":{"N":"1"}`)
	const create = `{"TableName":"tab","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"late","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}}]}`
	if got := mustCall(t, s, "UpdateTable", create); !strings.Contains(got, `"TableStatus":"UPDATING"`) || !strings.Contains(got, `"IndexStatus":"CREATING"`) {
		t.Error(got)
	}
	const query = `{"TableName":"tab","IndexName":"late","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"x"}}}`
	equal(t, "query", mustCall(t, s, "Query", query), `{"Items":[{"g":{"S":"x"},"pk":{"S":"a"}}],"Count":1,"ScannedCount":1}`)
	equal(t, "create again", refused(t, s, "UpdateTable", create), "ValidationException: Attempting to create an index which already exists: late")

	mustCall(t, s, "UpdateTable", `{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"late"}}]}`)
	equal(t, "query of a dropped index", refused(t, s, "Query", query), "ValidationException: The table does not have the specified index: late")
	if got := mustCall(t, s, "DescribeTable", `{"TableName":"tab"}`); !strings.Contains(got, `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]`) {
		t.Error(got)
	}
	equal(t, "delete again", refused(t, s, "UpdateTable", `{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"late"}}]}`), "ResourceNotFoundException: Requested resource not found: Index: late not found")
}

// A key of an index is not empty, also after an update; in a transaction too
// that is the answer, and no reason to cancel it.
func TestEmptyIndexKeys(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", `+{"AttributeName":"s","AttributeType":"S"},{"AttributeName":"b","AttributeType":"B"};"GlobalSecondaryIndexes":[
		{"IndexName":"by-s","KeySchema":[{"AttributeName":"s","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}},
		{"IndexName":"by-b","KeySchema":[{"AttributeName":"b","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]`)
	put(t, s, "tab", "a", `"e":{"S":""}`)
	const key = `"TableName":"tab","Key":{"pk":{"S":"a"}}`
	for _, c := range []struct{ name, value, kind string }{{"s", `{"S":""}`, "string"}, {"b", `{"B":""}`, "binary"}} {
		action := `{"TableName":"tab","Item":{"pk":{"S":"a"},"` + c.name + `":` + c.value + `}}`
		want := "ValidationException: One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty " +
			c.kind + " value. IndexName: by-" + c.name + ", IndexKey: " + c.name
		equal(t, "put", refused(t, s, "PutItem", action), want)
		equal(t, "put in a batch", refused(t, s, "BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":`+action+`}]}}`), want)
		equal(t, "put in a transaction", refused(t, s, "TransactWriteItems", `{"TransactItems":[{"Put":`+action+`}]}`), want)

		action = `{` + key + `,"UpdateExpression":"SET ` + c.name + ` = :v","ExpressionAttributeValues":{":v":` + c.value + `}}`
		want = "ValidationException: One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty " + c.kind + " value."
		equal(t, "update", refused(t, s, "UpdateItem", action), want)
		equal(t, "update in a transaction", refused(t, s, "TransactWriteItems", `{"TransactItems":[{"Update":`+action+`}]}`), want)
	}
	equal(t, "known by the item alone", refused(t, s, "UpdateItem", `{`+key+`,"UpdateExpression":"SET s = e"}`),
		"ValidationException: One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value.")
}

// An attribute keeps the type that the table has for it.
func TestUpdateTableKeepsTypes(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	put(t, s, "tab", "a", "")
	const update = `{"TableName":"tab","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"N"},{"AttributeName":"unused","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"late","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`
	if got := mustCall(t, s, "UpdateTable", update); !strings.Contains(got, `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]`) {
		t.Error(got)
	}
	equal(t, "query", mustCall(t, s, "Query", `{"TableName":"tab","IndexName":"late","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`),
		`{"Items":[{"pk":{"S":"a"}}],"Count":1,"ScannedCount":1}`)
}

func TestCollectionMetrics(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", twoIndexes)
	createTable(t, s, "plain", "")
	const one = `{"ItemCollectionKey":{"pk":{"S":"a"}},"SizeEstimateRangeGB":[0,1]}`
	equal(t, "put", mustCall(t, s, "PutItem", `{"TableName":"tab","ReturnItemCollectionMetrics":"SIZE","Item":{"pk":{"S":"a"},"sk":{"S":"b"}}}`), `{"ItemCollectionMetrics":`+one+`}`)
	equal(t, "put without local index", mustCall(t, s, "PutItem", `{"TableName":"plain","ReturnItemCollectionMetrics":"SIZE","Item":{"pk":{"S":"a"}}}`), `{}`)
	equal(t, "transaction", mustCall(t, s, "TransactWriteItems", `{"ReturnItemCollectionMetrics":"SIZE","TransactItems":[{"Delete":{"TableName":"plain","Key":{"pk":{"S":"a"}}}},{"Delete":{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}}]}`), `{"ItemCollectionMetrics":{"tab":[`+one+`]}}`)
	equal(t, "batch", mustCall(t, s, "BatchWriteItem", `{"ReturnItemCollectionMetrics":"SIZE","RequestItems":{"tab":[{"PutRequest":{"Item":{"pk":{"S":"a"},"sk":{"S":"b"}}}}]}}`), `{"UnprocessedItems":{},"ItemCollectionMetrics":{"tab":[`+one+`]}}`)
}
