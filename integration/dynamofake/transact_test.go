package dynamofake

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// begin starts a call in a goroutine and returns a function that waits for its
// answer.
func begin(s *Server, op, body string) func() string {
	out := make(chan string, 1)
	go func() { out <- string(s.call(serviceOf(op)+"."+op, []byte(body)).body) }()
	return func() string { return <-out }
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "one", "")
	createTable(t, s, "two", "")
	put(t, s, "one", "u", `"n":{"N":"1"}`)
	put(t, s, "two", "d", "")
	const actions = `{"Put":{"TableName":"one","Item":{"pk":{"S":"p"}},"ConditionExpression":"attribute_not_exists(pk)"}},
		{"Update":{"TableName":"one","Key":{"pk":{"S":"u"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}},
		{"Delete":{"TableName":"two","Key":{"pk":{"S":"d"}}}}`
	a := s.call(serviceDynamo+".TransactWriteItems", []byte(`{"TransactItems":[`+actions+`,
		{"ConditionCheck":{"TableName":"two","Key":{"pk":{"S":"c"}},"ConditionExpression":"attribute_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},
		{"Put":{"TableName":"two","Item":{"pk":{"S":"d"}},"ConditionExpression":"attribute_not_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}]}`))
	equal(t, "two on one item", errorText(t, a.body), "ValidationException: Transaction request cannot include multiple operations on one item")

	put(t, s, "two", "e", `"v":{"N":"5"}`)
	a = s.call(serviceDynamo+".TransactWriteItems", []byte(`{"TransactItems":[`+actions+`,
		{"ConditionCheck":{"TableName":"two","Key":{"pk":{"S":"c"}},"ConditionExpression":"attribute_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},
		{"Put":{"TableName":"two","Item":{"pk":{"S":"e"}},"ConditionExpression":"attribute_not_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},
		{"Update":{"TableName":"two","Key":{"pk":{"S":"f"}},"UpdateExpression":"SET a = b"}}]}`))
	equal(t, "canceled", string(a.body), `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",`+
		`"Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [None, None, None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError]",`+
		`"CancellationReasons":[{"Code":"None"},{"Code":"None"},{"Code":"None"},`+
		`{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"},`+
		`{"Code":"ConditionalCheckFailed","Message":"The conditional request failed","Item":{"pk":{"S":"e"},"v":{"N":"5"}}},`+
		`{"Code":"ValidationError","Message":"The provided expression refers to an attribute that does not exist in the item"}]}`)
	equal(t, "nothing put", getItem(t, s, "one", "p"), "")
	equal(t, "nothing updated", getItem(t, s, "one", "u"), `{"n":{"N":"1"},"pk":{"S":"u"}}`)
	equal(t, "nothing deleted", getItem(t, s, "two", "d"), `{"pk":{"S":"d"}}`)

	equal(t, "done", mustCall(t, s, "TransactWriteItems", `{"ReturnConsumedCapacity":"TOTAL","TransactItems":[`+actions+`]}`),
		`{"ConsumedCapacity":[{"TableName":"one","CapacityUnits":4,"WriteCapacityUnits":4},{"TableName":"two","CapacityUnits":2,"WriteCapacityUnits":2}]}`)
	equal(t, "put", getItem(t, s, "one", "p"), `{"pk":{"S":"p"}}`)
	equal(t, "updated", getItem(t, s, "one", "u"), `{"n":{"N":"2"},"pk":{"S":"u"}}`)
	equal(t, "deleted", getItem(t, s, "two", "d"), "")
}

