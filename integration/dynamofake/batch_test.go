package dynamofake

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestBatches(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "one", "")
	createTable(t, s, "two", "")
	put(t, s, "two", "d", "")
	equal(t, "write", mustCall(t, s, "BatchWriteItem", `{"ReturnConsumedCapacity":"TOTAL","RequestItems":{
		"one":[{"PutRequest":{"Item":{"pk":{"S":"a"},"v":{"N":"1"}}}},{"PutRequest":{"Item":{"pk":{"S":"b"}}}}],
		"two":[{"DeleteRequest":{"Key":{"pk":{"S":"d"}}}},{"PutRequest":{"Item":{"pk":{"S":"a"}}}}]}}`),
		`{"UnprocessedItems":{},"ConsumedCapacity":[{"TableName":"one","CapacityUnits":2},{"TableName":"two","CapacityUnits":2}]}`)
	equal(t, "get", mustCall(t, s, "BatchGetItem", `{"ReturnConsumedCapacity":"TOTAL","RequestItems":{
		"one":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"none"}}],"ProjectionExpression":"#v","ExpressionAttributeNames":{"#v":"v"}},
		"two":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"d"}}],"ConsistentRead":true,"ExpressionAttributeValues":["of other calls"]}}}`),
		`{"Responses":{"one":[{"v":{"N":"1"}}],"two":[{"pk":{"S":"a"}}]},"UnprocessedKeys":{},"ConsumedCapacity":[{"TableName":"one","CapacityUnits":1},{"TableName":"two","CapacityUnits":2}]}`)
}

// A batch answers at most 16 MB; the rest is left to be asked again.
func TestBatchGetLeavesTheRest(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	var keys []string
	for i := range 50 {
		put(t, s, "tab", fmt.Sprint(i), `"v":{"S":"`+strings.Repeat("x", 390000)+`"}`)
		keys = append(keys, fmt.Sprintf(`{"pk":{"S":"%d"}}`, i))
	}
	seen := 0
	ask := `{"tab":{"Keys":[` + strings.Join(keys, ",") + `],"ProjectionExpression":"#p","ExpressionAttributeNames":{"#p":"pk"}}}`
	for rounds := 0; ask != "{}" && rounds < 5; rounds++ {
		var out struct {
			Responses       map[string][]any
			UnprocessedKeys json.RawMessage
		}
		if err := json.Unmarshal([]byte(mustCall(t, s, "BatchGetItem", `{"RequestItems":`+ask+`}`)), &out); err != nil {
			t.Fatal(err)
		}
		seen += len(out.Responses["tab"])
		ask = string(out.UnprocessedKeys)
		if rounds == 0 && seen != 43 {
			t.Errorf("%d items in the first answer, want 43", seen)
		}
	}
	if seen != 50 {
		t.Errorf("%d items, want 50", seen)
	}
}

func TestBatchesRefused(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	puts := func(n int, same bool) string {
		var out []string
		for i := range n {
			if same {
				i = 0
			}
			out = append(out, fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"%d"}}}}`, i))
		}
		return strings.Join(out, ",")
	}
	const limits = "ValidationException: 1 validation error detected: Value '{tab=[…]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to %d, Member must have length greater than or equal to 1]"
	const twice = "ValidationException: One or more parameter values were invalid: RequestItems names the table tab more than once"
	for _, c := range []struct{ op, body, want string }{
		{"BatchWriteItem", `{}`, "ValidationException: 1 validation error detected: Value null at 'requestItems' failed to satisfy constraint: Member must not be null"},
		{"BatchWriteItem", `{"RequestItems":{}}`, "ValidationException: 1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"BatchWriteItem", `{"RequestItems":{"tab":[` + puts(26, false) + `]}}`, fmt.Sprintf(limits, 25)},
		{"BatchWriteItem", `{"RequestItems":{"tab":[]}}`, fmt.Sprintf(limits, 25)},
		{"BatchWriteItem", `{"RequestItems":{"tab":[` + puts(2, true) + `]}}`, "ValidationException: Provided list of item keys contains duplicates"},
		{"BatchWriteItem", `{"RequestItems":{"none":[` + puts(1, true) + `]}}`, "ResourceNotFoundException: Requested resource not found"},
		{"BatchWriteItem", `{"RequestItems":{"tab":[{}]}}`, "ValidationException: Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"a"}}]}}}`, "ValidationException: Provided list of item keys contains duplicates"},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[]}}}`, "ValidationException: 1 validation error detected: Value '[]' at 'requestItems.tab.member.keys' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":null}}}`, "ValidationException: 1 validation error detected: Value null at 'requestItems.tab.member.keys' failed to satisfy constraint: Member must not be null"},
		{"BatchGetItem", `{"RequestItems":{"tab":{}}}`, "ValidationException: 1 validation error detected: Value null at 'requestItems.tab.member.keys' failed to satisfy constraint: Member must not be null"},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"x":{"N":"1"}},{"x":{"N":"1.0"}}]}}}`, "ValidationException: Provided list of item keys contains duplicates"},
		{"BatchGetItem", `{"RequestItems":{"tab":[]}}`, "SerializationException: Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeysAndAttributes"},
		{"BatchWriteItem", `{"RequestItems":{"tab":{}}}`, "SerializationException: Start of structure or map found where not expected"},
		{"BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":{}}]}}`, "ValidationException: 1 validation error detected: Value null at 'requestItems.tab.member.1.member.putRequest.item' failed to satisfy constraint: Member must not be null"},
		{"BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":{"Item":{}}}]}}`, "ValidationException: The provided key element does not match the schema"},
		{"BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":{"Item":{"pk":{"S":""},"x":{"S":""}}}}]}}`, "ValidationException: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"},
		{"BatchWriteItem", `{"RequestItems":{"none":[` + puts(1, true) + `],"tab":[{}]}}`, "ValidationException: Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
		{"BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":{"Item":{"pk":{"S":"a"}}},"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}}`, "ValidationException: Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"x":{"S":"a"}}]}}}`, "ValidationException: The provided key element does not match the schema"},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"pk":{"S":"a"}}]},"arn:aws:dynamodb:us-east-1:000000000000:table/tab":{"Keys":[{"pk":{"S":"b"}}]}}}`, twice},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"pk":{"S":"a"}}]},"tab":{"Keys":[{"pk":{"S":"b"}}]}}}`, twice},
		{"BatchWriteItem", `{"RequestItems":{"tab":[` + puts(1, true) + `],"arn:aws:dynamodb:us-east-1:000000000000:table/tab":[` + puts(1, true) + `]}}`, twice},
	} {
		equal(t, c.op+" "+c.body[:min(len(c.body), 100)], refused(t, s, c.op, c.body), c.want)
	}
}
