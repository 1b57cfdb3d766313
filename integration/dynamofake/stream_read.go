package dynamofake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// iteratorLife is how long a shard iterator can be used (API reference,
	// GetShardIterator).
	iteratorLife = 15 * time.Minute
	// maxRecords is the limit of one answer (API reference, GetRecords).
	maxRecords = 1000
)

// iterator is what a shard iterator says: where to go on, and when it was made.
type iterator struct {
	arn    string
	number uint64
	made   time.Time
}

// text is the iterator as clients hold it. It is not secret, only opaque.
func (i iterator) text() string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s|%d|%d", i.arn, i.number, i.made.UnixMilli()))
}

// parseIterator reads what text wrote.
func parseIterator(text string) (i iterator, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	parts := strings.Split(string(raw), "|")
	if err != nil || len(parts) != 3 {
		return i, false
	}
	number, err := strconv.ParseUint(parts[1], 10, 64)
	made, err2 := strconv.ParseInt(parts[2], 10, 64)
	return iterator{parts[0], number, time.UnixMilli(made)}, err == nil && err2 == nil
}

type recordsInput struct {
	ShardIterator string
	Limit         *int
}

// getRecords reads on from an iterator. At the end of an open stream it answers
// no records and an iterator that stays there.
func (s *Server) getRecords(in *recordsInput) (json.RawMessage, error) {
	now := s.now()
	it, limit, err := in.check(now)
	if err != nil {
		return nil, err
	}
	st, err := s.stream(it.arn)
	if err != nil {
		return nil, err
	}
	records, trimmed, err := s.readStream(st, it.number, limit, now)
	if err != nil {
		return nil, err
	}
	if trimmed {
		return nil, fail(codeTrimmed, "The operation attempted to read past the oldest stream record in a shard.")
	}
	it.number += uint64(len(records))
	it.made = now
	return st.answer(records, it), nil
}

// check reads the iterator, which must not be too old, and the limit.
func (in *recordsInput) check(now time.Time) (it iterator, limit int, err error) {
	limit = maxRecords
	if in.Limit != nil {
		limit = *in.Limit
	}
	var c constraints
	c.atLeast(in.Limit, "limit", 1)
	c.atMost(in.Limit, "limit", maxRecords)
	if err := c.err(); err != nil {
		return it, 0, err
	}
	it, ok := parseIterator(in.ShardIterator)
	switch {
	case !ok:
		return it, 0, invalid("Invalid ShardIterator")
	case now.Sub(it.made) > iteratorLife:
		return it, 0, fail(codeExpiredIterator, "Iterator expired. The iterator was created at time %s while right now it is %s which is further in the future than the tolerated delay of 15 minutes.",
			it.made.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return it, limit, nil
}

// readStream deletes what TTL makes due in the stream's table, reads, and waits
// until what it has read is durable: a reader that has seen a record must find
// it, and no other in its place, after a crash.
func (s *Server) readStream(st *stream, number uint64, limit int, now time.Time) (out []streamRecord, trimmed bool, err error) {
	look := func() *record {
		out, trimmed = st.from(number, limit, now)
		return nil
	}
	t, err := s.table(st.table)
	if err != nil { // the stream outlives its table
		look()
		return out, trimmed, nil
	}
	_, err = s.read(t, look)
	return out, trimmed, err
}

// answer writes the output of GetRecords.
func (s *stream) answer(records []streamRecord, next iterator) []byte {
	var w writer
	w.open('{')
	w.field("Records")
	w.open('[')
	for i := range records {
		w.streamRecord(s, &records[i])
	}
	w.close(']')
	s.mu.Lock()
	atEnd := !s.ended.IsZero() && next.number >= s.next
	s.mu.Unlock()
	if !atEnd {
		w.field("NextShardIterator")
		w.str(next.text())
	}
	w.close('}')
	return w.out
}

// streamRecord writes one record.
func (w *writer) streamRecord(s *stream, r *streamRecord) {
	w.open('{')
	w.member("eventID", fmt.Sprintf("%032x", hash64(s.arn()+sequence(r.number))))
	w.member("eventName", r.event())
	w.member("eventVersion", "1.1")
	w.member("eventSource", "aws:dynamodb")
	w.member("awsRegion", region)
	w.field("dynamodb")
	w.open('{')
	w.field("ApproximateCreationDateTime")
	w.int(int(r.at.Unix()))
	w.field("Keys")
	w.item(r.keys)
	if r.after != nil && (s.view == "NEW_IMAGE" || s.view == "NEW_AND_OLD_IMAGES") {
		w.field("NewImage")
		w.item(r.after)
	}
	if r.before != nil && (s.view == "OLD_IMAGE" || s.view == "NEW_AND_OLD_IMAGES") {
		w.field("OldImage")
		w.item(r.before)
	}
	w.member("SequenceNumber", sequence(r.number))
	w.field("SizeBytes")
	w.int(r.bytes())
	w.member("StreamViewType", s.view)
	w.close('}')
	if r.byTTL {
		w.field("userIdentity")
		w.open('{')
		w.member("PrincipalId", "dynamodb.amazonaws.com")
		w.member("Type", "Service")
		w.close('}')
	}
	w.close('}')
}

// member writes a member whose value is a string.
func (w *writer) member(name, value string) {
	w.field(name)
	w.str(value)
}
