package dynamofake

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// The fuzz tests send what nobody would write. Whatever it is, the server must
// answer, with success or with an error of the caller's that has a type: no
// panic, and no 500.

// fuzzItem has an attribute of every kind, and their names are the kinds.
const fuzzItem = `{"pk":{"S":"a"},"sk":{"N":"1"},"S":{"S":"ab"},"N":{"N":"1.5"},"B":{"B":"AQI="},"BOOL":{"BOOL":true},"U":{"NULL":true},
	"SS":{"SS":["a","b"]},"NS":{"NS":["1","2"]},"BS":{"BS":["AQ=="]},"L":{"L":[{"N":"1"},{"M":{"a":{"S":"x"}}},{"L":[]}]},"M":{"M":{"a":{"S":"b"},"n":{"N":"-1"},"M":{"M":{}}}}}`

const fuzzKey = `{"pk":{"S":"a"},"sk":{"N":"1"}}`

// fuzzValues are what placeholders stand for.
var fuzzValues = []string{
	`{"S":"ab"}`, `{"S":""}`, `{"N":"1"}`, `{"N":"-9.9999999999999999999999999999999999999E+125"}`, `{"N":"1E-130"}`, `{"B":"AQI="}`,
	`{"BOOL":true}`, `{"NULL":true}`, `{"SS":["a"]}`, `{"NS":["1","2"]}`, `{"BS":["AQ=="]}`, `{"L":[]}`, `{"L":[{"N":"1"}]}`, `{"M":{}}`, `{"S":"N"}`,
}

var fuzzNames = []string{"S", "N", "B", "BOOL", "U", "SS", "NS", "BS", "L", "M", "a", "n", "pk", "sk", "none"}

var placeholders = regexp.MustCompile(`[#:][A-Za-z0-9_]+`)

// placeholderMembers are the members of a request that define all placeholders
// of an expression, each name always in the same way.
func placeholderMembers(text string) string {
	names, values := map[string]string{}, map[string]json.RawMessage{}
	for _, p := range placeholders.FindAllString(text, -1) {
		h := fnv.New32a()
		h.Write([]byte(p))
		n := int(h.Sum32() % 1009)
		if p[0] == '#' {
			names[p] = fuzzNames[n%len(fuzzNames)]
		} else {
			values[p] = json.RawMessage(fuzzValues[n%len(fuzzValues)])
		}
	}
	var out strings.Builder
	for member, defined := range map[string]any{"ExpressionAttributeNames": names, "ExpressionAttributeValues": values} {
		if text, err := json.Marshal(defined); err == nil && string(text) != "{}" {
			fmt.Fprintf(&out, `,%q:%s`, member, text)
		}
	}
	return out.String()
}

// fuzzServer has the table that fuzz tests use, with one item.
func fuzzServer(tb testing.TB) *Server {
	s := open(tb, Options{})
	mustCall(tb, s, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},{"AttributeName":"S","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},
		"GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"S","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`)
	mustCall(tb, s, "PutItem", `{"TableName":"tab","Item":`+fuzzItem+`}`)
	return s
}

// polite does a call and wants success, or an error of the caller's with a type.
func polite(tb testing.TB, s *Server, target, body string) (ok bool, answer string) {
	tb.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", target)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var out struct {
		Type string `json:"__type"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		tb.Fatalf("%s %s: answered with %q: %v", target, body, w.Body, err)
	}
	switch {
	case w.Code == http.StatusOK && out.Type == "":
	case w.Code == http.StatusBadRequest && strings.Contains(out.Type, "#"):
	default:
		tb.Fatalf("%s %s: %d %s", target, body, w.Code, w.Body)
	}
	return w.Code == http.StatusOK, w.Body.String()
}

// expressionCall does a call with one expression.
func expressionCall(tb testing.TB, s *Server, op, member, text, more string) (ok bool, answer string) {
	tb.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		tb.Fatal(err)
	}
	return polite(tb, s, serviceDynamo+"."+op, fmt.Sprintf(`{"TableName":"tab",%s%q:%s%s}`, more, member, quoted, placeholderMembers(text)))
}

// FuzzCondition: a condition holds, or its negation does, and a filter sees it
// in the same way.
func FuzzCondition(f *testing.F) {
	f.Add("attribute_not_exists(pk) OR (N <= :a AND NOT #s = :b)")
	f.Add("M.a BETWEEN :a AND :b and L[1].a IN (:c, S) or size(SS) > :d")
	f.Add("begins_with(S, :a) AND contains(SS, :b) AND attribute_type(L, :c)")
	f.Fuzz(func(t *testing.T, text string) {
		s := fuzzServer(t)
		const check = `"Key":` + fuzzKey + `,`
		holds, answer := expressionCall(t, s, "UpdateItem", "ConditionExpression", text, check)
		if !holds && !strings.Contains(answer, "ConditionalCheckFailed") {
			return
		}
		fails, answer := expressionCall(t, s, "UpdateItem", "ConditionExpression", "NOT ("+text+")", check)
		if holds == fails && !strings.Contains(answer, "ValidationException") { // redundant parentheses, too long
			t.Errorf("%s: %v, and so is its negation", text, holds)
		}
		ok, answer := expressionCall(t, s, "Scan", "FilterExpression", text, "")
		if found := strings.Contains(answer, `"Count":1`); ok && found != holds {
			t.Errorf("%s: %v as a condition, %v as a filter", text, holds, found)
		}
	})
}

