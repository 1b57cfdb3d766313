package dynamofake

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// open is a server for one test.
func open(tb testing.TB, o Options) *Server {
	tb.Helper()
	s, err := Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// createTable makes a table with the partition key pk and further members of
// CreateTable, in which "sort" is short for a sort key sk.
func createTable(tb testing.TB, s *Server, name, more string) {
	tb.Helper()
	attributes, keys := `{"AttributeName":"pk","AttributeType":"S"}`, `{"AttributeName":"pk","KeyType":"HASH"}`
	if rest, ok := strings.CutPrefix(more, "sort"); ok {
		more = rest
		attributes += `,{"AttributeName":"sk","AttributeType":"S"}`
		keys += `,{"AttributeName":"sk","KeyType":"RANGE"}`
	}
	if rest, ok := strings.CutPrefix(more, "+"); ok {
		definition, rest, _ := strings.Cut(rest, ";")
		attributes += "," + definition
		more = rest
	}
	if more != "" {
		more = "," + more
	}
	mustCall(tb, s, "CreateTable", fmt.Sprintf(`{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[%s],"KeySchema":[%s]%s}`, name, attributes, keys, more))
}

// refused does a call and wants it to fail; it returns "Type: message".
func refused(tb testing.TB, s *Server, op, body string) string {
	tb.Helper()
	a := s.call(serviceOf(op)+"."+op, []byte(body))
	if a.status < 400 {
		tb.Errorf("%s %s: not refused: %s", op, body, a.body)
	}
	return errorText(tb, a.body)
}

func serviceOf(op string) string {
	if o := operations[op]; o != nil {
		return o.service
	}
	return serviceDynamo
}

func errorText(tb testing.TB, body []byte) string {
	tb.Helper()
	var e struct {
		Type    string `json:"__type"`
		Message string
	}
	if err := json.Unmarshal(body, &e); err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	_, short, _ := strings.Cut(e.Type, "#")
	return short + ": " + e.Message
}

// get is the item of that key as JSON, "" if there is none.
func getItem(tb testing.TB, s *Server, table, pk string) string {
	tb.Helper()
	var out struct{ Item json.RawMessage }
	answer := mustCall(tb, s, "GetItem", fmt.Sprintf(`{"TableName":%q,"Key":{"pk":{"S":%q}},"ConsistentRead":true}`, table, pk))
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		tb.Fatal(err)
	}
	return string(out.Item)
}

// put puts an item, of which members are the attributes beside pk.
func put(tb testing.TB, s *Server, table, pk, members string) {
	tb.Helper()
	if members != "" {
		members = "," + members
	}
	mustCall(tb, s, "PutItem", fmt.Sprintf(`{"TableName":%q,"Item":{"pk":{"S":%q}%s}}`, table, pk, members))
}

// equal compares two texts and shows both when they differ.
func equal(tb testing.TB, what, got, want string) {
	tb.Helper()
	if got != want {
		tb.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}
