package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// batch is records that are invoked together.
type batch struct {
	records []record
	failed  int // how often the first of them has failed, in batches of this beginning
}

// allFailed is what firstFailed returns for a batch that failed as a whole.
const allFailed = -1

// firstFailed reads a function's response to a batch: the position of the first record that failed, len(numbers) if
// none did, or allFailed.
//
// Source: docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
func (m *mapping) firstFailed(out outcome, records []record) int {
	if out.failure != noFailure {
		return allFailed
	}
	var response struct {
		BatchItemFailures []struct {
			ItemIdentifier string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if !m.partial || json.Unmarshal(out.payload, &response) != nil {
		return len(records) // a response of another form is none
	}
	first := len(records)
	for _, f := range response.BatchItemFailures {
		at := slices.IndexFunc(records, func(r record) bool { return r.number == f.ItemIdentifier })
		if at < 0 {
			return allFailed
		}
		first = min(first, at)
	}
	return first
}

// next says what follows an invocation of b: the batches that take its place, and what is given up. A split counts for
// no try, as on Lambda.
func (m *mapping) next(b batch, first int) (again []batch, lost *batch) {
	switch {
	case first == len(b.records):
		return nil, nil
	case first == allFailed && m.bisect && len(b.records) > 1:
		half := (len(b.records) + 1) / 2
		return []batch{{b.records[:half], b.failed}, {b.records[half:], 0}}, nil
	case first > 0:
		b = batch{b.records[first:], 0}
	}
	b.failed++
	if m.retries >= 0 && b.failed > m.retries {
		return nil, &b
	}
	return []batch{b}, nil
}

// fresh takes the records off a batch that are too old to be tried.
func (m *mapping) fresh(b batch, now time.Time) (young batch, old *batch) {
	n := 0
	for m.maxAge > 0 && n < len(b.records) && now.Sub(b.records[n].at) > m.maxAge {
		n++
	}
	if n == 0 {
		return b, nil
	}
	return batch{b.records[n:], 0}, &batch{b.records[:n], b.failed}
}

// Why records were given up, as Lambda calls it.
const (
	conditionRetries = "RetryAttemptsExhausted"
	conditionAge     = "RecordAgeExceeded"
)

// retryPause is how long to wait before a batch is invoked again. Lambda waits longer, up to a minute.
func retryPause(failed int) time.Duration {
	if failed == 0 {
		return 0
	}
	return min(100*time.Millisecond<<min(failed-1, 10), 5*time.Second)
}

// failureNotice is what an on-failure queue gets: which records were given up, not what is in them.
//
// Source: docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
func failureNotice(functionARN, streamARN, shard, condition string, b batch, now time.Time) string {
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
	first, last := b.records[0], b.records[len(b.records)-1]
	text, _ := json.Marshal(map[string]any{ // strings and numbers: it cannot fail
		"requestContext": map[string]any{
			"requestId": newUUID(), "functionArn": functionARN, "condition": condition, "approximateInvokeCount": b.failed,
		},
		"version":   "1.0",
		"timestamp": stamp(now),
		"DDBStreamBatchInfo": map[string]any{
			"shardId": shard, "startSequenceNumber": first.number, "endSequenceNumber": last.number, "batchSize": len(b.records),
			"approximateArrivalOfFirstRecord": stamp(first.at), "approximateArrivalOfLastRecord": stamp(last.at), "streamArn": streamARN,
		},
	})
	return string(text)
}

func (b batch) String() string {
	return fmt.Sprintf("%d records from %s on", len(b.records), b.records[0].number)
}
