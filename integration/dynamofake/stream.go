package dynamofake

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// streamLife is how long stream records are kept ("Change data capture for
// DynamoDB Streams").
const streamLife = 24 * time.Hour

// stream is the stream of a table. It has one shard that never splits.
type stream struct {
	table string
	label string // when it was enabled; part of its ARN
	view  string
	// keys are the key schema of its table.
	keys []keySchemaElement

	mu sync.Mutex
	// records are those not yet trimmed, in order.
	records []streamRecord
	// next is the number of the next record; the first one is 1.
	next  uint64
	ended time.Time // when it was disabled; zero: it is not
}

// streamRecord is one change of an item.
type streamRecord struct {
	number        uint64
	at            time.Time
	keys          item
	before, after item // nil: none
	byTTL         bool
}

// newStream is the stream that a definition asks for.
func newStream(d *definition) *stream {
	return &stream{table: d.TableName, label: d.StreamLabel, view: d.StreamSpecification.StreamViewType, keys: d.KeySchema, next: 1}
}

func (s *stream) arn() string { return tableARN(s.table) + "/stream/" + s.label }

// shardID is the id of the only shard of every stream.
const shardID = "shardId-00000001700000000000-00000001"

// sequence is the sequence number of a record: decimal, of one length.
func sequence(number uint64) string { return fmt.Sprintf("1%024d", number) }

// parseSequence is the number of the record with that sequence number.
func parseSequence(text string) (uint64, bool) {
	if len(text) != 25 || text[0] != '1' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[1:], 10, 64)
	return n, err == nil
}

// append adds a change, unless nothing changed: the service writes no record
// for a put of what is there already. A nil stream takes nothing.
func (s *stream) append(c *change, now time.Time) {
	if s == nil || c.before == c.after || c.before != nil && c.after != nil && c.before.item.equal(c.after.item) {
		return
	}
	r := streamRecord{at: now, byTTL: c.byTTL}
	r.before, r.after = c.before.attrs(), c.after.attrs()
	r.keys = c.table.schema.of(r.after)
	if r.after == nil {
		r.keys = c.table.schema.of(r.before)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.number = s.next
	s.next++
	s.records = append(s.records, r)
	s.trim(now)
}

// trim drops records that are too old.
func (s *stream) trim(now time.Time) {
	n := 0
	for n < len(s.records) && now.Sub(s.records[n].at) >= streamLife {
		n++
	}
	s.records = s.records[n:]
}

// from are at most limit records beginning with a number, or with the next one
// that is there; trimmed if that one itself is gone.
func (s *stream) from(number uint64, limit int, now time.Time) (out []streamRecord, trimmed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim(now)
	first := s.first()
	if number < first {
		return nil, true
	}
	at := len(s.records)
	if number < s.next {
		at = int(number - first)
	}
	end, bytes := at, 0
	for end < len(s.records) && end-at < limit {
		bytes += s.records[end].bytes()
		if end > at && bytes > maxPage {
			break
		}
		end++
	}
	return s.records[at:end:end], false
}

// first is the number of the first record that is still there.
func (s *stream) first() uint64 { return s.next - uint64(len(s.records)) }

// bytes is the size of a record: its keys and images.
func (r *streamRecord) bytes() int { return r.keys.bytes() + r.before.bytes() + r.after.bytes() }

// event is what happened.
func (r *streamRecord) event() string {
	switch {
	case r.before == nil:
		return "INSERT"
	case r.after == nil:
		return "REMOVE"
	}
	return "MODIFY"
}
