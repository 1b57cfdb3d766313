package dynamofake

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestTableLife(t *testing.T) {
	c := newClock()
	s := open(t, Options{Now: c.Now})
	createTable(t, s, "tab", "sort"+`"DeletionProtectionEnabled":true,"Tags":[{"Key":"a","Value":"1"}],"TableClass":"STANDARD",`+streamOn)
	mustCall(t, s, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"v":{"N":"12"}}}`)
	var d struct{ Table map[string]any }
	if err := json.Unmarshal([]byte(mustCall(t, s, "DescribeTable", `{"TableName":"tab"}`)), &d); err != nil {
		t.Fatal(err)
	}
	delete(d.Table, "TableId")
	got, err := json.Marshal(d.Table)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "describe", string(got), `{"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],`+
		`"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST"},"CreationDateTime":1795953600,"DeletionProtectionEnabled":true,"ItemCount":1,`+
		`"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],`+
		`"LatestStreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tab/stream/2026-11-29T12:00:00.000","LatestStreamLabel":"2026-11-29T12:00:00.000",`+
		`"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},`+
		`"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},`+
		`"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tab","TableClassSummary":{"TableClass":"STANDARD"},"TableName":"tab","TableSizeBytes":9,"TableStatus":"ACTIVE"}`)

	equal(t, "create again", refused(t, s, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`), "ResourceInUseException: Table already exists: tab")
	equal(t, "protected", refused(t, s, "DeleteTable", `{"TableName":"tab"}`), "ValidationException: Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	mustCall(t, s, "UpdateTable", `{"TableName":"tab","DeletionProtectionEnabled":false}`)
	if got := mustCall(t, s, "DeleteTable", `{"TableName":"tab"}`); !strings.Contains(got, `"TableStatus":"DELETING"`) {
		t.Error(got)
	}
	equal(t, "describe what is gone", refused(t, s, "DescribeTable", `{"TableName":"tab"}`), "ResourceNotFoundException: Requested resource not found: Table: tab not found")
	equal(t, "delete what is gone", refused(t, s, "DeleteTable", `{"TableName":"tab"}`), "ResourceNotFoundException: Requested resource not found: Table: tab not found")
}

func TestListTables(t *testing.T) {
	s := open(t, Options{})
	for i := range 5 {
		createTable(t, s, fmt.Sprintf("tab%d", i), "")
	}
	equal(t, "all", mustCall(t, s, "ListTables", `{}`), `{"TableNames":["tab0","tab1","tab2","tab3","tab4"]}`)
	equal(t, "two", mustCall(t, s, "ListTables", `{"Limit":2}`), `{"TableNames":["tab0","tab1"],"LastEvaluatedTableName":"tab1"}`)
	equal(t, "next", mustCall(t, s, "ListTables", `{"Limit":3,"ExclusiveStartTableName":"tab1"}`), `{"TableNames":["tab2","tab3","tab4"]}`)
	equal(t, "after the last", mustCall(t, s, "ListTables", `{"ExclusiveStartTableName":"zzz"}`), `{"TableNames":[]}`)
	equal(t, "too many", refused(t, s, "ListTables", `{"Limit":101}`), "ValidationException: 1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100")
}

func TestTags(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", `"Tags":[{"Key":"a","Value":"1"}]`)
	const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tab"`
	mustCall(t, s, "TagResource", `{`+arn+`,"Tags":[{"Key":"b","Value":"2"},{"Key":"a","Value":"3"}]}`)
	equal(t, "tagged", mustCall(t, s, "ListTagsOfResource", `{`+arn+`}`), `{"Tags":[{"Key":"b","Value":"2"},{"Key":"a","Value":"3"}]}`)
	mustCall(t, s, "UntagResource", `{`+arn+`,"TagKeys":["b","zz"]}`)
	equal(t, "untagged", mustCall(t, s, "ListTagsOfResource", `{`+arn+`}`), `{"Tags":[{"Key":"a","Value":"3"}]}`)
	equal(t, "no ARN", refused(t, s, "TagResource", `{}`), "ValidationException: Invalid TableArn")
	equal(t, "a name", refused(t, s, "ListTagsOfResource", `{"ResourceArn":"tab"}`), "ValidationException: Invalid TableArn: Invalid ResourceArn provided as input tab")
}

func TestTablesRefused(t *testing.T) {
	s := open(t, Options{})
	const pk, sk = `{"AttributeName":"pk","AttributeType":"S"}`, `{"AttributeName":"sk","AttributeType":"S"}`
	const hash, sorted = `{"AttributeName":"pk","KeyType":"HASH"}`, `{"AttributeName":"sk","KeyType":"RANGE"}`
	table := func(attributes, keys, more string) string {
		return fmt.Sprintf(`{"TableName":"tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[%s],"KeySchema":[%s]%s}`, attributes, keys, more)
	}
	index := func(name, keys, projection string) string {
		return fmt.Sprintf(`{"IndexName":%q,"KeySchema":[%s],"Projection":{%s}}`, name, keys, projection)
	}
	const all = `"ProjectionType":"ALL"`
	for _, c := range []struct{ body, want string }{
		{`{}`, "The parameter 'TableName' is required but was not present in the request"},
		{`{"TableName":"a b"}`, "3 validation errors detected: Value null at 'attributeDefinitions' failed to satisfy constraint: Member must not be null; Value 'a b' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value null at 'keySchema' failed to satisfy constraint: Member must not be null"},
		{`{"TableName":"a"}`, "TableName must be at least 3 characters long and at most 255 characters long"},
		{table(pk, hash, `,"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`), "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"},
		{strings.Replace(table(pk, hash, ""), "PAY_PER_REQUEST", "PROVISIONED", 1), "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"},
		{strings.Replace(table(pk, hash, ""), "PAY_PER_REQUEST", "FREE", 1), "1 validation error detected: Value 'FREE' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"},
		{table(sk, hash, ""), "One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], AttributeDefinitions: [sk]"},
		{table(pk, hash+","+sorted, ""), "Invalid KeySchema: Some index key attribute have no definition"},
		{table(pk, hash+","+hash, ""), "Both the Hash Key and the Range Key element in the KeySchema have the same name"},
		{table(pk+","+sk, sorted+","+hash, ""), "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
		{table(pk+","+sk, hash, ""), "One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"},
		{table(strings.Replace(pk, `"S"`, `"SS"`, 1), hash, ""), "1 validation error detected: Value 'SS' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]"},
		{table(pk, hash, `,"LocalSecondaryIndexes":[`+index("lsi", hash, all)+`]`), "One or more parameter values were invalid: Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"},
		{table(pk+","+sk, hash+","+sorted, `,"LocalSecondaryIndexes":[`+index("lsi", hash, all)+`]`), "One or more parameter values were invalid: Index KeySchema does not have a range key for index: lsi"},
		{table(pk+","+sk, hash+","+sorted, `,"LocalSecondaryIndexes":[]`), "One or more parameter values were invalid: List of LocalSecondaryIndexes is empty"},
		{table(pk, hash, `,"GlobalSecondaryIndexes":[]`), "One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty"},
		{table(pk, hash, `,"GlobalSecondaryIndexes":[`+index("gsi", hash, "")+`]`), "One or more parameter values were invalid: Unknown ProjectionType: null"},
		{table(pk, hash, `,"GlobalSecondaryIndexes":[`+index("gsi", hash, `"ProjectionType":"ALL","NonKeyAttributes":["a"]`)+`]`), "One or more parameter values were invalid: ProjectionType is ALL, but NonKeyAttributes is specified"},
		{table(pk, hash, `,"GlobalSecondaryIndexes":[`+index("gsi", hash, all)+`,`+index("gsi", hash, all)+`]`), "One or more parameter values were invalid: Duplicate index name: gsi"},
		{table(pk, hash, `,"GlobalSecondaryIndexes":[`+index("g", hash, all)+`]`), "1 validation error detected: Value 'g' at 'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3"},
		{table(pk, hash, `,"StreamSpecification":{"StreamEnabled":true}`), "One or more parameter values were invalid: StreamViewType is required when StreamEnabled is true"},
		{table(pk, hash, `,"StreamSpecification":{"StreamEnabled":false,"StreamViewType":"NEW_IMAGE"}`), "One or more parameter values were invalid: StreamViewType can not be specified when StreamEnabled is false"},
	} {
		equal(t, c.body, refused(t, s, "CreateTable", c.body), "ValidationException: "+c.want)
	}
	createTable(t, s, "tab", "")
	for _, c := range []struct{ body, want string }{
		{`{"TableName":"tab"}`, "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"},
		{`{"TableName":"tab","BillingMode":"PROVISIONED"}`, "One or more parameter values were invalid: ProvisionedThroughput must be specified when BillingMode is PROVISIONED"},
		{`{"TableName":"tab","GlobalSecondaryIndexUpdates":[{}]}`, "One or more parameter values were invalid: One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null"},
		{`{"TableName":"tab","StreamSpecification":{"StreamEnabled":false}}`, "Table already has a disabled stream: TableName: tab"},
		{`{"TableName":"tab","AttributeDefinitions":[` + sk + `],"GlobalSecondaryIndexUpdates":[{"Create":` + index("gsi", hash, all) + `}]}`, "One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], AttributeDefinitions: [sk]"},
		{`{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Create":` + index("gsi", hash, all) + `}]}`, "Invalid KeySchema: Some index key attribute have no definition"},
	} {
		equal(t, c.body, refused(t, s, "UpdateTable", c.body), "ValidationException: "+c.want)
	}
	const oneAtOnce = "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
	for _, updates := range []string{
		`{"Create":` + index("one", hash, all) + `},{"Create":` + index("two", hash, all) + `}`,
		`{"Create":` + index("one", hash, all) + `},{"Delete":{"IndexName":"two"}}`,
		`{"Delete":{"IndexName":"one"}},{"Delete":{"IndexName":"two"}}`,
	} {
		equal(t, updates, refused(t, s, "UpdateTable", `{"TableName":"tab","AttributeDefinitions":[`+pk+`],"GlobalSecondaryIndexUpdates":[`+updates+`]}`), oneAtOnce)
	}
}

func TestBillingChanges(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	got := mustCall(t, s, "UpdateTable", `{"TableName":"tab","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6}}`)
	if !strings.Contains(got, `"ReadCapacityUnits":5,"WriteCapacityUnits":6`) || strings.Contains(got, "BillingModeSummary") {
		t.Error(got)
	}
	got = mustCall(t, s, "UpdateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST"}`)
	if !strings.Contains(got, `"ReadCapacityUnits":0`) || !strings.Contains(got, "BillingModeSummary") {
		t.Error(got)
	}
}

func TestContinuousBackups(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	equal(t, "backups", mustCall(t, s, "DescribeContinuousBackups", `{"TableName":"tab"}`),
		`{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}}`)
}
