package dynamofake

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

type streamedRecord struct {
	EventName    string
	EventID      string
	UserIdentity *struct{ PrincipalId, Type string }
	Dynamodb     struct {
		Keys, NewImage, OldImage json.RawMessage
		SequenceNumber           string
		StreamViewType           string
		SizeBytes                int
	}
}

type recordsAnswer struct {
	Records           []streamedRecord
	NextShardIterator string
}

// iteratorFor is a shard iterator of a table's latest stream.
func iteratorFor(tb testing.TB, s *Server, table, kind, more string) string {
	tb.Helper()
	arn := streamARN(tb, s, table)
	var out struct{ ShardIterator string }
	answer := mustCall(tb, s, "GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":%q%s}`, arn, shardID, kind, more))
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		tb.Fatal(err)
	}
	return out.ShardIterator
}

func streamARN(tb testing.TB, s *Server, table string) string {
	tb.Helper()
	var d struct {
		Table struct{ LatestStreamArn string }
	}
	if err := json.Unmarshal([]byte(mustCall(tb, s, "DescribeTable", fmt.Sprintf(`{"TableName":%q}`, table))), &d); err != nil {
		tb.Fatal(err)
	}
	return d.Table.LatestStreamArn
}

func records(tb testing.TB, s *Server, iterator, more string) recordsAnswer {
	tb.Helper()
	var out recordsAnswer
	if err := json.Unmarshal([]byte(mustCall(tb, s, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q%s}`, iterator, more))), &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func streamRecords(tb testing.TB, s *Server, table string) []streamedRecord {
	tb.Helper()
	return records(tb, s, iteratorFor(tb, s, table, "TRIM_HORIZON", ""), "").Records
}

func summary(all []streamedRecord) string {
	var out []string
	for _, r := range all {
		out = append(out, fmt.Sprintf("%s %s old=%s new=%s", r.EventName, r.Dynamodb.Keys, r.Dynamodb.OldImage, r.Dynamodb.NewImage))
	}
	return strings.Join(out, "\n")
}

const streamOn = `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}`

func TestStreamRecords(t *testing.T) {
	s := open(t, Options{})
	createTable(t, s, "tab", streamOn)
	put(t, s, "tab", "a", `"v":{"N":"1"}`)
	put(t, s, "tab", "a", `"v":{"N":"1.0"}`) // changes nothing
	mustCall(t, s, "UpdateItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"N":"2"}}}`)
	refused(t, s, "DeleteItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}},"ConditionExpression":"v = pk"}`)
	mustCall(t, s, "DeleteItem", `{"TableName":"tab","Key":{"pk":{"S":"none"}}}`)
	mustCall(t, s, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"b"}}}},{"Delete":{"TableName":"tab","Key":{"pk":{"S":"a"}}}},{"ConditionCheck":{"TableName":"tab","Key":{"pk":{"S":"c"}},"ConditionExpression":"attribute_not_exists(pk)"}}]}`)
	mustCall(t, s, "BatchWriteItem", `{"RequestItems":{"tab":[{"DeleteRequest":{"Key":{"pk":{"S":"b"}}}}]}}`)
	all := streamRecords(t, s, "tab")
	equal(t, "records", summary(all), `INSERT {"pk":{"S":"a"}} old= new={"pk":{"S":"a"},"v":{"N":"1"}}
