package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

const (
	tries      = 3                      // of one entry in an invocation; Lambda brings back what is left
	firstPause = 100 * time.Millisecond // before the second try; doubled for each one after
	margin     = time.Second            // of the invocation's time, for the answer to Lambda; half of it where it is short
)

// ErrRefused is what [Relay.Publish] returns, or wraps, where the bus refused a request as such, so that the same request
// can never be taken. The relay then finds out which entry is to blame.
var ErrRefused = errors.New("the bus refused the request")

// Relay publishes what the stream of an outbox table brings. All fields are needed.
type Relay struct {
	// Publish sends entries to the bus in one request: at most 10, together below 256 KB, each of another key. It returns
	// one answer for each, in their order. An error means that nothing is known to be published.
	Publish func(ctx context.Context, batch []Entry) ([]Answer, error)
	// SetAside keeps an event that can never be published, for a person to look at.
	SetAside func(ctx context.Context, p Poison) error
	// Log hears of events that are set aside and of invocations that end early.
	Log *slog.Logger
}

// Handle is the Lambda handler for a DynamoDB stream; the event source mapping must have ReportBatchItemFailures.
//
// It publishes the events of the batch in their order. One that cannot be published now, for a bus that is away or
// throttles, is tried three times; then it ends the invocation, and Lambda comes again with it and all that follow. So
// none overtakes an earlier one of its key, and some are published twice. What can never be published is set aside, and
// the others go on.
//
// It stops a second before the context's deadline, or half-way where that is less than two seconds away. The error is
// always nil: what failed is in the response.
func (r *Relay) Handle(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-min(margin, time.Until(deadline)/2)))
		defer cancel()
	}
	open := r.sort(ctx, e.Records)
	for len(open) > 0 {
		done, err := r.advance(ctx, open)
		open = open[done:]
		if err != nil {
			return r.stopAt(ctx, open, err), nil
		}
	}
	return events.DynamoDBEventResponse{}, nil
}

// stopAt reports the first record that is not done with: Lambda goes on from there.
func (r *Relay) stopAt(ctx context.Context, open []arrival, err error) events.DynamoDBEventResponse {
	number := open[0].record.Change.SequenceNumber
	r.Log.ErrorContext(ctx, "events not published yet; Lambda brings them again", "sequence_number", number, "waiting", len(open), "error", err)
	return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{{ItemIdentifier: number}}}
}

// sort leaves the records that are events.
func (r *Relay) sort(ctx context.Context, records []events.DynamoDBEventRecord) []arrival {
	var out []arrival
	for _, record := range records {
		switch changeOf(record) {
		case inserted:
			out = append(out, arrivalOf(record))
		case altered:
			r.Log.WarnContext(ctx, "an event's item was changed or deleted, and not by TTL: nothing is published", "event_name", record.EventName,
				"sequence_number", record.Change.SequenceNumber)
		}
	}
	return out
}

// advance deals with the first arrivals and returns how many it is done with; all of them if there is no error.
func (r *Relay) advance(ctx context.Context, open []arrival) (done int, err error) {
	if open[0].wrong != nil {
		if err := r.setAside(ctx, open[0], open[0].wrong); err != nil {
			return 0, err
		}
		return 1, nil
	}
	batch := open[:batchSize(open)]
	left := batch
	for try := range tries {
		if err = pause(ctx, try); err != nil {
			break
		}
		if left, err = r.try(ctx, left); len(left) == 0 {
			return len(batch), nil
		}
	}
	return positionOf(left[0], batch), err
}

// try publishes a batch once and returns what is left of it, with the reason for the first.
func (r *Relay) try(ctx context.Context, batch []arrival) (left []arrival, err error) {
	entries := make([]Entry, len(batch))
	for i, a := range batch {
		entries[i] = a.entry
	}
	answers, err := r.Publish(ctx, entries)
	switch {
	case errors.Is(err, ErrRefused) && len(batch) == 1:
		answers = []Answer{{Code: refusedAlone, Message: err.Error()}}
	case errors.Is(err, ErrRefused):
		return r.tryEach(ctx, batch)
	case err == nil && len(answers) != len(batch):
		return batch, fmt.Errorf("%d answers for %d entries", len(answers), len(batch))
	case err != nil:
		return batch, err
	}
	return r.settle(ctx, batch, answers)
}

// tryEach publishes each entry in a request of its own.
func (r *Relay) tryEach(ctx context.Context, batch []arrival) (left []arrival, err error) {
	for i := range batch {
		l, e := r.try(ctx, batch[i:i+1])
		left = append(left, l...)
		err = cmp.Or(err, e)
	}
	return left, err
}

// settle acts on the answers.
func (r *Relay) settle(ctx context.Context, batch []arrival, answers []Answer) (left []arrival, err error) {
	for i, a := range batch {
		var e error
		switch answers[i].verdict() {
		case published:
			continue
		case tryAgain:
			e = answers[i].err()
		case never:
			e = r.setAside(ctx, a, answers[i].err())
		}
		if e != nil {
			left = append(left, a)
			err = cmp.Or(err, e)
		}
	}
	return left, err
}

func (r *Relay) setAside(ctx context.Context, a arrival, why error) error {
	if err := r.SetAside(ctx, a.poison(why)); err != nil {
		return fmt.Errorf("set aside an event that cannot be published (%w): %w", why, err)
	}
	r.Log.ErrorContext(ctx, "an event cannot be published and was set aside", "event_id", a.entry.ID,
		"sequence_number", a.record.Change.SequenceNumber, "error", why)
	return nil
}

// pause waits before a try that is not the first, with jitter. The error is the context's.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	most := firstPause << (try - 1)
	timer := time.NewTimer(most/2 + rand.N(most/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
