package dynamofake

import (
	"fmt"
	"strings"
	"testing"
)

// TestNesting: a string in 31 maps is the deepest value.
func TestNesting(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	const tooDeep = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
	lists := func(n int) string {
		return strings.Repeat(`{"L":[`, n) + `{"S":"leaf"}` + strings.Repeat(`]}`, n)
	}
	for _, c := range []struct{ op, body, want string }{
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"},"d":%s}}`, tooDeep},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}},"ConditionExpression":"d <> :d OR d = :d","ExpressionAttributeValues":{":d":%s}}`,
			"ExpressionAttributeValues contains invalid value: " + tooDeep + " for key :d"},
		{"UpdateItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET d = :d","ExpressionAttributeValues":{":d":%s}}`,
			"ExpressionAttributeValues contains invalid value: " + tooDeep + " for key :d"},
		{"BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":{"Item":{"pk":{"S":"a"},"d":%s}}}]}}`, tooDeep},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"a"},"d":%s}}}]}`, tooDeep},
	} {
		mustCall(t, s, c.op, fmt.Sprintf(c.body, nested(31)))
		mustCall(t, s, c.op, fmt.Sprintf(c.body, lists(31)))
		equal(t, c.op, refused(t, s, c.op, fmt.Sprintf(c.body, nested(32))), "ValidationException: "+c.want)
		equal(t, c.op, refused(t, s, c.op, fmt.Sprintf(c.body, lists(32))), "ValidationException: "+c.want)
	}
	put(t, s, "tab", "a", `"d":`+nested(30))
	const deeper = `{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET e.n = d"}`
	mustCall(t, s, "UpdateItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET e = :e","ExpressionAttributeValues":{":e":`+nested(1)+`}}`)
	mustCall(t, s, "UpdateItem", deeper)
	put(t, s, "tab", "a", `"e":{"M":{}},"d":`+nested(31))
	equal(t, "put together", refused(t, s, "UpdateItem", deeper), "ValidationException: "+tooDeep)
	a := s.call(serviceDynamo+".TransactWriteItems", []byte(`{"TransactItems":[{"Update":`+deeper+`}]}`))
	equal(t, "put together in a transaction", string(a.body), canceledWith(tooDeep))
}

// TestEmptyNames: an attribute has a name.
func TestEmptyNames(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	const empty = "ValidationException: Empty attribute name"
	for _, c := range []struct{ op, body, want string }{
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"x"},"":{"S":"y"}}}`, empty},
		{"PutItem", `{"TableName":"tab","Item":{"":{"S":"y"}}}`, empty},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"x"},"d":` + nested(40) + `,"":{"S":"y"}}}`, empty},
		{"GetItem", `{"TableName":"tab","Key":{"":{"S":"y"}}}`, empty},
		{"DeleteItem", `{"TableName":"tab","Key":{"":{"S":"y"}}}`, empty},
		{"UpdateItem", `{"TableName":"tab","Key":{"":{"S":"y"}}}`, empty},
		{"BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":{"Item":{"pk":{"S":"x"},"":{"S":"y"}}}}]}}`, empty},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"":{"S":"y"}}]}}}`, empty},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"x"},"":{"S":"y"}}}}]}`, empty},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"tab","Key":{"":{"S":"y"}}}}]}`, empty},
		{"GetItem", `{"TableName":"tab","Key":{"pk":{"S":"x"}},"ProjectionExpression":"#a","ExpressionAttributeNames":{"#a":""}}`,
			"ValidationException: ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
	} {
		equal(t, c.op+" "+c.body, refused(t, s, c.op, c.body), c.want)
	}
}

// TestPlaceholderLimits: a placeholder has at most 255 bytes, # or : included.
func TestPlaceholderLimits(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	long := strings.Repeat("a", 255)
	names := func(name string) string {
		return fmt.Sprintf(`{"TableName":"tab","FilterExpression":"attribute_exists(%s)","ExpressionAttributeNames":{%q:"v"}}`, name, name)
	}
	values := func(name string) string {
		return fmt.Sprintf(`{"TableName":"tab","FilterExpression":"v = %s","ExpressionAttributeValues":{%q:{"S":"v"}}}`, name, name)
	}
	mustCall(t, s, "Scan", names("#"+long[1:]))
	mustCall(t, s, "Scan", values(":"+long[1:]))
	for _, c := range []struct{ body, want string }{
		{names("#" + long), "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256"},
		{names("#" + long + "-x"), "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 258"},
		{values(":" + long), "ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;"},
		{fmt.Sprintf(`{"TableName":"tab","FilterExpression":"v = :v","ExpressionAttributeValues":{":v":{"S":%q}}}`, strings.Repeat("a", maxSubstitutions-1)), "ExpressionAttributeValues exceeds max size"},
		{fmt.Sprintf(`{"TableName":"tab","FilterExpression":"attribute_exists(#v)","ExpressionAttributeNames":{"#v":%q}}`, strings.Repeat("a", maxSubstitutions-1)), "ExpressionAttributeNames exceeds max size"},
		{names("#" + long[:100] + "-"), `ExpressionAttributeNames contains invalid key: Syntax error; key: "#` + long[:100] + `-"`},
	} {
		equal(t, c.body[:min(len(c.body), 500)], refused(t, s, "Scan", c.body), "ValidationException: "+c.want)
	}
	mustCall(t, s, "Scan", fmt.Sprintf(`{"TableName":"tab","FilterExpression":"v = :v","ExpressionAttributeValues":{":v":{"S":%q}}}`, strings.Repeat("a", maxSubstitutions-2)))
}

// TestExpressionLimitsOfCalls: the limits of size and operators hold for each kind of expression, in each call.
func TestExpressionLimitsOfCalls(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	name := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		op, body, kind string
		expression     func(size int) string
	}{
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}},"ConditionExpression":%q}`, "ConditionExpression", func(n int) string { return "attribute_not_exists(" + name(n-22) + ")" }},
		{"DeleteItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"ConditionExpression":%q}`, "ConditionExpression", func(n int) string { return "attribute_not_exists(" + name(n-22) + ")" }},
		{"UpdateItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":%q}`, "UpdateExpression", func(n int) string { return "REMOVE " + name(n-7) }},
		{"GetItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"ProjectionExpression":%q}`, "ProjectionExpression", name},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"pk":{"S":"a"}}],"ProjectionExpression":%q}}}`, "ProjectionExpression", name},
		{"Scan", `{"TableName":"tab","FilterExpression":%q}`, "FilterExpression", func(n int) string { return "attribute_not_exists(" + name(n-22) + ")" }},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"FilterExpression":%q}`, "FilterExpression", func(n int) string { return "attribute_not_exists(" + name(n-22) + ")" }},
		{"Query", `{"TableName":"tab","ExpressionAttributeValues":{":p":{"S":"a"}},"KeyConditionExpression":%q}`, "KeyConditionExpression", func(n int) string { return "pk" + strings.Repeat(" ", n-6) + "= :p" }},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"b"}},"ConditionExpression":%q}}]}`, "ConditionExpression", func(n int) string { return "attribute_not_exists(" + name(n-22) + ")" }},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"tab","Key":{"pk":{"S":"a"}},"ProjectionExpression":%q}}]}`, "ProjectionExpression", name},
	} {
		mustCall(t, s, c.op, fmt.Sprintf(c.body, c.expression(4096)))
		equal(t, c.op, refused(t, s, c.op, fmt.Sprintf(c.body, c.expression(4097))),
			"ValidationException: Invalid "+c.kind+": Expression size has exceeded the maximum allowed size; expression size: 4097")
	}
	operators := func(n int) string {
		return `{"TableName":"tab","FilterExpression":"` + strings.Repeat("a=b OR ", n/2) + `a=b","Limit":1}`
	}
	mustCall(t, s, "Scan", operators(298))
	if got := refused(t, s, "Scan", operators(300)); !strings.Contains(got, "too many operators") {
		t.Error(got)
	}
}
