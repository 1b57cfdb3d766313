package dynamofake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// iteratorLife is how long a shard iterator can be used, as documented.
	iteratorLife = 15 * time.Minute
	// maxRecords is the documented limit of GetRecords.
	maxRecords = 1000
)

type listStreamsInput struct {
	TableName               *string
	Limit                   *int
	ExclusiveStartStreamArn *string
}

type streamSummary struct {
	StreamArn   string
	TableName   string
	StreamLabel string
}

type listStreamsOutput struct {
	Streams                []streamSummary
	LastEvaluatedStreamArn string `json:",omitempty"`
}

func (s *Server) listStreams(in *listStreamsInput) (*listStreamsOutput, error) {
	limit, out := 100, &listStreamsOutput{Streams: []streamSummary{}}
	if in.Limit != nil {
		limit = *in.Limit
	}
	for _, st := range s.allStreams() {
		switch {
		case in.TableName != nil && *bareName(in.TableName) != st.table:
		case in.ExclusiveStartStreamArn != nil && st.arn() <= *in.ExclusiveStartStreamArn:
		case len(out.Streams) == limit:
			out.LastEvaluatedStreamArn = out.Streams[limit-1].StreamArn
			return out, nil
		default:
			out.Streams = append(out.Streams, streamSummary{st.arn(), st.table, st.label})
		}
	}
	return out, nil
}

// allStreams are the streams by ARN: those of tables, and those that ended not
// too long ago.
func (s *Server) allStreams() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetStreams()
	out := make([]*stream, 0, len(s.streams))
	for _, st := range s.streams {
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b *stream) int { return strings.Compare(a.arn(), b.arn()) })
	return out
}

// forgetStreams drops the streams whose last record is gone.
func (s *Server) forgetStreams() {
	now := s.now()
	for arn, st := range s.streams {
		st.mu.Lock()
		over := !st.ended.IsZero() && now.Sub(st.ended) >= streamLife
		st.mu.Unlock()
		if over {
			delete(s.streams, arn)
		}
	}
}

// stream is the stream with that ARN.
func (s *Server) stream(arn string) (*stream, error) {
	for _, st := range s.allStreams() {
		if st.arn() == arn {
			return st, nil
		}
	}
	return nil, fail(codeNotFound, "Requested resource not found: Stream: %s not found", arn)
}

type describeStreamInput struct {
	StreamArn             string
	ExclusiveStartShardId *string
}

type sequenceRange struct {
	StartingSequenceNumber string
	EndingSequenceNumber   string `json:",omitempty"`
}

type shard struct {
	ShardId             string
	SequenceNumberRange sequenceRange
}

type streamDescription struct {
	StreamArn               string
	StreamLabel             string
	StreamStatus            string
	StreamViewType          string
	TableName               string
	KeySchema               []keySchemaElement
	Shards                  []shard
	CreationRequestDateTime float64
}

type describeStreamOutput struct {
	StreamDescription streamDescription
}

func (s *Server) describeStream(in *describeStreamInput) (*describeStreamOutput, error) {
	st, err := s.stream(in.StreamArn)
	if err != nil {
		return nil, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	created, _ := time.Parse(labelFormat, st.label)
	d := streamDescription{
		StreamArn: st.arn(), StreamLabel: st.label, StreamStatus: "ENABLED", StreamViewType: st.view,
		TableName: st.table, KeySchema: st.keys, Shards: []shard{}, CreationRequestDateTime: epoch(created),
	}
	one := shard{shardID, sequenceRange{StartingSequenceNumber: sequence(1)}}
	if !st.ended.IsZero() {
		d.StreamStatus = "DISABLED"
		one.SequenceNumberRange.EndingSequenceNumber = sequence(max(st.next-1, 1))
	}
	if in.ExclusiveStartShardId == nil || *in.ExclusiveStartShardId < shardID {
		d.Shards = append(d.Shards, one)
	}
	return &describeStreamOutput{d}, nil
}

type iteratorInput struct {
	StreamArn         string
	ShardId           string
	ShardIteratorType string
	SequenceNumber    *string
}

type iteratorOutput struct {
	ShardIterator string
}

func (s *Server) getShardIterator(in *iteratorInput) (*iteratorOutput, error) {
	st, err := s.stream(in.StreamArn)
	if err != nil {
		return nil, err
	}
	if in.ShardId != shardID {
		return nil, fail(codeNotFound, "Requested resource not found: Shard: %s in Stream: %s not found", in.ShardId, in.StreamArn)
	}
	st.mu.Lock()
	st.trim(s.now())
	first, next := st.first(), st.next
	st.mu.Unlock()
	number, err := in.start(first, next)
	if err != nil {
		return nil, err
	}
	return &iteratorOutput{iterator{in.StreamArn, number, s.now()}.text()}, nil
}

// start is the number of the record that an iterator begins with.
func (in *iteratorInput) start(first, next uint64) (uint64, error) {
	switch in.ShardIteratorType {
	case "TRIM_HORIZON":
		return first, nil
	case "LATEST":
		return next, nil
	case "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER":
	default:
		var c constraints
		c.enum(in.ShardIteratorType+" ", "shardIteratorType", "AFTER_SEQUENCE_NUMBER", "AT_SEQUENCE_NUMBER", "LATEST", "TRIM_HORIZON")
		return 0, c.err()
	}
	if in.SequenceNumber == nil {
		return 0, invalid("The request must contain the parameter SequenceNumber with ShardIteratorType %s", in.ShardIteratorType)
	}
	number, ok := parseSequence(*in.SequenceNumber)
	switch {
	case !ok || number >= next:
		return 0, invalid("Invalid SequenceNumber: %s", *in.SequenceNumber)
	case number < first:
		return 0, fail(codeTrimmed, "The operation attempted to read past the oldest stream record in a shard.")
	case in.ShardIteratorType == "AFTER_SEQUENCE_NUMBER":
		number++
	}
	return number, nil
}

// iterator is what a shard iterator says: where to go on, and when it was made.
type iterator struct {
	arn    string
	number uint64
	made   time.Time
}

func (i iterator) text() string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s|%d|%d", i.arn, i.number, i.made.UnixMilli()))
}

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

func (s *Server) getRecords(in *recordsInput) (json.RawMessage, error) {
	it, ok := parseIterator(in.ShardIterator)
	if !ok {
		return nil, invalid("Invalid ShardIterator")
	}
	now, limit := s.now(), maxRecords
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > maxRecords {
		return nil, invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value between 1 and %d", limit, maxRecords)
	}
	if now.Sub(it.made) > iteratorLife {
		return nil, fail(codeExpiredIterator, "Iterator expired. The iterator was created at time %s while right now it is %s which is further in the future than the tolerated delay of 15 minutes.", it.made.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	st, err := s.stream(it.arn)
	if err != nil {
		return nil, err
	}
	if err := s.settleStream(st); err != nil {
		return nil, err
	}
	records, trimmed := st.from(it.number, limit, now)
	if trimmed {
		return nil, fail(codeTrimmed, "The operation attempted to read past the oldest stream record in a shard.")
	}
	it.number += uint64(len(records))
	it.made = now
	return st.answer(records, it), nil
}

// settleStream deletes what TTL makes due in the stream's table, and waits
// until what the stream shows is durable.
func (s *Server) settleStream(st *stream) error {
	t, err := s.table(st.table)
	if err != nil {
		return nil // the stream outlives its table
	}
	_, err = s.read(t, func() *record { return nil })
	return err
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
