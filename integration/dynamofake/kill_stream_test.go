package dynamofake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// send is one call to a server at a URL; false where it gave no good answer.
func send(url, op, body string, into any) bool {
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set("X-Amz-Target", serviceOf(op)+"."+op)
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer out.Body.Close()
	text, err := io.ReadAll(out.Body)
	return err == nil && out.StatusCode == http.StatusOK && (into == nil || json.Unmarshal(text, into) == nil)
}

// readAll reads a stream from its beginning for as long as the server answers
// and more says so, and returns the keys by sequence number.
func readAll(url, arn string, more func(read int) bool) map[string]string {
	seen := map[string]string{}
	var next struct{ ShardIterator string }
	send(url, "GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"TRIM_HORIZON"}`, arn, shardID), &next)
	for {
		var page recordsAnswer
		if !send(url, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, next.ShardIterator), &page) {
			return seen
		}
		for _, r := range page.Records {
			seen[r.Dynamodb.SequenceNumber] = string(r.Dynamodb.Keys)
		}
		if !more(len(page.Records)) {
			return seen
		}
		next.ShardIterator = page.NextShardIterator
	}
}

// TestKillWithAReader kills a server in the middle of writes while its stream
// is read: each record that the reader has seen is there afterwards, in its
// place. A reader that goes on behind it misses nothing.
func TestKillWithAReader(t *testing.T) {
	dir := t.TempDir()
	url, kill := startChild(t, dir)
	if !send(url, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],`+streamOn+`}`, nil) {
		t.Fatal("no table")
	}
	var d struct {
		Table struct{ LatestStreamArn string }
	}
	if !send(url, "DescribeTable", `{"TableName":"tab"}`, &d) {
		t.Fatal("no description")
	}
	for round := range 5 {
		var wg sync.WaitGroup
		var acked atomic.Int32
		for g := range 16 {
			wg.Go(func() {
				for i := 0; send(url, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"pk":{"S":"%d-%d-%d"}}}`, round, g, i), nil); i++ {
					if acked.Add(1) == 400 {
						kill()
					}
				}
			})
		}
		seen := readAll(url, d.Table.LatestStreamArn, func(int) bool { return true })
		wg.Wait()
		url, kill = startChild(t, dir)
		after := readAll(url, d.Table.LatestStreamArn, func(n int) bool { return n > 0 })
		for number, key := range seen {
			if after[number] != key {
				t.Errorf("round %d: %s was %s, and is %q", round, number, key, after[number])
			}
		}
	}
}
