package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// stuck is what a look at the table found.
type stuck struct {
	Records   []view  `json:"records"` // the oldest claim first
	Running   int     `json:"running"` // processing records whose lease is not over
	Newer     int     `json:"newer"`   // finished records of a newer schema version, which newer code answers with
	Scanned   int     `json:"scanned_items"`
	ReadUnits float64 `json:"read_units"`

	clocks idempotency.Clocks // when the last of these was read
}

// runWatch lists the orphans of a table, once or again and again.
func runWatch(ctx context.Context, e environment, flags *flag.FlagSet, args []string) error {
	var p place
	var o output
	p.define(flags)
	o.define(flags)
	older := flags.Duration("older-than", 0, "only orphans, and released operations with steps, that were claimed longer ago than this;\nrecords that cannot be read are listed always")
	every := flags.Duration("every", 0, "look again after this time, until interrupted; every look reads the whole table")
	id, err := parse(flags, args)
	switch {
	case err != nil:
		return err
	case id != "":
		return usageError{"watch takes no argument; for one record, use inspect"}
	case *every < 0 || *older < 0:
		return usageError{"--every and --older-than must not be negative"}
	}
	if err := o.check(); err != nil {
		return err
	}
	client, err := p.connect(ctx, e)
	if err != nil {
		return err
	}
	once := func() error {
		found, err := look(ctx, e, bounded{client}, p.table, *older)
		if err != nil {
			return err
		}
		tellClocks(e.err, found.clocks)
		return o.writeStuck(e.out, found)
	}
	if *every == 0 {
		return once()
	}
	again(ctx, e, *every, once)
	return nil
}

// again looks now and after each pause until ctx ends. A look that fails is told, and does not end the watch.
func again(ctx context.Context, e environment, pause time.Duration, look func() error) {
	for {
		if err := look(); err != nil && ctx.Err() == nil {
			fmt.Fprintf(e.err, "idemctl: this look failed, the next is in %v: %s\n", pause, explain(err))
		}
		if !wait(ctx, pause) {
			return
		}
	}
}

// bounded is a client that gives up a page, the SDK's retries included, after callBudget.
type bounded struct{ client dynamostore.Scanner }

// Scan reads a page.
func (b bounded) Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, callBudget)
	defer cancel()
	return b.client.Scan(ctx, in, options...)
}

// wait reports whether the time has passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// look scans the table once.
func look(ctx context.Context, e environment, client dynamostore.Scanner, table string, older time.Duration) (stuck, error) {
	found := stuck{Records: []view{}}
	total, err := dynamostore.Unfinished(ctx, client, table, func(r *idempotency.Record, at time.Time) {
		found.clocks = idempotency.Clocks{Local: e.now(), Store: at}
		found.add(sighting{record: r, clocks: found.clocks}, older)
	})
	slices.SortFunc(found.Records, func(a, b view) int {
		return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.ID, b.ID))
	})
	found.Scanned, found.ReadUnits = total.Items, total.ReadUnits
	return found, err
}

// add counts a record, or lists it where retries of its key get no further by themselves. Orphans and released records
// with steps are listed from an age on; an age that is not known, since the claiming machine's clock was ahead, is old enough.
func (s *stuck) add(seen sighting, older time.Duration) {
	switch v := viewOf(seen, false); stateToNewer(seen) {
	case stateLive:
		s.Running++
	case stateReleased, stateCompleted:
		s.Newer++
	case stateUnreadable:
		s.Records = append(s.Records, v)
	default:
		if age := v.AgeSeconds; age == nil || *age < 0 || time.Duration(*age)*time.Second >= older {
			s.Records = append(s.Records, v)
		}
	}
}

// stateToNewer is a record's state; where a newer schema version is all that keeps it from being read, the one that its status
// and lease say, so that what newer code works on is not reported.
func stateToNewer(seen sighting) string {
	r := *seen.record
	if isNewer(&r) {
		r.Version = idempotency.SchemaVersion
	}
	return stateOf(&r, seen.clocks)
}
