package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// pollInterval is how long a stream is left alone that had nothing new. Lambda asks four times a second; here somebody
// waits.
const pollInterval = 100 * time.Millisecond

// delivery runs one mapping: it reads the stream and invokes the function with batches of its records, one after the
// other. Lambda has a reader for each shard; here one reads them in turn, and the built-in database has one shard.
type delivery struct {
	mapping   mapping
	stream    *streamReader
	positions *positions
	function  func(*invocation) outcome
	arn       string // of the function
	queues    *queues
	log       *logger
	said      string // the last complaint, which is not repeated
}

// run goes on until ctx ends.
func (d *delivery) run(ctx context.Context) {
	for ctx.Err() == nil {
		busy, err := d.round(ctx)
		d.complain(ctx, err)
		if !busy || err != nil {
			sleep(ctx, pollInterval)
		}
	}
}

// complain logs an error once, however often it comes in a row.
func (d *delivery) complain(ctx context.Context, err error) {
	text := ""
	if err != nil && ctx.Err() == nil {
		text = err.Error()
	}
	if text != d.said && text != "" {
		d.log.printf("sandbox", "the stream of %s to %s: %s", d.mapping.table, d.mapping.function, text)
	}
	d.said = text
}

// round reads each shard once, and reports whether there was anything.
func (d *delivery) round(ctx context.Context) (busy bool, err error) {
	readable := d.stream.readable()
	if len(readable) == 0 {
		if err := d.stream.list(ctx); err != nil {
			return false, err
		}
		readable = d.stream.readable()
	}
	for _, sh := range readable {
		n, err := d.advance(ctx, sh)
		if err != nil {
			return busy, err
		}
		busy = busy || n > 0
		if !sh.finished {
			continue
		}
		if err := d.stream.list(ctx); err != nil { // its children, if it has any, are next
			return busy, err
		}
	}
	return busy, nil
}

// advance reads on in a shard and delivers what it finds.
func (d *delivery) advance(ctx context.Context, sh *shard) (int, error) {
	key := positionKey(d.mapping.function, d.stream.arn, sh.id)
	records, err := d.stream.read(ctx, sh, d.positions.get(key), d.mapping.batchSize)
	if errors.Is(err, errTrimmed) {
		d.positions.forget(key)
	}
	if err != nil || len(records) == 0 {
		return 0, err
	}
	wanted, err := d.mapping.filter(records)
	if err == nil {
		err = d.deliver(ctx, sh.id, batch{records: wanted})
	}
	if err != nil {
		sh.iterator, sh.finished = nil, false // what was not delivered is read again
		return 0, err
	}
	return len(records), d.positions.set(key, records[len(records)-1].number)
}

// deliver invokes the function until it is done with each record of a batch, or they are given up.
func (d *delivery) deliver(ctx context.Context, shardID string, b batch) error {
	for work := []batch{b}; len(work) > 0; {
		now, old := d.mapping.fresh(work[0], time.Now())
		if old != nil {
			if err := d.giveUp(shardID, conditionAge, *old); err != nil {
				return err
			}
		}
		if work = work[1:]; len(now.records) == 0 {
			continue
		}
		if err := sleep(ctx, retryPause(now.failed)); err != nil {
			return err
		}
		out, err := d.invoke(ctx, now.records)
		if err != nil {
			return err
		}
		again, lost := d.mapping.next(now, d.mapping.firstFailed(out, now.records))
		if lost != nil {
			if err := d.giveUp(shardID, conditionRetries, *lost); err != nil {
				return err
			}
		}
		work = append(again, work...)
	}
	return nil
}

// invoke runs the function once. It does not wait for a function that is at work when ctx ends: its process is about to
// be killed.
func (d *delivery) invoke(ctx context.Context, records []record) (outcome, error) {
	e := events.DynamoDBEvent{}
	for _, r := range records {
		e.Records = append(e.Records, r.event)
	}
	payload, err := json.Marshal(e)
	if err != nil {
		return outcome{}, err
	}
	inv := &invocation{id: newUUID(), payload: payload, done: make(chan outcome, 1)}
	result := make(chan outcome, 1)
	go func() { result <- d.function(inv) }()
	select {
	case out := <-result:
		return out, ctx.Err()
	case <-ctx.Done():
		return outcome{}, ctx.Err()
	}
}

// giveUp tells the on-failure queue, if there is one, of records that are not tried again.
func (d *delivery) giveUp(shardID, condition string, b batch) error {
	d.log.printf("sandbox", "%s: gave up %s (%s)", d.mapping.function, b, condition)
	if d.mapping.onFailure == "" {
		return nil
	}
	now := time.Now()
	_, err := d.queues.send(d.mapping.onFailure, failureNotice(d.arn, d.stream.arn, shardID, condition, b, now), now)
	return err
}

// sleep waits; the error is ctx's.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
