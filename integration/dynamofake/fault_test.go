package dynamofake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

func inject(tb testing.TB, s *Server, f Fault) {
	tb.Helper()
	if err := s.Inject(f); err != nil {
		tb.Fatal(err)
	}
}

// outcomes does a call several times and shows which failed, and how.
func outcomes(s *Server, op, body string, times int) string {
	var out []string
	for range times {
		a := s.call(serviceOf(op)+"."+op, []byte(body))
		switch {
		case a.dropped:
			out = append(out, "dropped")
		case a.status == 500:
			out = append(out, "500")
		case strings.Contains(string(a.body), "Throttling"):
			out = append(out, "throttled")
		case strings.Contains(string(a.body), "ProvisionedThroughputExceeded"):
			out = append(out, "exceeded")
		case a.status == 200:
			out = append(out, "ok")
		default:
			out = append(out, string(a.body))
		}
	}
	return strings.Join(out, " ")
}

func TestFaults(t *testing.T) {
	const put = `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`
	const transaction = `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"a"}}}}]}`
	const batch = `{"RequestItems":{"tab":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}}]}}`
	for _, c := range []struct {
		faults   []Fault
		op, body string
		want     string
	}{
		{[]Fault{{Op: "PutItem", Kind: FaultError}}, "PutItem", put, "500 ok ok ok"},
		{[]Fault{{Op: "PutItem", Kind: FaultError, Nth: 2, Times: 2}}, "PutItem", put, "ok 500 500 ok"},
		{[]Fault{{Op: "PutItem", Kind: FaultThrottle}}, "PutItem", put, "exceeded ok ok ok"},
		{[]Fault{{Op: "TransactWriteItems", Kind: FaultThrottle}}, "TransactWriteItems", transaction, "throttled ok ok ok"},
		{[]Fault{{Kind: FaultThrottle, Times: -1}}, "ListTables", `{}`, "throttled throttled throttled throttled"},
		{[]Fault{{Op: "PutItem", Kind: FaultDropAck, Nth: 3}}, "PutItem", put, "ok ok dropped ok"},
		{[]Fault{{Op: "GetItem", Kind: FaultError}}, "PutItem", put, "ok ok ok ok"},
		{[]Fault{{Op: "PutItem", Kind: FaultError}, {Op: "PutItem", Kind: FaultDropAck, Nth: 2}}, "PutItem", put, "500 dropped ok ok"},
		{[]Fault{{Kind: FaultError, Table: "tab", Times: -1}}, "PutItem", put, "500 500 500 500"},
		{[]Fault{{Kind: FaultError, Table: "tab", Times: -1}}, "TransactWriteItems", transaction, "500 500 500 500"},
		{[]Fault{{Kind: FaultError, Table: "tab", Times: -1}}, "BatchWriteItem", batch, "500 500 500 500"},
		{[]Fault{{Kind: FaultError, Table: "tab", Times: -1}}, "DescribeTable", `{"TableName":"tab"}`, "500 500 500 500"},
		{[]Fault{{Kind: FaultError, Table: "tab", Times: -1}}, "DescribeTable", `{"TableName":"other"}`, "ok ok ok ok"},
		{[]Fault{{Op: "PutItem", Kind: FaultError, Table: "other"}}, "PutItem", put, "ok ok ok ok"},
	} {
		s := open(t, Options{})
		createTable(t, s, "tab", "")
		createTable(t, s, "other", "")
		for _, f := range c.faults {
			inject(t, s, f)
		}
		equal(t, fmt.Sprintf("%+v %s", c.faults, c.op), outcomes(s, c.op, c.body, 4), c.want)
	}
}

// Errors come before the write, lost acknowledgements after it.
func TestWhatFaultsWrite(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	for kind, want := range map[FaultKind]string{FaultError: "", FaultThrottle: "", FaultDropAck: `{"pk":{"S":"drop-ack"}}`} {
		inject(t, s, Fault{Op: "PutItem", Kind: kind})
		s.call("DynamoDB_20120810.PutItem", fmt.Appendf(nil, `{"TableName":"tab","Item":{"pk":{"S":%q}}}`, kind))
		equal(t, string(kind), getItem(t, s, "tab", string(kind)), want)
	}
}

