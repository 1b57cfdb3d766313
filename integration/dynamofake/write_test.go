package dynamofake

import (
	"fmt"
	"strings"
	"testing"
)

func TestReturnValues(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	for _, c := range []struct{ op, returned, more, want string }{
		{"PutItem", "NONE", `"Item":{"pk":{"S":"a"}}`, `{}`},
		{"PutItem", "ALL_OLD", `"Item":{"pk":{"S":"a"}}`, `{"Attributes":{"m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}},"pk":{"S":"a"},"v":{"N":"1"}}}`},
		{"PutItem", "ALL_OLD", `"Item":{"pk":{"S":"new"}}`, `{}`},
		{"DeleteItem", "ALL_OLD", `"Key":{"pk":{"S":"a"}}`, `{"Attributes":{"m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}},"pk":{"S":"a"},"v":{"N":"1"}}}`},
		{"DeleteItem", "ALL_OLD", `"Key":{"pk":{"S":"none"}}`, `{}`},
		{"UpdateItem", "ALL_OLD", `"UpdateExpression":"SET m.x = :v","ExpressionAttributeValues":{":v":{"N":"9"}}`, `{"Attributes":{"m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}},"pk":{"S":"a"},"v":{"N":"1"}}}`},
		{"UpdateItem", "ALL_NEW", `"UpdateExpression":"SET m.x = :v","ExpressionAttributeValues":{":v":{"N":"9"}}`, `{"Attributes":{"m":{"M":{"x":{"N":"9"},"y":{"N":"2"}}},"pk":{"S":"a"},"v":{"N":"1"}}}`},
		{"UpdateItem", "UPDATED_OLD", `"UpdateExpression":"SET m.x = :v","ExpressionAttributeValues":{":v":{"N":"9"}}`, `{"Attributes":{"m":{"M":{"x":{"N":"1"}}}}}`},
		{"UpdateItem", "UPDATED_NEW", `"UpdateExpression":"SET m.x = :v","ExpressionAttributeValues":{":v":{"N":"9"}}`, `{"Attributes":{"m":{"M":{"x":{"N":"9"}}}}}`},
		{"UpdateItem", "UPDATED_NEW", `"UpdateExpression":"REMOVE v"`, `{}`},
		{"UpdateItem", "UPDATED_OLD", `"UpdateExpression":"SET zz = :v","ExpressionAttributeValues":{":v":{"N":"9"}}`, `{}`},
		{"UpdateItem", "ALL_NEW", `"ConditionExpression":"attribute_exists(pk)"`, `{"Attributes":{"m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}},"pk":{"S":"a"},"v":{"N":"1"}}}`},
	} {
		put(t, s, "tab", "a", `"v":{"N":"1"},"m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}}`)
		if c.op == "UpdateItem" {
			c.more = `"Key":{"pk":{"S":"a"}},` + c.more
		}
		got := mustCall(t, s, c.op, fmt.Sprintf(`{"TableName":"tab","ReturnValues":%q,%s}`, c.returned, c.more))
		equal(t, c.op+" "+c.returned+" "+c.more, got, c.want)
	}
}