// TestOpenTransaction meets a transaction between its two phases.
func TestOpenTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{TransactionTime: time.Second})
		createTable(t, s, "tab", "")
		put(t, s, "tab", "a", `"n":{"N":"1"}`)
		const body = `{"ClientRequestToken":"token","TransactItems":[{"Update":{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}},{"Put":{"TableName":"tab","Item":{"pk":{"S":"b"}}}}]}`
		first := begin(s, "TransactWriteItems", body)
		time.Sleep(time.Second / 2)

		const conflict = "TransactionConflictException: Transaction is ongoing for the item"
		equal(t, "put", refused(t, s, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`), conflict)
		equal(t, "update", refused(t, s, "UpdateItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"ConditionExpression":"attribute_not_exists(pk)"}`), conflict)
		equal(t, "delete", refused(t, s, "DeleteItem", `{"TableName":"tab","Key":{"pk":{"S":"b"}}}`), conflict)
		equal(t, "transaction", refused(t, s, "TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"tab","Key":{"pk":{"S":"c"}}}},{"Delete":{"TableName":"tab","Key":{"pk":{"S":"b"}}}}]}`),
			"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]")
		equal(t, "transactional get", refused(t, s, "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"tab","Key":{"pk":{"S":"a"}}}},{"Get":{"TableName":"tab","Key":{"pk":{"S":"c"}}}}]}`),
			"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict, None]")
		equal(t, "batch", mustCall(t, s, "BatchWriteItem", `{"RequestItems":{"tab":[{"DeleteRequest":{"Key":{"pk":{"S":"b"}}}},{"PutRequest":{"Item":{"pk":{"S":"c"}}}}]}}`),
			`{"UnprocessedItems":{"tab":[{"DeleteRequest":{"Key":{"pk":{"S":"b"}}}}]}}`)
		equal(t, "the same token", refused(t, s, "TransactWriteItems", body), "TransactionInProgressException: The transaction with the given request token is already in progress.")
		equal(t, "get", getItem(t, s, "tab", "a"), `{"n":{"N":"1"},"pk":{"S":"a"}}`)
		equal(t, "another item", mustCall(t, s, "DeleteItem", `{"TableName":"tab","Key":{"pk":{"S":"c"}}}`), `{}`)

		equal(t, "first", first(), `{}`)
		equal(t, "get afterwards", getItem(t, s, "tab", "a"), `{"n":{"N":"2"},"pk":{"S":"a"}}`)
		equal(t, "put afterwards", mustCall(t, s, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`), `{}`)
	})
}

// A table that is deleted under an open transaction takes it with it, and the
// log can be read again.
func TestTableDeletedUnderTransaction(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Dir: dir, TransactionTime: time.Second})
		createTable(t, s, "tab", "")
		createTable(t, s, "other", "")
		first := begin(s, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"a"}}}},{"Put":{"TableName":"other","Item":{"pk":{"S":"a"}}}}]}`)
		time.Sleep(time.Second / 2)
		mustCall(t, s, "DeleteTable", `{"TableName":"tab"}`)
		equal(t, "transaction", errorText(t, []byte(first())), "ResourceNotFoundException: Requested resource not found")
		equal(t, "the other table", getItem(t, s, "other", "a"), "")
		put(t, s, "other", "a", "")
	})
	equal(t, "after the restart", getItem(t, open(t, Options{Dir: dir}), "other", "a"), `{"pk":{"S":"a"}}`)
}