func TestFaultsRefused(t *testing.T) {
	s := open(t, Options{})
	for _, c := range []struct {
		f    Fault
		want string
	}{
		{Fault{Op: "Put", Kind: FaultError}, `dynamofake: fault: unknown call "Put"; use a name like PutItem, or leave it empty for all`},
		{Fault{Op: "PutItem"}, `dynamofake: fault: unknown kind ""; use error, throttle, drop-ack or delay`},
		{Fault{Op: "PutItem", Kind: FaultError, Nth: -1}, `dynamofake: fault: nth is -1; the first call is 1`},
		{Fault{Op: "PutItem", Kind: FaultDelay}, `dynamofake: fault: delay is 0s; give a positive one`},
	} {
		if err := s.Inject(c.f); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.f, err, c.want)
		}
	}
}

func TestStatsAndReset(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", "")
	s.Reset()
	put(t, s, "tab", "a", `"v":{"S":"`+strings.Repeat("x", 1500)+`"}`)                                                                                                    // 2 units
	refused(t, s, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}},"ConditionExpression":"attribute_not_exists(pk)"}`)                                              // 2: the item that is there
	refused(t, s, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"b"}},"ConditionExpression":"attribute_exists(pk)"}`)                                                  // 1: none is there
	refused(t, s, "TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"tab","Key":{"pk":{"S":"c"}},"ConditionExpression":"attribute_exists(pk)"}}]}`) // 2
	getItem(t, s, "tab", "a")                                                                                                                                             // 1 read unit, consistent
	inject(t, s, Fault{Op: "PutItem", Kind: FaultError, Nth: 2})
	put(t, s, "tab", "c", "") // 1
	got := s.Stats()
	if got.WriteUnits != 8 || got.ReadUnits != 1 || got.Calls["PutItem"] != 4 || got.Calls["GetItem"] != 1 || got.Calls["TransactWriteItems"] != 1 {
		t.Errorf("%+v", got)
	}
	s.Reset()
	put(t, s, "tab", "c", "") // the unused fault is gone
	if got := s.Stats(); got.Calls["PutItem"] != 1 || got.WriteUnits != 1 || got.ReadUnits != 0 {
		t.Errorf("after the reset: %+v", got)
	}
}

// The SDK's own retries are counted, and see a write whose acknowledgement was
// lost; all of it inside a synctest bubble.
func TestSDKInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, client := Start(t)
		createTable(t, s, "tab", "")
		item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}
		put := &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}

		inject(t, s, Fault{Op: "PutItem", Kind: FaultDropAck})
		_, err := client.PutItem(t.Context(), put)
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) || len(failed.Item) != 1 {
			t.Errorf("a lost acknowledgement: %v", err)
		}
		if n := s.Stats().Calls["PutItem"]; n != 2 {
			t.Errorf("%d calls, want 2", n)
		}

		inject(t, s, Fault{Op: "GetItem", Kind: FaultThrottle, Times: 2})
		start := time.Now()
		if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: item}); err != nil {
			t.Errorf("a throttled read: %v", err)
		}
		if n := s.Stats().Calls["GetItem"]; n != 3 || time.Since(start) == 0 {
			t.Errorf("%d calls in %v, want 3 and some time", n, time.Since(start))
		}

		inject(t, s, Fault{Op: "DeleteItem", Kind: FaultError, Times: -1})
		_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("tab"), Key: item})
		var ae smithy.APIError
		if !errors.As(err, &ae) || ae.ErrorCode() != "InternalServerError" {
			t.Errorf("an outage: %v", err)
		}
	})
}

// A caller that gives up does not stop the write.
func TestCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, client := Start(t)
		createTable(t, s, "tab", "")
		inject(t, s, Fault{Op: "PutItem", Kind: FaultDelay, Delay: 3 * time.Second})
		item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: item}); err == nil {
			t.Error("the put came back in time")
		}
		equal(t, "at once", getItem(t, s, "tab", "a"), "")
		time.Sleep(2*time.Second + time.Millisecond)
		equal(t, "after the delay", getItem(t, s, "tab", "a"), `{"pk":{"S":"a"}}`)
	})
}

// A fault of any call is one of the database. DynamoDB Streams is another service: its readers poll all the time, and
// must neither meet the fault nor use it up.
func TestFaultsOfAnyCallLeaveStreamsAlone(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", streamOn)
	it := iteratorFor(t, s, "tab", "TRIM_HORIZON", "")
	inject(t, s, Fault{Kind: FaultError})
	read := fmt.Sprintf(`{"ShardIterator":%q}`, it)
	equal(t, "reads of the stream", outcomes(s, "GetRecords", read, 3), "ok ok ok")
	equal(t, "puts", outcomes(s, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`, 2), "500 ok")
	inject(t, s, Fault{Op: "GetRecords", Kind: FaultError})
	equal(t, "reads with a fault of their own", outcomes(s, "GetRecords", read, 2), "500 ok")
}
