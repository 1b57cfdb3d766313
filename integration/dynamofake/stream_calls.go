package dynamofake

import (
	"slices"
	"strings"
	"time"
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

// listStreams lists streams by ARN, of one table or of all.
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

// describeStream describes a stream. The ending sequence number tells readers
// that the shard is closed.
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

// getShardIterator is where a reader begins.
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
	var c constraints
	c.required(in.ShardIteratorType, "shardIteratorType", "AFTER_SEQUENCE_NUMBER", "AT_SEQUENCE_NUMBER", "LATEST", "TRIM_HORIZON")
	if err := c.err(); err != nil {
		return 0, err
	}
	switch in.ShardIteratorType {
	case "TRIM_HORIZON":
		return first, nil
	case "LATEST":
		return next, nil
	}
	if in.SequenceNumber == nil {
		return 0, invalid("The request must contain the parameter SequenceNumber with ShardIteratorType %s", in.ShardIteratorType)
	}
	number, ok := parseSequence(*in.SequenceNumber)
	if !ok || number >= next {
		return 0, invalid("Invalid SequenceNumber: %s", *in.SequenceNumber)
	}
	if in.ShardIteratorType == "AFTER_SEQUENCE_NUMBER" {
		number++
	}
	if number < first {
		return 0, fail(codeTrimmed, "The operation attempted to read past the oldest stream record in a shard.")
	}
	return number, nil
}
