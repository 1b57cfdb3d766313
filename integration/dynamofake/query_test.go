package dynamofake

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// answer is what Query and Scan answer.
type pageAnswer struct {
	Items            []map[string]map[string]any
	Count            int
	ScannedCount     int
	LastEvaluatedKey json.RawMessage
	ConsumedCapacity struct{ CapacityUnits float64 }
}

func ask(tb testing.TB, s *Server, op, body string) pageAnswer {
	tb.Helper()
	var p pageAnswer
	if err := json.Unmarshal([]byte(mustCall(tb, s, op, body)), &p); err != nil {
		tb.Fatal(err)
	}
	return p
}

// askAll follows the pages of a Query or Scan; body lacks its closing brace.
func askAll(tb testing.TB, s *Server, op, body string) (all pageAnswer, pages int) {
	tb.Helper()
	start := ""
	for pages < 10000 {
		p := ask(tb, s, op, body+start+"}")
		pages++
		all.Items = append(all.Items, p.Items...)
		all.Count += p.Count
		all.ScannedCount += p.ScannedCount
		if p.LastEvaluatedKey == nil {
			return all, pages
		}
		start = `,"ExclusiveStartKey":` + string(p.LastEvaluatedKey)
	}
	tb.Fatal("the pages do not end")
	return all, pages
}

// field is an attribute of each item, in order.
func (p pageAnswer) field(name string) []string {
	var out []string
	for _, it := range p.Items {
		for _, v := range it[name] {
			out = append(out, fmt.Sprint(v))
		}
	}
	return out
}

