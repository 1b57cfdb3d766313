package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// stuck is what a look at the table found.
type stuck struct {
	Records   []view  `json:"records"` // the oldest claim first
	Running   int     `json:"running"` // processing records whose lease is not over
	Scanned   int     `json:"scanned_items"`
	ReadUnits float64 `json:"read_units"`
}

// runWatch lists the orphans of a table, once or again and again.
func runWatch(ctx context.Context, e environment, flags *flag.FlagSet, args []string) error {
	var p place
	var o output
	p.define(flags)
	o.define(flags)
	older := flags.Duration("older-than", 0, "only records that were claimed longer ago than this")
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
	for {
		found, err := look(ctx, client, p.table, *older)
		if err == nil {
			err = o.writeStuck(e.out, found)
		}
		if err != nil || *every == 0 || !wait(ctx, *every) {
			return err
		}
	}
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
func look(ctx context.Context, client dynamostore.Scanner, table string, older time.Duration) (stuck, error) {
	now := time.Now()
	found := stuck{Records: []view{}}
	total, err := dynamostore.Unfinished(ctx, client, table, func(r *idempotency.Record) {
		switch v := viewAt(r, now, false); {
		case v.State == stateLive:
			found.Running++
		case v.Epoch == 0 || now.Sub(time.UnixMilli(v.Epoch)) >= older: // an unreadable one is always of interest
			found.Records = append(found.Records, v)
		}
	})
	slices.SortFunc(found.Records, func(a, b view) int {
		return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.ID, b.ID))
	})
	found.Scanned, found.ReadUnits = total.Items, total.ReadUnits
	return found, err
}

func (o *output) writeStuck(out io.Writer, found stuck) error {
	if o.format == "json" {
		return json.NewEncoder(out).Encode(found)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, v := range found.Records {
		if i == 0 {
			fmt.Fprintln(table, "last claim\tstate\trecord\tendpoint\tlease until")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", ago(v.AgeSeconds), v.State, v.ID, v.Endpoint, instant(v.LeaseUntil))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%d stuck, %d running; the whole table was scanned: %d items, %.1f read units\n",
		len(found.Records), found.Running, found.Scanned, found.ReadUnits)
	return err
}