// TestNoLostTransactions lets transactions fight over two items: those that
// were answered with success happened, exactly once.
func TestNoLostTransactions(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	createTable(t, s, "other", "")
	var mu sync.Mutex
	done, conflicts := 0, 0
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for range 100 {
				tables := []string{"tab", "other"}
				if g%2 == 0 {
					tables = []string{"other", "tab"}
				}
				var actions []string
				for _, name := range tables {
					actions = append(actions, fmt.Sprintf(`{"Update":{"TableName":%q,"Key":{"pk":{"S":"a"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}}`, name))
				}
				a := s.call(serviceDynamo+".TransactWriteItems", []byte(`{"TransactItems":[`+strings.Join(actions, ",")+`]}`))
				mu.Lock()
				if a.status == 200 {
					done++
				} else if strings.Contains(string(a.body), "TransactionConflict") {
					conflicts++
				} else {
					t.Errorf("%s", a.body)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	want := fmt.Sprintf(`{"n":{"N":"%d"},"pk":{"S":"a"}}`, done)
	equal(t, "tab", getItem(t, s, "tab", "a"), want)
	equal(t, "other", getItem(t, s, "other", "a"), want)
	if done == 0 || conflicts == 0 {
		t.Errorf("%d done, %d conflicts: want some of each", done, conflicts)
	}
	if n := len(s.tables["tab"].open) + len(s.tables["other"].open); n > 0 {
		t.Errorf("%d items still held", n)
	}
}

func TestTransactionsRefused(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	many := strings.Repeat(`{"Delete":{"TableName":"tab","Key":{"pk":{"S":"a"}}}},`, 101)
	large := strings.Repeat("x", 390000)
	var huge strings.Builder
	for i := range 11 {
		fmt.Fprintf(&huge, `,{"Put":{"TableName":"tab","Item":{"pk":{"S":"%d"},"v":{"S":%q}}}}`, i, large)
	}
	for _, c := range []struct{ op, body, want string }{
		{"TransactWriteItems", `{}`, "1 validation error detected: Value null at 'transactItems' failed to satisfy constraint: Member must not be null"},
		{"TransactWriteItems", `{"TransactItems":[]}`, "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"TransactWriteItems", `{"TransactItems":[` + many[:len(many)-1] + `]}`, "1 validation error detected: Value '[…]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"},
		{"TransactWriteItems", `{"TransactItems":[{}]}`, "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"},
		{"TransactWriteItems", `{"TransactItems":[{"Get":{"TableName":"tab","Key":{"pk":{"S":"a"}}}}]}`, "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"a"}}},"Delete":{"TableName":"tab","Key":{"pk":{"S":"b"}}}}]}`, "TransactItems can only contain one of Check, Put, Update or Delete"},
		{"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"tab","Key":{"pk":{"S":"a"}}}}]}`, "1 validation error detected: Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null"},
		{"TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"tab","Key":{"pk":{"S":"a"}}}}]}`, "1 validation error detected: Value null at 'transactItems.1.member.update.updateExpression' failed to satisfy constraint: Member must not be null"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"a"}},"ConditionExpression":"pk = :x"}}]}`, "Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :x"},
		{"TransactWriteItems", `{"TransactItems":[` + huge.String()[1:] + `]}`, "Transaction request exceeds the maximum size of 4 MB"},
		{"TransactWriteItems", `{"ClientRequestToken":"","TransactItems":[{"Delete":{"TableName":"tab","Key":{"pk":{"S":"a"}}}}]}`, "1 validation error detected: Value '' at 'clientRequestToken' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"TransactWriteItems", `{"ReturnConsumedCapacity":"SOME","ClientRequestToken":"` + strings.Repeat("x", 37) + `","TransactItems":[{"Delete":{"TableName":"tab","Key":{"pk":{"S":"a"}}}}]}`,
			"2 validation errors detected: Value '" + strings.Repeat("x", 37) + "' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36; Value 'SOME' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"tab","Key":{"pk":{"S":"a"}}}},{"Get":{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/tab","Key":{"pk":{"S":"a"}}}}]}`, "Transaction request cannot include multiple operations on one item"},
		{"TransactGetItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"a"}}}}]}`, "1 validation error detected: Value null at 'transactItems.1.member.get' failed to satisfy constraint: Member must not be null"},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"tab"}}]}`, "1 validation error detected: Value null at 'transactItems.1.member.get.key' failed to satisfy constraint: Member must not be null"},
	} {
		equal(t, c.op+" "+c.body[:min(len(c.body), 200)], refused(t, s, c.op, c.body), "ValidationException: "+c.want)
	}
}

func TestTransactGet(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	put(t, s, "tab", "a", `"v":{"N":"1"},"w":{"N":"2"}`)
	equal(t, "get", mustCall(t, s, "TransactGetItems", `{"ReturnConsumedCapacity":"TOTAL","TransactItems":[{"Get":{"TableName":"tab","Key":{"pk":{"S":"a"}},"ProjectionExpression":"#v","ExpressionAttributeNames":{"#v":"v"}}},{"Get":{"TableName":"tab","Key":{"pk":{"S":"none"}}}}]}`),
		`{"Responses":[{"Item":{"v":{"N":"1"}}},{}],"ConsumedCapacity":[{"TableName":"tab","CapacityUnits":4,"ReadCapacityUnits":4}]}`)
	if got := s.Stats().ReadUnits; got != 4 {
		t.Errorf("%v read units, want 4", got)
	}
}