// FuzzUpdate: what an update leaves can be read and put again, and an update
// that is refused changes nothing.
func FuzzUpdate(f *testing.F) {
	f.Add("SET N = N + :a, L = list_append(L, :b), #x = if_not_exists(M.zz, :c) REMOVE M.a, L[0]")
	f.Add("ADD N :a, SS :b DELETE NS :c")
	f.Add("REMOVE L[0], L[2], L[1] SET L[9] = :a, M.M.M = M")
	f.Fuzz(func(t *testing.T, text string) {
		s := fuzzServer(t)
		before := fuzzStored(t, s)
		if ok, _ := expressionCall(t, s, "UpdateItem", "UpdateExpression", text, `"Key":`+fuzzKey+`,"ReturnValues":"UPDATED_NEW",`); !ok {
			equal(t, "the item after a refused update", fuzzStored(t, s), before)
			return
		}
		putAgain(t, s)
	})
}

// fuzzStored is the item as it is.
func fuzzStored(tb testing.TB, s *Server) string {
	var out struct{ Item json.RawMessage }
	if err := json.Unmarshal([]byte(mustCall(tb, s, "GetItem", `{"TableName":"tab","Key":`+fuzzKey+`}`)), &out); err != nil {
		tb.Fatal(err)
	}
	return string(out.Item)
}

// putAgain puts the stored item again: it is valid, and in normal form.
func putAgain(tb testing.TB, s *Server) {
	stored := fuzzStored(tb, s)
	mustCall(tb, s, "PutItem", `{"TableName":"tab","Item":`+stored+`}`)
	equal(tb, "the item, put again", fuzzStored(tb, s), stored)
}

// FuzzProjection: what is shown is a part of the item, and showing it again
// shows the same.
func FuzzProjection(f *testing.F) {
	f.Add("pk, M.a, L[1].a, #b")
	f.Add("L[0], L[2][0], none.a[3]")
	f.Fuzz(func(t *testing.T, text string) {
		s := fuzzServer(t)
		ok, one := expressionCall(t, s, "GetItem", "ProjectionExpression", text, `"Key":`+fuzzKey+`,`)
		if !ok {
			return
		}
		ok, answer := expressionCall(t, s, "Scan", "ProjectionExpression", text, "")
		if ok && !strings.Contains(answer, strings.TrimSuffix(strings.TrimPrefix(one, `{"Item":`), "}")) {
			t.Errorf("%s: %s by GetItem, %s by Scan", text, one, answer)
		}
	})
}

// FuzzKeyCondition: a query finds what a scan finds with the same condition as
// a filter.
func FuzzKeyCondition(f *testing.F) {
	f.Add("pk = :pk AND sk BETWEEN :a AND :b")
	f.Add("#p = :p and begins_with(sk, :s)")
	f.Fuzz(func(t *testing.T, text string) {
		s := fuzzServer(t)
		ok, queried := expressionCall(t, s, "Query", "KeyConditionExpression", text, "")
		if !ok {
			return
		}
		if ok, scanned := expressionCall(t, s, "Scan", "FilterExpression", text, ""); ok && strings.Contains(scanned, `"Count":1`) != strings.Contains(queried, `"Count":1`) {
			t.Errorf("%s: %s by Query, %s by Scan", text, queried, scanned)
		}
	})
}

// FuzzItem: an item that is taken comes back in normal form.
func FuzzItem(f *testing.F) {
	f.Add(strings.TrimPrefix(strings.TrimSuffix(fuzzItem, "}"), `{"pk":{"S":"a"},"sk":{"N":"1"},`))
	f.Add(`"a":{"N":"1e2"},"b":{"NS":["1","01"]},"c":{"M":{"":{"L":[{"NULL":true}]}}}`)
	f.Fuzz(func(t *testing.T, members string) {
		s := fuzzServer(t)
		body := `{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"N":"1"},` + members + `}}`
		if ok, _ := polite(t, s, serviceDynamo+".PutItem", body); ok && strings.Count(mustCall(t, s, "Scan", `{"TableName":"tab"}`), `"pk"`) == 1 {
			if stored := fuzzStored(t, s); stored != "" {
				putAgain(t, s)
			}
		}
	})
}

// FuzzRequest sends any body to any call.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{`{}`, `{"TableName":"tab"}`, `{"TableName":"tab","Key":` + fuzzKey + `}`, `{"TableName":"tab","Item":` + fuzzItem + `}`} {
		for name, op := range operations {
			f.Add(op.service+"."+name, body)
		}
	}
	f.Fuzz(func(t *testing.T, target, body string) {
		if s := fuzzServer(t); len(body) < 1<<20 {
			polite(t, s, target, body)
			polite(t, s, serviceDynamo+".ListTables", `{}`)
		}
	})
}
