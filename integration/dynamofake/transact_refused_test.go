package dynamofake

import (
	"fmt"
	"strings"
	"testing"
)

// canceledWith is the start of the answer to a transaction of one action that it cancels, with the reason's message.
func canceledWith(message string) string {
	return fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",`+
		`"Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]",`+
		`"CancellationReasons":[{"Code":"ValidationError","Message":%q}]}`, message)
}

// indexed is a table with a sort key and an index on a number.
const indexed = `sort+{"AttributeName":"g","AttributeType":"N"};"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]`

// TestKeysOfTransactions: a key that does not fit the schema cancels the transaction, one without a value is refused
// before it.
func TestKeysOfTransactions(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	createTable(t, s, "sorted", indexed)
	const (
		schema = "The provided key element does not match the schema"
		index  = "One or more parameter values were invalid: Type mismatch for Index Key g Expected: N Actual: %s IndexName: gsi"
		set    = `{"Update":{"TableName":"sorted","Key":{"pk":{"S":"a"},"sk":{"S":"b"}},"UpdateExpression":"SET g = :g","ExpressionAttributeValues":{":g":%s}}}`
	)
	onKeys := []string{
		`{"Update":{"TableName":"tab","Key":%s,"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"x"}}}}`,
		`{"Delete":{"TableName":"tab","Key":%s}}`,
		`{"ConditionCheck":{"TableName":"tab","Key":%s,"ConditionExpression":"attribute_not_exists(pk)"}}`,
	}
	type test struct{ op, action, reason string }
	tests := []test{
		{"TransactWriteItems", `{"Put":{"TableName":"tab","Item":{"pk":{"N":"5"}}}}`, "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"},
		{"TransactWriteItems", `{"Put":{"TableName":"tab","Item":{"pk":{"L":[{"S":"x"}]}}}}`, "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: L"},
		{"TransactWriteItems", `{"Put":{"TableName":"tab","Item":{"other":{"S":"x"}}}}`, "One or more parameter values were invalid: Missing the key pk in the item"},
		{"TransactWriteItems", `{"Put":{"TableName":"sorted","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"g":{"S":"x"}}}}`, fmt.Sprintf(index, "S")},
		{"TransactWriteItems", `{"Put":{"TableName":"sorted","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"g":{"M":{}}}}}`, fmt.Sprintf(index, "M")},
		{"TransactWriteItems", fmt.Sprintf(set, `{"S":"x"}`), fmt.Sprintf(index, "S")},
		{"TransactWriteItems", fmt.Sprintf(set, `{"L":[]}`), fmt.Sprintf(index, "L")},
	}
	for _, key := range []string{`{"pk":{"N":"5"}}`, `{"pk":{"L":[{"S":"x"}]}}`, `{}`, `{"other":{"S":"a"}}`, `{"pk":{"S":"a"},"other":{"S":"a"}}`} {
		for _, action := range onKeys {
			tests = append(tests, test{"TransactWriteItems", fmt.Sprintf(action, key), schema})
		}
		tests = append(tests, test{"TransactGetItems", `{"Get":{"TableName":"tab","Key":` + key + `}}`, schema})
	}
	for _, c := range tests {
		a := s.call(serviceDynamo+"."+c.op, []byte(`{"TransactItems":[`+c.action+`]}`))
		equal(t, c.op+" "+c.action, string(a.body), canceledWith(c.reason))
	}
	const empty = "ValidationException: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"
	for _, action := range onKeys {
		equal(t, action, refused(t, s, "TransactWriteItems", `{"TransactItems":[`+fmt.Sprintf(action, `{"pk":{"S":""}}`)+`]}`), empty)
	}
	equal(t, "Put", refused(t, s, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":""}}}}]}`), empty)
	equal(t, "Get", refused(t, s, "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"tab","Key":{"pk":{"S":""}}}}]}`), empty)

	a := s.call(serviceDynamo+".TransactWriteItems", []byte(`{"TransactItems":[
		{"Put":{"TableName":"tab","Item":{"pk":{"S":"a"}}}},{"Delete":{"TableName":"tab","Key":{"pk":{"N":"5"}}}},{"Put":{"TableName":"tab","Item":{"pk":{"S":"b"}}}}]}`))
	equal(t, "by position", string(a.body), `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",`+
		`"Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError, None]",`+
		`"CancellationReasons":[{"Code":"None"},{"Code":"ValidationError","Message":"The provided key element does not match the schema"},{"Code":"None"}]}`)
	equal(t, "nothing done", getItem(t, s, "tab", "a"), "")
}

// TestOrderOfTransactionChecks: first the parameters, then the actions one by one, then tables and keys.
func TestOrderOfTransactionChecks(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	const (
		missing  = `{"Put":{"TableName":"none","Item":{"pk":{"S":"a"}}}}`
		syntax   = `{"ConditionCheck":{"TableName":"tab","Key":{"pk":{"S":"c"}},"ConditionExpression":"attribute_not_exists("}}`
		unused   = `{"ConditionCheck":{"TableName":"tab","Key":{"pk":{"S":"c"}},"ConditionExpression":"attribute_not_exists(pk)","ExpressionAttributeValues":{":v":{"S":"x"}}}}`
		wrongKey = `{"Delete":{"TableName":"tab","Key":{"pk":{"N":"5"}}}}`
		noName   = `{"Put":{"TableName":"none","Item":{"pk":{"S":"a"},"":{"S":"x"}}}}`

		syntaxSays = `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`
		unusedSays = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"
		deepSays   = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
	)
	deep := `{"Put":{"TableName":"none","Item":{"pk":{"S":"b"},"d":` + nested(40) + `}}}`
	deepValue := `{"ConditionCheck":{"TableName":"none","Key":{"pk":{"S":"b"}},"ConditionExpression":"d = :d","ExpressionAttributeValues":{":d":` + nested(40) + `}}}`
	deepKey := `{"Delete":{"TableName":"none","Key":{"pk":` + nested(40) + `}}}`
	deepKeySyntax := `{"Delete":{"TableName":"none","Key":{"pk":` + nested(40) + `},"ConditionExpression":"attribute_not_exists("}}`
	for _, c := range []struct {
		actions []string
		want    string
	}{
		{[]string{missing, syntax}, syntaxSays},
		{[]string{missing, unused}, unusedSays},
		{[]string{unused, missing}, unusedSays},
		{[]string{`{"Put":{"TableName":"tab","Item":{"pk":{"S":"c"}}}}`, unused}, unusedSays},
		{[]string{wrongKey, syntax}, syntaxSays},
		{[]string{syntax, deep}, syntaxSays},
		{[]string{deep, syntax}, deepSays},
		{[]string{deep, noName}, deepSays},
		{[]string{noName, deep}, "Empty attribute name"},
		{[]string{noName, deepValue}, "Empty attribute name"},
		{[]string{deepValue, noName}, "ExpressionAttributeValues contains invalid value: " + deepSays + " for key :d"},
		{[]string{deepKey, syntax}, deepSays},
		{[]string{syntax, deepKey}, syntaxSays},
		{[]string{deepKeySyntax}, syntaxSays},
	} {
		equal(t, strings.Join(c.actions, ","), refused(t, s, "TransactWriteItems", `{"TransactItems":[`+strings.Join(c.actions, ",")+`]}`), "ValidationException: "+c.want)
	}
	equal(t, "a table that is missing", refused(t, s, "TransactWriteItems", `{"TransactItems":[`+wrongKey+","+missing+`]}`), "ResourceNotFoundException: Requested resource not found")
	equal(t, "a table that is missing, gets", refused(t, s, "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"tab","Key":{}}},{"Get":{"TableName":"none","Key":{}}}]}`), "ResourceNotFoundException: Requested resource not found")
	equal(t, "a projection", refused(t, s, "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"none","Key":{}}},{"Get":{"TableName":"tab","Key":{"pk":{"S":"a"}},"ProjectionExpression":"!"}}]}`),
		`ValidationException: Invalid ProjectionExpression: Syntax error; token: "!", near: "!"`)
}

// nested is the JSON of a string in so many maps.
func nested(maps int) string {
	return strings.Repeat(`{"M":{"n":`, maps) + `{"S":"leaf"}` + strings.Repeat(`}}`, maps)
}