// An update without anything to do makes an item of the key alone.
func TestUpdateOfNothing(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	mustCall(t, s, "UpdateItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}}}`)
	equal(t, "item", getItem(t, s, "tab", "a"), `{"pk":{"S":"a"}}`)
}

func TestFailedConditionShowsTheItem(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	put(t, s, "tab", "a", `"v":{"N":"1"}`)
	for op, more := range map[string]string{
		"PutItem":    `"Item":{"pk":{"S":"a"}}`,
		"UpdateItem": `"Key":{"pk":{"S":"a"}},"UpdateExpression":"REMOVE v"`,
		"DeleteItem": `"Key":{"pk":{"S":"a"}}`,
	} {
		body := fmt.Sprintf(`{"TableName":"tab",%s,"ConditionExpression":"attribute_not_exists(pk)"`, more)
		const without = `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"`
		a := s.call(serviceDynamo+"."+op, []byte(body+`}`))
		equal(t, op, string(a.body), without+`}`)
		a = s.call(serviceDynamo+"."+op, []byte(body+`,"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`))
		equal(t, op, string(a.body), without+`,"Item":{"pk":{"S":"a"},"v":{"N":"1"}}}`)
	}
	a := s.call(serviceDynamo+".PutItem", []byte(`{"TableName":"tab","Item":{"pk":{"S":"none"}},"ConditionExpression":"attribute_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`))
	equal(t, "no item", string(a.body), `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`)
}

// TestValidation has requests with the service's complaints, and with two
// things wrong to see which one is told.
func TestValidation(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "sort"+`+{"AttributeName":"g","AttributeType":"N"};"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]`)
	const key = `"pk":{"S":"a"},"sk":{"S":"b"}`
	big := strings.Repeat("x", maxItemBytes)
	for _, c := range []struct{ op, body, want string }{
		{"PutItem", `{}`, "ValidationException: 2 validation errors detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null; Value null at 'item' failed to satisfy constraint: Member must not be null"},
		{"PutItem", `{"TableName":"","ReturnValues":"SOME"}`, "ValidationException: 1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"GetItem", `{"TableName":""}`, "ValidationException: 1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"Query", `{"TableName":"","Limit":0}`, "ValidationException: 1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"PutItem", `{"TableName":"a b","Item":{}}`, "ValidationException: 1 validation error detected: Value 'a b' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"},
		{"PutItem", `{"TableName":"tab","Item":{},"ReturnValues":"SOME"}`, "ValidationException: 1 validation error detected: Value 'SOME' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"},
		{"PutItem", `{"TableName":"tab","Item":{},"ReturnValues":"ALL_NEW"}`, "ValidationException: ReturnValues can only be ALL_OLD or NONE"},
		{"PutItem", `{"TableName":"none","Item":{}}`, "ResourceNotFoundException: Requested resource not found"},
		{"PutItem", `{"TableName":"none","Item":{"a":{"N":"x"}}}`, "ValidationException: The parameter cannot be converted to a numeric value: x"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`, "ValidationException: One or more parameter values were invalid: Missing the key sk in the item"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"N":"1"},"sk":{"S":"b"}}}`, "ValidationException: One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":""},"sk":{"S":"b"}}}`, "ValidationException: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"` + big[:2049] + `"},"sk":{"S":"b"}}}`, "ValidationException: One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"S":"` + big[:1025] + `"}}}`, "ValidationException: One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `,"g":{"S":"x"}}}`, "ValidationException: One or more parameter values were invalid: Type mismatch for Index Key g Expected: N Actual: S IndexName: gsi"},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `,"v":{"S":"` + big + `"}}}`, "ValidationException: Item size has exceeded the maximum allowed size"},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `},"Expected":{"a":{"Exists":false}}}`, "ValidationException: dynamofake does not offer the legacy parameters {Expected}: use expressions"},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `},"ExpressionAttributeValues":{":v":{"N":"1"}}}`, "ValidationException: ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"ExpressionAttributeValues":{":v":{"N":"1"}}}`, "ValidationException: ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null"},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `},"ExpressionAttributeNames":{"#a":"b"}}`, "ValidationException: ExpressionAttributeNames can only be specified when using expressions"},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `},"ConditionExpression":"a = :v","ExpressionAttributeValues":{}}`, "ValidationException: ExpressionAttributeValues must not be empty"},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `},"ConditionExpression":"a = :v","ExpressionAttributeValues":{"v":{"N":"1"}}}`, `ValidationException: ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `},"ConditionExpression":"a = :v","ExpressionAttributeValues":{":v":{"N":"x"}}}`, "ValidationException: ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :v"},
		{"PutItem", `{"TableName":"tab","Item":{` + key + `},"ConditionExpression":"#a = b","ExpressionAttributeNames":{"#-":"x"}}`, `ValidationException: ExpressionAttributeNames contains invalid key: Syntax error; key: "#-"`},
		{"GetItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}}}`, "ValidationException: The provided key element does not match the schema"},
		{"GetItem", `{"TableName":"tab","Key":{` + key + `,"x":{"S":"a"}}}`, "ValidationException: The provided key element does not match the schema"},
		{"GetItem", `{"TableName":"tab","Key":{` + key + `},"ProjectionExpression":"sk.a"}`, "ValidationException: Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: sk"},
		{"GetItem", `{"TableName":"tab","Key":{` + key + `},"ProjectionExpression":"g[0]"}`, "ValidationException: Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: g"},
		{"GetItem", `{"TableName":"tab","Key":{},"ExpressionAttributeValues":5,"ReturnItemCollectionMetrics":[]}`, "ValidationException: The provided key element does not match the schema"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET sk = :v","ExpressionAttributeValues":{":v":{"N":"1"}}}`, "ValidationException: One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"REMOVE sk, pk"}`, "ValidationException: One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET g = :v","ExpressionAttributeValues":{":v":{"S":"1"}}}`, "ValidationException: One or more parameter values were invalid: Type mismatch for Index Key g Expected: N Actual: S IndexName: gsi"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET g = pk"}`, "ValidationException: The update expression attempted to update the secondary index key to unsupported type"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET g = if_not_exists(g, :v)","ExpressionAttributeValues":{":v":{"S":"1"}}}`, "ValidationException: One or more parameter values were invalid: Type mismatch for Index Key g Expected: N Actual: S IndexName: gsi"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET g = list_append(v, v)"}`, "ValidationException: One or more parameter values were invalid: Type mismatch for Index Key g Expected: N Actual: L IndexName: gsi"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"DELETE g :v","ExpressionAttributeValues":{":v":{"NS":["1"]}}}`, "ValidationException: One or more parameter values were invalid: Type mismatch for Index Key g Expected: N Actual: NS IndexName: gsi"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET v.a = v, v.b = v, v[0] = v"}`, "ValidationException: Invalid UpdateExpression: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [v, b], path two: [v, [0]]"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET v.a = v, v[0] = v, v = v"}`, "ValidationException: Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [v, a], path two: [v]"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET v = pk + v"}`, "ValidationException: An operand in the update expression has an incorrect data type"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"DELETE v :v ADD w :v","ExpressionAttributeValues":{":v":{"NULL":true}}}`, "ValidationException: Invalid UpdateExpression: Incorrect operand type for operator or function; operator: DELETE, operand type: NULL"},
		{"DeleteItem", `{"TableName":"tab","Key":{"pk":{"S":""},"sk":{"N":"1"}}}`, "ValidationException: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"},
		{"PutItem", `{"TableName":"tab","Item":{},"ReturnValues":""}`, "ValidationException: 1 validation error detected: Value '' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"},
		{"PutItem", `{"TableName":"tab","Item":{},"ReturnValues":"ALL_NEW","ConditionExpression":"a = :v","ExpressionAttributeValues":{":v":{"N":"x"}}}`, "ValidationException: ReturnValues can only be ALL_OLD or NONE"},
		{"PutItem", `{"TableName":"tab","Item":{"a":{"N":"y"}},"ConditionExpression":"a = :v","ExpressionAttributeValues":{":v":{"N":"x"}}}`, "ValidationException: The parameter cannot be converted to a numeric value: y"},
		{"UpdateItem", `{"TableName":"tab","Key":{` + key + `},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"` + big + `"}}}`, "ValidationException: Item size to update has exceeded the maximum allowed size"},
		{"PutItem", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/none","Item":{}}`, "ResourceNotFoundException: Requested resource not found"},
	} {
		equal(t, c.op+" "+c.body[:min(len(c.body), 200)], refused(t, s, c.op, c.body), c.want)
	}
}

