package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// numbered makes records with these sequence numbers.
func numbered(numbers ...string) []record {
	var out []record
	for _, n := range numbers {
		out = append(out, record{number: n})
	}
	return out
}

func TestFirstFailed(t *testing.T) {
	records := numbered("11", "12", "13")
	answered := func(text string) outcome { return outcome{payload: []byte(text)} }
	for name, c := range map[string]struct {
		out  outcome
		want int
	}{
		"crashed":         {outcome{failure: crashed}, allFailed},
		"function's own":  {outcome{failure: functionErr}, allFailed},
		"empty":           {answered(`{"batchItemFailures":[]}`), 3},
		"null":            {answered(`null`), 3},
		"null list":       {answered(`{"batchItemFailures":null}`), 3},
		"another form":    {answered(`"ok"`), 3},
		"one":             {answered(`{"batchItemFailures":[{"itemIdentifier":"12"}]}`), 1},
		"lowest of some":  {answered(`{"batchItemFailures":[{"itemIdentifier":"13"},{"itemIdentifier":"11"}]}`), 0},
		"unknown":         {answered(`{"batchItemFailures":[{"itemIdentifier":"99"}]}`), allFailed},
		"empty string":    {answered(`{"batchItemFailures":[{"itemIdentifier":""}]}`), allFailed},
		"null identifier": {answered(`{"batchItemFailures":[{"itemIdentifier":null}]}`), allFailed},
		"bad key":         {answered(`{"batchItemFailures":[{"id":"12"}]}`), allFailed},
	} {
		if got := (&mapping{partial: true}).firstFailed(c.out, records); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := (&mapping{}).firstFailed(answered(`{"batchItemFailures":[{"itemIdentifier":"12"}]}`), records); got != 3 {
		t.Errorf("without ReportBatchItemFailures: %d", got)
	}
}

func TestNextBatches(t *testing.T) {
	show := func(b batch) string {
		var numbers []string
		for _, r := range b.records {
			numbers = append(numbers, r.number)
		}
		return fmt.Sprintf("%s/%d", strings.Join(numbers, " "), b.failed)
	}
	for name, c := range map[string]struct {
		mapping mapping
		failed  int // of the batch before
		first   int
		again   string
		lost    string
	}{
		"success":                         {mapping{retries: 0}, 0, 3, "", ""},
		"failed":                          {mapping{retries: -1}, 4, allFailed, "1 2 3/5", ""},
		"failed in halves":                {mapping{retries: -1, bisect: true}, 0, allFailed, "1 2/0, 3/0", ""},
		"a split counts for no try":       {mapping{retries: 1, bisect: true}, 1, allFailed, "1 2/1, 3/0", ""},
		"last try":                        {mapping{retries: 2}, 1, allFailed, "1 2 3/2", ""},
		"one too many":                    {mapping{retries: 2}, 2, allFailed, "", "1 2 3/3"},
		"no try":                          {mapping{retries: 0}, 0, allFailed, "", "1 2 3/1"},
		"partial":                         {mapping{retries: 2, bisect: true}, 2, 1, "2 3/1", ""},
		"partial without any progress":    {mapping{retries: 2, bisect: true}, 1, 0, "1 2 3/2", ""},
		"partial, one too many":           {mapping{retries: 2}, 2, 0, "", "1 2 3/3"},
		"partial, no try for what is new": {mapping{retries: 0}, 0, 2, "", "3/1"},
	} {
		again, lost := c.mapping.next(batch{numbered("1", "2", "3"), c.failed}, c.first)
		var shown []string
		for _, b := range again {
			shown = append(shown, show(b))
		}
		gotLost := ""
		if lost != nil {
			gotLost = show(*lost)
		}
		if got := strings.Join(shown, ", "); got != c.again || gotLost != c.lost {
			t.Errorf("%s: again %q, lost %q; want %q, %q", name, got, gotLost, c.again, c.lost)
		}
	}
	one := &mapping{bisect: true, retries: -1}
	if again, _ := one.next(batch{numbered("1"), 0}, allFailed); len(again) != 1 || again[0].failed != 1 {
		t.Errorf("a batch of one is halved: %v", again)
	}
}

func TestFreshRecords(t *testing.T) {
	now := time.Unix(1000, 0)
	records := []record{{number: "1", at: now.Add(-61 * time.Second)}, {number: "2", at: now.Add(-60 * time.Second)}, {number: "3", at: now.Add(-90 * time.Second)}}
	young, old := (&mapping{maxAge: time.Minute}).fresh(batch{records, 4}, now)
	if len(young.records) != 2 || young.failed != 0 || old == nil || len(old.records) != 1 || old.failed != 4 {
		t.Errorf("%+v %+v", young, old)
	}
	if young, old := (&mapping{}).fresh(batch{records, 4}, now); len(young.records) != 3 || young.failed != 4 || old != nil {
		t.Errorf("without a limit: %+v %+v", young, old)
	}
}

func TestFailureNotice(t *testing.T) {
	at := time.Unix(1_795_997_335, 310_000_000)
	b := batch{[]record{{number: "11", at: at}, {number: "12", at: at.Add(time.Second)}}, 3}
	var got struct {
		RequestContext struct {
			RequestID, FunctionArn, Condition string
			ApproximateInvokeCount            int
		}
		Timestamp, Version string
		DDBStreamBatchInfo struct {
			ShardID, StartSequenceNumber, EndSequenceNumber, StreamArn      string
			ApproximateArrivalOfFirstRecord, ApproximateArrivalOfLastRecord string
			BatchSize                                                       int
		}
	}
	text := failureNotice("arn:f", "arn:s", "shard", conditionRetries, b, at.Add(time.Minute))
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	info := got.DDBStreamBatchInfo
	if got.RequestContext.FunctionArn != "arn:f" || got.RequestContext.Condition != "RetryAttemptsExhausted" || got.RequestContext.ApproximateInvokeCount != 3 ||
		got.Timestamp != "2026-11-30T00:09:55.310Z" || info.ShardID != "shard" || info.StartSequenceNumber != "11" || info.EndSequenceNumber != "12" ||
		info.StreamArn != "arn:s" || info.BatchSize != 2 || info.ApproximateArrivalOfLastRecord != "2026-11-30T00:08:56.310Z" {
		t.Errorf("%s", text)
	}
}
