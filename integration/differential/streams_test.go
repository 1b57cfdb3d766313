package differential

import (
	"context"
	"time"
)

// tail reads what the streams of all tables record from a point in time on.
type tail struct {
	endpoint *endpoint
	// iterators has one for each shard, with its table.
	iterators map[string]string
	// records are what was recorded of each item, in order: only the records of one item have an order.
	records object
	count   int
}

// streamTime is how long records may take to show up in the streams of a service.
const streamTime = 10 * time.Second

// newTail begins to read behind the latest records; nil if the peer has no streams.
func (d *duel) newTail(e *endpoint) (*tail, error) {
	if !d.peer.streams {
		return nil, nil
	}
	t := &tail{endpoint: e, iterators: map[string]string{}, records: object{}}
	for i := range tables {
		if err := t.follow(d.t.Context(), tables[i].name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// follow begins to read the stream of a table.
func (t *tail) follow(ctx context.Context, table string) error {
	described, err := t.endpoint.must(ctx, "DescribeTable", object{"TableName": table})
	if err != nil {
		return err
	}
	arn := described.body["Table"].(object)["LatestStreamArn"]
	stream, err := t.endpoint.must(ctx, "DescribeStream", object{"StreamArn": arn})
	if err != nil {
		return err
	}
	shards, _ := stream.body["StreamDescription"].(object)["Shards"].(list)
	for _, shard := range shards {
		got, err := t.endpoint.must(ctx, "GetShardIterator", object{
			"StreamArn": arn, "ShardId": shard.(object)["ShardId"], "ShardIteratorType": "LATEST",
		})
		if err != nil {
			return err
		}
		t.iterators[got.body["ShardIterator"].(string)] = table
	}
	return nil
}

// read reads until nothing more comes and at least want records have come, or until it has waited long enough.
func (t *tail) read(ctx context.Context, want int, patience time.Duration) error {
	for began := time.Now(); ; {
		before := t.count
		for iterator, table := range t.iterators {
			if err := t.page(ctx, iterator, table); err != nil {
				return err
			}
		}
		switch {
		case t.count > before:
		case t.count >= want || time.Since(began) >= patience:
			return nil
		default:
			time.Sleep(patience / 20)
		}
	}
}

// page reads what one iterator has, and replaces it by the next one.
func (t *tail) page(ctx context.Context, iterator, table string) error {
	got, err := t.endpoint.must(ctx, "GetRecords", object{"ShardIterator": iterator})
	if err != nil {
		return err
	}
	delete(t.iterators, iterator)
	if next, ok := got.body["NextShardIterator"].(string); ok {
		t.iterators[next] = table
	}
	records, _ := got.body["Records"].(list)
	for _, r := range records {
		record, _ := r.(object)
		change, _ := record["dynamodb"].(object)
		item := table + " " + text(change["Keys"])
		earlier, _ := t.records[item].(list)
		t.records[item] = append(earlier, object{
			"eventName": record["eventName"], "OldImage": change["OldImage"], "NewImage": change["NewImage"],
			"StreamViewType": change["StreamViewType"],
		})
		t.count++
	}
	return nil
}
