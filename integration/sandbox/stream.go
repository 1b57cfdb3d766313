package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// pageSize is the service's limit for one read of a shard.
const pageSize = 1000

// shard is a part of a stream that is read in order.
type shard struct {
	id       string
	parent   string
	iterator *string // where to read on; nil: ask for one
	finished bool    // it is closed, and all of it was read
}

// streamReader reads a stream shard by shard.
type streamReader struct {
	client *dynamodbstreams.Client
	arn    string
	shards []*shard
}

// openStream finds the stream of a table and reads what shards it has. The error says that there is none.
func openStream(ctx context.Context, to services, table string) (*streamReader, error) {
	bounded, cancel := context.WithTimeout(ctx, databaseLimit(to.realCredentials))
	defer cancel()
	client, err := databaseClient(bounded, to.region, to.database, to.realCredentials)
	if err != nil {
		return nil, err
	}
	out, err := client.DescribeTable(bounded, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return nil, fmt.Errorf("its table %s: %w", table, err)
	}
	s := &streamReader{client: streamsClient(client.Options()), arn: aws.ToString(out.Table.LatestStreamArn)}
	if s.arn == "" {
		return nil, fmt.Errorf("its table %s has no stream on this database server", table)
	}
	if err := s.list(bounded); err != nil {
		return nil, fmt.Errorf("the database server does not read streams: %w", err)
	}
	return s, nil
}

// streamsClient is a client of DynamoDB Streams: a service of its own on AWS, at the same address on other servers.
func streamsClient(o dynamodb.Options) *dynamodbstreams.Client {
	streams := dynamodbstreams.Options{Region: o.Region, Credentials: o.Credentials}
	if !isAWS(aws.ToString(o.BaseEndpoint)) {
		streams.BaseEndpoint = o.BaseEndpoint
	}
	return dynamodbstreams.New(streams)
}

// list finds shards that are new. A shard is read when its parent is finished, so that changes of one item keep their
// order.
func (s *streamReader) list(ctx context.Context) error {
	var after *string
	for {
		out, err := s.client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &s.arn, ExclusiveStartShardId: after})
		if err != nil {
			return err
		}
		for _, sh := range out.StreamDescription.Shards {
			id := aws.ToString(sh.ShardId)
			if s.shard(id) == nil {
				s.shards = append(s.shards, &shard{id: id, parent: aws.ToString(sh.ParentShardId)})
			}
		}
		if after = out.StreamDescription.LastEvaluatedShardId; after == nil {
			return nil
		}
	}
}

func (s *streamReader) shard(id string) *shard {
	if i := slices.IndexFunc(s.shards, func(sh *shard) bool { return sh.id == id }); i >= 0 {
		return s.shards[i]
	}
	return nil
}

// readable lists the shards that can be read now.
func (s *streamReader) readable() []*shard {
	var out []*shard
	for _, sh := range s.shards {
		if parent := s.shard(sh.parent); !sh.finished && (parent == nil || parent.finished) {
			out = append(out, sh)
		}
	}
	return out
}

// read reads on in a shard: after the record with a sequence number, or from the beginning for "". It reports
// errTrimmed where that record is no longer there.
func (s *streamReader) read(ctx context.Context, sh *shard, after string, limit int) ([]record, error) {
	if sh.iterator == nil {
		if err := s.begin(ctx, sh, after); err != nil {
			return nil, err
		}
	}
	out, err := s.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: sh.iterator, Limit: aws.Int32(int32(min(limit, pageSize)))})
	if err != nil {
		sh.iterator = nil // it may have expired
		return nil, trimmed(err)
	}
	sh.iterator, sh.finished = out.NextShardIterator, out.NextShardIterator == nil
	records := make([]record, len(out.Records))
	for i, r := range out.Records {
		records[i] = convertRecord(r, s.arn)
	}
	return records, nil
}

func (s *streamReader) begin(ctx context.Context, sh *shard, after string) error {
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &s.arn, ShardId: &sh.id, ShardIteratorType: types.ShardIteratorTypeTrimHorizon}
	if after != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &after
	}
	out, err := s.client.GetShardIterator(ctx, in)
	if err != nil {
		return trimmed(err)
	}
	sh.iterator = out.ShardIterator
	return nil
}

// errTrimmed says that the stream no longer has what was to be read next.
var errTrimmed = errors.New("the stream has lost the records that were to be read next: they are older than 24 hours")

func trimmed(err error) error {
	var gone *types.TrimmedDataAccessException
	if errors.As(err, &gone) {
		return errTrimmed
	}
	return err
}