// TestBadValues has values that are JSON but no attribute values.
func TestBadValues(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	for value, want := range map[string]string{
		`{}`:                     "ValidationException: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`{"X":"a"}`:              "ValidationException: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`{"S":"a","N":"1"}`:      "ValidationException: Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
		`{"NULL":false}`:         "ValidationException: One or more parameter values were invalid: Null attribute value types must have the value of true",
		`{"SS":[]}`:              "ValidationException: One or more parameter values were invalid: An string set  may not be empty",
		`{"NS":[]}`:              "ValidationException: One or more parameter values were invalid: An number set  may not be empty",
		`{"BS":[]}`:              "ValidationException: One or more parameter values were invalid: Binary sets should not be empty",
		`{"SS":["a","b","a"]}`:   "ValidationException: One or more parameter values were invalid: Input collection [a, b, a] contains duplicates.",
		`{"NS":["1","1.0"]}`:     "ValidationException: Input collection contains duplicates",
		`{"BS":["AQ==","AQ=="]}`: "ValidationException: One or more parameter values were invalid: Input collection [AQ==, AQ==]of type BS contains duplicates.",
		`{"N":""}`:               "ValidationException: The parameter cannot be converted to a numeric value",
		`{"N":"1e200"}`:          "ValidationException: Number overflow. Attempting to store a number with magnitude larger than supported range",
		`{"M":{"a":{"L":[{}]}}}`: "ValidationException: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`"a"`:                    "SerializationException: Unexpected value type in payload",
		`[]`:                     "SerializationException: Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
		`{"S":1}`:                "SerializationException: NUMBER_VALUE cannot be converted to String",
		`{"S":1.5}`:              "SerializationException: DECIMAL_VALUE cannot be converted to String",
		`{"N":1}`:                "SerializationException: NUMBER_VALUE cannot be converted to String",
		`{"S":{}}`:               "SerializationException: Start of structure or map found where not expected",
		`{"S":[]}`:               "SerializationException: Unrecognized collection type class java.lang.String",
		`{"B":"%%%%"}`:           "SerializationException: Invalid last non-pad Base64 character dectected",
		`{"B":5}`:                "SerializationException: only base-64-encoded strings are convertible to bytes",
		`{"BOOL":"maybe"}`:       "SerializationException: Unexpected token received from parser",
		`{"BOOL":1}`:             "SerializationException: NUMBER_VALUE cannot be converted to Boolean",
		`{"B":"abc"}`:            "SerializationException: Base64 encoded length is expected a multiple of 4 bytes but found: 3",
		`{"L":{}}`:               "SerializationException: Start of structure or map found where not expected",
		`{"M":[]}`:               "SerializationException: Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>",
		`{"SS":"a"}`:             "SerializationException: Unexpected field type",
		"{\"S\":\"\xff\"}":       "SerializationException: ",
		`{"S":"a"`:               "SerializationException: ",
		`{"S":"\ud800"}`:         "SerializationException: ",
	} {
		body := `{"TableName":"tab","Item":{"pk":{"S":"a"},"v":` + value + `}}`
		equal(t, value[:min(len(value), 60)], refused(t, s, "PutItem", body), want)
	}
}

// What is stored comes back, whatever is in it.
func TestRoundTrip(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	for _, v := range []string{
		`{"S":""}`, `{"B":""}`, `{"S":"a\"\\\u0000\n\u007fé😀<>&"}`, `{"BOOL":true}`, `{"BOOL":false}`, `{"NULL":true}`,
		`{"L":[]}`, `{"M":{}}`, `{"SS":["","a"]}`, `{"NS":["-1","0","2"]}`, `{"BS":["","AQ=="]}`,
		`{"M":{"":{"S":"x"},"a":{"L":[{"M":{"b":{"N":"-0.5"}}},{"NULL":true}]}}}`,
	} {
		put(t, s, "tab", "a", `"v":`+v)
		var want writer
		want.item(document(t, `{"pk":{"S":"a"},"v":`+v+`}`))
		equal(t, v, getItem(t, s, "tab", "a"), string(want.out))
		if !document(t, getItem(t, s, "tab", "a")).equal(document(t, `{"pk":{"S":"a"},"v":`+v+`}`)) {
			t.Errorf("%s came back as %s", v, getItem(t, s, "tab", "a"))
		}
	}
}