// queryTable has partitions with sort keys of the given type, a global index on
// g and h, and a local one on h. The sort keys and h are random and repeat.
func queryTable(t *testing.T, s *Server, sortType string, r *rand.Rand) map[string][]string {
	t.Helper()
	mustCall(t, s, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"`+sortType+`"},{"AttributeName":"g","AttributeType":"S"},{"AttributeName":"h","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"LocalSecondaryIndexes":[{"IndexName":"lsi","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`)
	partitions := map[string][]string{}
	for _, pk := range []string{"a", "b", "ab", "\x00", "a\x00"} {
		for range 40 {
			sk := randomSortKey(sortType, r)
			body := fmt.Sprintf(`{"TableName":"tab","Item":{"pk":{"S":%s},"sk":{%q:%s},"g":{"S":"g"},"h":{"S":%s}}}`, quote(pk), sortType, quote(sk), quote(randomSortKey("S", r)))
			mustCall(t, s, "PutItem", body)
			if !slices.Contains(partitions[pk], sk) {
				partitions[pk] = append(partitions[pk], sk)
			}
		}
	}
	return partitions
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// randomSortKey is short, so that keys are prefixes of one another, with bytes
// that the encoding of keys must get right.
func randomSortKey(sortType string, r *rand.Rand) string {
	if sortType == "N" {
		return []string{"-100", "-20", "-3", "-0.5", "0", "0.25", "1.5", "9", "10", "100", "1e20", "-1e20", "7", "8"}[r.IntN(14)]
	}
	alphabet := []string{"a", "b", "\x00", "\x01", "é", "\x7f", "z"}
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// holdsFor evaluates a sort key condition the plain way.
func holdsFor(op, sortType, v, low, high string) bool {
	less := func(a, b string) int { return strings.Compare(a, b) }
	if sortType == "N" {
		x, _ := parseNumber(v)
		y, _ := parseNumber(low)
		z, _ := parseNumber(high)
		v, low, high = x, y, z
	}
	switch op {
	case "=":
		return v == low
	case "<":
		return less(v, low) < 0
	case "<=":
		return less(v, low) <= 0
	case ">":
		return less(v, low) > 0
	case ">=":
		return less(v, low) >= 0
	case "BETWEEN":
		return less(low, v) <= 0 && less(v, high) <= 0
	}
	return strings.HasPrefix(v, low)
}

// TestQueryAgainstPlain compares queries of a table with a plain evaluation:
// all operators, both directions, all page sizes.
func TestQueryAgainstPlain(t *testing.T) {
	for _, sortType := range []string{"S", "N"} {
		r := rand.New(rand.NewPCG(5, 6))
		s := open(t, Options{})
		partitions := queryTable(t, s, sortType, r)
		ops := []string{"", "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}
		if sortType == "N" {
			ops = ops[:7]
		}
		for range 400 {
			pk := []string{"a", "b", "ab", "\x00", "a\x00"}[r.IntN(5)]
			op, low, high := ops[r.IntN(len(ops))], randomSortKey(sortType, r), randomSortKey(sortType, r)
			if op == "BETWEEN" && holdsFor("<", sortType, high, low, low) {
				low, high = high, low
			}
			var want []string
			for _, sk := range partitions[pk] {
				if op == "" || holdsFor(op, sortType, sk, low, high) {
					want = append(want, sk)
				}
			}
			slices.SortFunc(want, func(a, b string) int {
				if a == b {
					return 0
				}
				if holdsFor("<", sortType, a, b, b) {
					return -1
				}
				return 1
			})
			forward := r.IntN(2) == 0
			if !forward {
				slices.Reverse(want)
			}
			limit := 1 + r.IntN(12)
			body := fmt.Sprintf(`{"TableName":"tab","ScanIndexForward":%v,"Limit":%d,%s`, forward, limit, keyCondition("pk", "sk", sortType, op, pk, low, high))
			got, pages := askAll(t, s, "Query", body)
			names := got.field("sk")
			if sortType == "N" {
				want = normal(want)
			}
			if !slices.Equal(names, want) {
				t.Fatalf("%s:\n got %q\nwant %q", body, names, want)
			}
			if most := len(want)/limit + 1; pages != most && !(len(want) == 0 && pages == 1) {
				t.Fatalf("%s: %d pages for %d items", body, pages, len(want))
			}
		}
	}
}

// normal are the numbers in normal form.
func normal(numbers []string) []string {
	var out []string
	for _, n := range numbers {
		s, _ := parseNumber(n)
		out = append(out, string(appendNumber(nil, s)))
	}
	return out
}

// keyCondition is a KeyConditionExpression with its values.
func keyCondition(hash, sortKey, sortType, op, pk, low, high string) string {
	expr, values := hash+" = :p", `":p":{"S":`+quote(pk)+`}`
	value := func(v string) string { return fmt.Sprintf(`{%q:%s}`, sortType, quote(v)) }
	switch op {
	case "":
	case "BETWEEN":
		expr += " AND " + sortKey + " BETWEEN :l AND :h"
		values += `,":l":` + value(low) + `,":h":` + value(high)
	case "begins_with":
		expr += " AND begins_with(" + sortKey + ", :l)"
		values += `,":l":` + value(low)
	default:
		expr += " AND " + sortKey + " " + op + " :l"
		values += `,":l":` + value(low)
	}
	return fmt.Sprintf(`"KeyConditionExpression":%q,"ExpressionAttributeValues":{%s}`, expr, values)
}

// TestIndexQueryAgainstPlain does the same through the indexes, where many
// entries share a key.
func TestIndexQueryAgainstPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	s := open(t, Options{})
	queryTable(t, s, "S", r)
	everything, _ := askAll(t, s, "Scan", `{"TableName":"tab"`)
	for range 300 {
		op := []string{"", "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}[r.IntN(8)]
		low, high := randomSortKey("S", r), randomSortKey("S", r)
		low, high = min(low, high), max(low, high)
		index, hash, value := "gsi", "g", "g"
		if r.IntN(2) == 0 {
			index, hash, value = "lsi", "pk", "a"
		}
		var want []string
		for _, it := range everything.Items {
			h := it["h"]["S"].(string)
			if it[hash]["S"] == value && (op == "" || holdsFor(op, "S", h, low, high)) {
				want = append(want, h)
			}
		}
		slices.Sort(want)
		forward := r.IntN(2) == 0
		if !forward {
			slices.Reverse(want)
		}
		body := fmt.Sprintf(`{"TableName":"tab","IndexName":%q,"ScanIndexForward":%v,"Limit":%d,%s`, index, forward, 1+r.IntN(9), keyCondition(hash, "h", "S", op, value, low, high))
		if got, _ := askAll(t, s, "Query", body); !slices.Equal(got.field("h"), want) {
			t.Fatalf("%s:\n got %q\nwant %q", body, got.field("h"), want)
		}
	}
}

// TestScanSegments reads a table in segments of all sizes: each item once.
func TestScanSegments(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	s := open(t, Options{})
	queryTable(t, s, "S", r)
	everything, _ := askAll(t, s, "Scan", `{"TableName":"tab"`)
	for _, total := range []int{1, 2, 3, 7, 1000} {
		var got []string
		for segment := range total {
			p, _ := askAll(t, s, "Scan", fmt.Sprintf(`{"TableName":"tab","Segment":%d,"TotalSegments":%d,"Limit":%d`, segment, total, 1+r.IntN(20)))
			got = append(got, p.field("sk")...)
		}
		if !slices.Equal(got, everything.field("sk")) {
			t.Errorf("%d segments: %d items, want %d", total, len(got), len(everything.Items))
		}
	}
}

func TestSelect(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", `sort+{"AttributeName":"h","AttributeType":"S"};
		"LocalSecondaryIndexes":[{"IndexName":"lsi","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["inc"]}}],
		"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"h","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`)
	mustCall(t, s, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"h":{"S":"c"},"inc":{"N":"1"},"v":{"N":"2"}}}`)
	const lsi = `{"TableName":"tab","IndexName":"lsi","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"ReturnConsumedCapacity":"TOTAL"`
	const gsi = `{"TableName":"tab","IndexName":"gsi","KeyConditionExpression":"h = :p","ExpressionAttributeValues":{":p":{"S":"c"}},"ReturnConsumedCapacity":"TOTAL"`
	for _, c := range []struct{ body, items, units string }{
		{lsi, `[{"h":{"S":"c"},"inc":{"N":"1"},"pk":{"S":"a"},"sk":{"S":"b"}}]`, "0.5"},
		{lsi + `,"Select":"ALL_ATTRIBUTES"`, `[{"h":{"S":"c"},"inc":{"N":"1"},"pk":{"S":"a"},"sk":{"S":"b"},"v":{"N":"2"}}]`, "1"},
		{lsi + `,"Select":"ALL_ATTRIBUTES","ConsistentRead":true`, `[{"h":{"S":"c"},"inc":{"N":"1"},"pk":{"S":"a"},"sk":{"S":"b"},"v":{"N":"2"}}]`, "2"},
		{lsi + `,"ProjectionExpression":"v"`, `[{"v":{"N":"2"}}]`, "1"},
		{lsi + `,"ProjectionExpression":"inc"`, `[{"inc":{"N":"1"}}]`, "0.5"},
		{gsi, `[{"h":{"S":"c"},"pk":{"S":"a"},"sk":{"S":"b"}}]`, "0.5"},
		{gsi + `,"ProjectionExpression":"sk"`, `[{"sk":{"S":"b"}}]`, "0.5"},
	} {
		var out struct {
			Items            json.RawMessage
			ConsumedCapacity struct{ CapacityUnits json.Number }
		}
		if err := json.Unmarshal([]byte(mustCall(t, s, "Query", c.body+"}")), &out); err != nil {
			t.Fatal(err)
		}
		equal(t, c.body, string(out.Items), c.items)
		equal(t, c.body, out.ConsumedCapacity.CapacityUnits.String(), c.units)
	}
	equal(t, "count", mustCall(t, s, "Scan", `{"TableName":"tab","Select":"COUNT"}`), `{"Count":1,"ScannedCount":1}`)
}

func TestQueriesRefused(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", `sort+{"AttributeName":"h","AttributeType":"S"};
		"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"h","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`)
	query := func(expr, more string) string {
		used := `":p":{"S":"a"}`
		if strings.Contains(expr, ":q") {
			used += `,":q":{"S":"b"}`
		}
		if strings.Contains(expr, ":n") {
			used += `,":n":{"N":"1"}`
		}
		return fmt.Sprintf(`{"TableName":"tab","KeyConditionExpression":%q,"ExpressionAttributeValues":{%s}%s}`, expr, used, more)
	}
	for _, c := range []struct{ op, body, want string }{
		{"Query", `{"TableName":"tab"}`, "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."},
		{"Query", query("pk = :p OR sk = :q", ""), "Invalid operator used in KeyConditionExpression: OR"},
		{"Query", query("NOT pk = :p", ""), "Invalid operator used in KeyConditionExpression: NOT"},
		{"Query", query("pk <> :p", ""), "Invalid operator used in KeyConditionExpression: <>"},
		{"Query", query("pk IN (:p)", ""), "Invalid operator used in KeyConditionExpression: IN"},
		{"Query", query("contains(pk, :p)", ""), "Invalid operator used in KeyConditionExpression: contains"},
		{"Query", query("size(pk) = :p", ""), "KeyConditionExpressions cannot contain nested operations"},
		{"Query", query("pk.a = :p", ""), "KeyConditionExpressions cannot have conditions on nested attributes"},
		{"Query", query("pk = :p AND sk > :q AND sk < :q", ""), "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"},
		{"Query", query("pk = :p AND pk = :q", ""), "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"},
		{"Query", query("pk = sk AND sk = :p", ""), "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
		{"Query", query("begins_with(:p, sk)", ""), "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"BOOL":true}}}`, "One or more parameter values were invalid: Condition parameter type does not match schema type"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p AND sk = :q","ExpressionAttributeValues":{":p":{"S":"a"},":q":{"BOOL":true}}}`, "One or more parameter values were invalid: Condition parameter type does not match schema type"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p AND sk < :q","ExpressionAttributeValues":{":p":{"S":"a"},":q":{"BOOL":true}}}`, "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
		{"Query", query("sk = :p", ""), "Query condition missed key schema element: pk"},
		{"Query", query("pk = :p AND v = :q", ""), "Query condition missed key schema element: sk"},
		{"Query", query("pk > :p", ""), "Query key condition not supported"},
		{"Query", query("pk = :p AND sk = :n", ""), "One or more parameter values were invalid: Condition parameter type does not match schema type"},
		{"Query", query("pk = :p", `,"IndexName":"nope"`), "The table does not have the specified index: nope"},
		{"Query", query("h = :p", `,"IndexName":"gsi","ConsistentRead":true`), "Consistent reads are not supported on global secondary indexes"},
		{"Query", query("h = :p", `,"IndexName":"gsi","Select":"ALL_ATTRIBUTES"`), "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index gsi because its projection type is not ALL"},
		{"Query", query("h = :p", `,"IndexName":"gsi","ProjectionExpression":"v"`), "One or more parameter values were invalid: Global secondary index gsi does not project [v]"},
		{"Query", query("pk = :p", `,"Select":"SPECIFIC_ATTRIBUTES"`), "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"},
		{"Query", query("pk = :p", `,"Select":"COUNT","ProjectionExpression":"v"`), "Cannot specify the ProjectionExpression when choosing to get COUNT"},
		{"Query", query("pk = :p", `,"Select":"ALL_PROJECTED_ATTRIBUTES"`), "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
		{"Query", query("pk = :p", `,"FilterExpression":"attribute_exists(sk)"`), "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
		{"Query", query("pk = :p", `,"Limit":0`), "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"},
		{"Query", query("pk = :p", `,"ExclusiveStartKey":{"pk":{"S":"a"}}`), "The provided starting key is invalid"},
		{"Query", query("pk = :p", `,"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"N":"1"}}`), "The provided key element does not match the schema"},
		{"Query", query("pk = :p AND sk = :q AND v = :q", ""), "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)"},
		{"Scan", `{"TableName":"tab","ExclusiveStartKey":{"pk":{"S":"a"}}}`, "The provided starting key is invalid: The provided key element does not match the schema"},
		{"Query", query("pk = :p", `,"ExclusiveStartKey":{"pk":{"S":"b"},"sk":{"S":"b"}}`), "The provided starting key is outside query boundaries based on provided conditions"},
		{"Query", query("pk = :p AND sk > :q", `,"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":"a"}}`), "The provided starting key does not match the range key predicate"},
		{"Query", query("pk = :p AND sk > :q", `,"ExclusiveStartKey":{"pk":{"S":"b"},"sk":{"S":"c"}}`), "The query can return at most one row and cannot be restarted"},
		{"Query", query("h = :p", `,"ExclusiveStartKey":{"pk":{"S":"b"}}`), "The provided starting key is invalid"},
		{"Query", query("pk = :p", `,"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":""}}`), "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk"},
		{"Scan", `{"TableName":"tab","ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":""}}}`, "The provided starting key is invalid: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk"},
		{"Scan", `{"TableName":"tab","KeyConditionExpression":[],"Limit":0}`, "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"},
		{"Scan", `{"TableName":"tab","ExpressionAttributeValues":{":v":{"S":""}}}`, "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null"},
		{"Scan", `{"TableName":"tab","Segment":1}`, "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"},
		{"Scan", `{"TableName":"tab","TotalSegments":1}`, "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"},
		{"Scan", `{"TableName":"tab","Segment":2,"TotalSegments":2}`, "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 is not less than TotalSegments: 2"},
	} {
		equal(t, c.body, refused(t, s, c.op, c.body), "ValidationException: "+c.want)
	}
}

// A page ends before it would read more than 1 MB, and can go on after an item
// that is gone.
func TestPages(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "sort")
	for i := range 6 {
		mustCall(t, s, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"S":"%d"},"v":{"S":%q}}}`, i, strings.Repeat("x", 300000)))
	}
	const query = `{"TableName":"tab","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"ReturnConsumedCapacity":"TOTAL","ProjectionExpression":"sk"`
	p := ask(t, s, "Query", query+"}")
	if p.Count != 3 || p.ConsumedCapacity.CapacityUnits != 110 {
		t.Errorf("%d items, %v units; want 3 and 110", p.Count, p.ConsumedCapacity.CapacityUnits)
	}
	mustCall(t, s, "DeleteItem", `{"TableName":"tab","Key":`+string(p.LastEvaluatedKey)+`}`)
	p = ask(t, s, "Query", query+`,"ExclusiveStartKey":`+string(p.LastEvaluatedKey)+"}")
	if got := strings.Join(p.field("sk"), ""); got != "345" {
		t.Errorf("second page %s, want 345", got)
	}
}