MODIFY {"pk":{"S":"a"}} old={"pk":{"S":"a"},"v":{"N":"1"}} new={"pk":{"S":"a"},"v":{"N":"2"}}
INSERT {"pk":{"S":"b"}} old= new={"pk":{"S":"b"}}
REMOVE {"pk":{"S":"a"}} old={"pk":{"S":"a"},"v":{"N":"2"}} new=
REMOVE {"pk":{"S":"b"}} old={"pk":{"S":"b"}} new=`)
	ids := map[string]bool{}
	for i, r := range all {
		ids[r.EventID] = true
		if i > 0 && r.Dynamodb.SequenceNumber <= all[i-1].Dynamodb.SequenceNumber {
			t.Errorf("sequence numbers %s, %s", all[i-1].Dynamodb.SequenceNumber, r.Dynamodb.SequenceNumber)
		}
		if r.UserIdentity != nil {
			t.Errorf("record %d has an identity", i)
		}
	}
	if len(ids) != len(all) {
		t.Errorf("%d event ids for %d records", len(ids), len(all))
	}
}

func TestStreamViews(t *testing.T) {
	for view, want := range map[string]string{
		"KEYS_ONLY": `MODIFY {"pk":{"S":"a"}} old= new=`,
		"NEW_IMAGE": `MODIFY {"pk":{"S":"a"}} old= new={"pk":{"S":"a"},"v":{"N":"2"}}`,
		"OLD_IMAGE": `MODIFY {"pk":{"S":"a"}} old={"pk":{"S":"a"},"v":{"N":"1"}} new=`,
	} {
		s := open(t, Options{})
		createTable(t, s, "tab", `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"`+view+`"}`)
		put(t, s, "tab", "a", `"v":{"N":"1"}`)
		put(t, s, "tab", "a", `"v":{"N":"2"}`)
		equal(t, view, summary(streamRecords(t, s, "tab")[1:]), want)
	}
}

func TestIterators(t *testing.T) {
	c := newClock()
	s := open(t, Options{Now: c.Now})
	createTable(t, s, "tab", streamOn)
	for i := range 5 {
		put(t, s, "tab", fmt.Sprint(i), "")
	}
	third := `,"SequenceNumber":"` + streamRecords(t, s, "tab")[2].Dynamodb.SequenceNumber + `"`
	for kind, want := range map[string]int{"TRIM_HORIZON": 5, "LATEST": 0, "AT_SEQUENCE_NUMBER": 3, "AFTER_SEQUENCE_NUMBER": 2} {
		if got := len(records(t, s, iteratorFor(t, s, "tab", kind, third), "").Records); got != want {
			t.Errorf("%s: %d records, want %d", kind, got, want)
		}
	}

	it, seen := iteratorFor(t, s, "tab", "TRIM_HORIZON", ""), 0
	for range 4 {
		a := records(t, s, it, `,"Limit":2`)
		it, seen = a.NextShardIterator, seen+len(a.Records)
	}
	if seen != 5 {
		t.Errorf("%d records in pages of two, want 5", seen)
	}
	put(t, s, "tab", "later", "")
	if got := records(t, s, it, ""); len(got.Records) != 1 {
		t.Errorf("%d records after the end, want 1", len(got.Records))
	}

	c.Advance(iteratorLife + time.Second)
	if got := refused(t, s, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, it)); !strings.HasPrefix(got, "ExpiredIteratorException: Iterator expired.") {
		t.Error(got)
	}
	far := iterator{streamARN(t, s, "tab"), math.MaxUint64, c.Now()}
	if got := records(t, s, far.text(), ""); len(got.Records) != 0 {
		t.Errorf("%d records behind the end", len(got.Records))
	}
	equal(t, "nonsense", refused(t, s, "GetRecords", `{"ShardIterator":"nonsense"}`), "ValidationException: Invalid ShardIterator")
	arn := streamARN(t, s, "tab")
	equal(t, "no such shard", refused(t, s, "GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":"shardId-x","ShardIteratorType":"LATEST"}`, arn)), "ResourceNotFoundException: Requested resource not found: Shard: shardId-x in Stream: "+arn+" not found")
	equal(t, "no such stream", refused(t, s, "DescribeStream", `{"StreamArn":"arn:x"}`), "ResourceNotFoundException: Requested resource not found: Stream: arn:x not found")
	equal(t, "no such kind", refused(t, s, "GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"FIRST"}`, arn, shardID)), "ValidationException: 1 validation error detected: Value 'FIRST' at 'shardIteratorType' failed to satisfy constraint: Member must satisfy enum value set: [AFTER_SEQUENCE_NUMBER, AT_SEQUENCE_NUMBER, LATEST, TRIM_HORIZON]")
	equal(t, "no such number", refused(t, s, "GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"7"}`, arn, shardID)), "ValidationException: Invalid SequenceNumber: 7")
	equal(t, "no records", refused(t, s, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q,"Limit":0}`, far.text())), "ValidationException: 1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1")
	equal(t, "no number", refused(t, s, "GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"AT_SEQUENCE_NUMBER"}`, arn, shardID)), "ValidationException: The request must contain the parameter SequenceNumber with ShardIteratorType AT_SEQUENCE_NUMBER")
}

// Records are kept for a day.
func TestStreamIsTrimmed(t *testing.T) {
	c := newClock()
	s := open(t, Options{Now: c.Now})
	createTable(t, s, "tab", streamOn)
	put(t, s, "tab", "a", "")
	first := streamRecords(t, s, "tab")[0].Dynamodb.SequenceNumber
	c.Advance(streamLife - time.Minute)
	put(t, s, "tab", "b", "")
	old := iteratorFor(t, s, "tab", "TRIM_HORIZON", "")
	c.Advance(time.Minute)
	equal(t, "from the start", summary(streamRecords(t, s, "tab")), `INSERT {"pk":{"S":"b"}} old= new={"pk":{"S":"b"}}`)
	const trimmed = "TrimmedDataAccessException: The operation attempted to read past the oldest stream record in a shard."
	equal(t, "an iterator to what is gone", refused(t, s, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, old)), trimmed)
	equal(t, "a number that is gone", refused(t, s, "GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":%q}`, streamARN(t, s, "tab"), shardID, first)), trimmed)
}

// A stream that is switched off ends, can be read for a day, and is followed by
// another one.
func TestStreamEnds(t *testing.T) {
	c := newClock()
	s := open(t, Options{Now: c.Now})
	createTable(t, s, "tab", streamOn)
	put(t, s, "tab", "a", "")
	it, old := iteratorFor(t, s, "tab", "TRIM_HORIZON", ""), streamARN(t, s, "tab")
	mustCall(t, s, "UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":false}}`)
	put(t, s, "tab", "b", "")
	a := records(t, s, it, "")
	if len(a.Records) != 1 || a.NextShardIterator != "" {
		t.Errorf("%d records, next %q; want one and the end", len(a.Records), a.NextShardIterator)
	}
	if d := mustCall(t, s, "DescribeStream", fmt.Sprintf(`{"StreamArn":%q}`, old)); !strings.Contains(d, `"StreamStatus":"DISABLED"`) || !strings.Contains(d, "EndingSequenceNumber") {
		t.Error(d)
	}
	c.Advance(time.Second)
	mustCall(t, s, "UpdateTable", `{"TableName":"tab",`+streamOn+`}`)
	if arn := streamARN(t, s, "tab"); arn == old {
		t.Error("the new stream has the old one's ARN")
	}
	if l := mustCall(t, s, "ListStreams", `{"TableName":"tab"}`); strings.Count(l, "StreamArn") != 2 {
		t.Error(l)
	}
	c.Advance(streamLife)
	if l := mustCall(t, s, "ListStreams", `{}`); strings.Count(l, "StreamArn") != 1 {
		t.Error(l)
	}
}
