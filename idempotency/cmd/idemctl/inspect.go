package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// runID prints the id of a key's record.
func runID(_ context.Context, e environment, flags *flag.FlagSet, args []string) error {
	var n names
	var o output
	n.define(flags)
	o.define(flags)
	rest, err := parse(flags, args)
	if err != nil {
		return err
	}
	if rest != "" {
		return usageError{"the command id takes no argument: name the record by --scope and --key"}
	}
	if err := o.check(); err != nil {
		return err
	}
	id, err := n.id(e)
	if err != nil {
		return err
	}
	if o.format == "json" {
		return writeJSON(e.out, map[string]string{"id": id})
	}
	_, err = fmt.Fprintln(e.out, id)
	return err
}

// lookup is a command about one record of the table.
type lookup struct {
	names
	place
	output
	showBody bool
}

func (l *lookup) define(flags *flag.FlagSet) {
	l.names.define(flags)
	l.place.define(flags)
	l.output.define(flags)
	flags.BoolVar(&l.showBody, "show-body", false, "print the recorded headers and body, and the results of steps, too")
}

// find looks at the record that the command line names.
func (l *lookup) find(ctx context.Context, e environment, id string) (*dynamostore.Store, sighting, error) {
	if err := l.check(); err != nil {
		return nil, sighting{}, err
	}
	id, err := l.selected(e, id)
	if err != nil {
		return nil, sighting{}, err
	}
	s, err := l.place.store(ctx, e)
	if err != nil {
		return nil, sighting{}, err
	}
	seen, err := l.look(ctx, e, s, id)
	return s, seen, err
}

// look reads a record, and the time by the database's clock and by this machine's.
func (l *lookup) look(ctx context.Context, e environment, s *dynamostore.Store, id string) (sighting, error) {
	ctx, cancel := context.WithTimeout(ctx, callBudget)
	defer cancel()
	r, at, err := s.Look(ctx, id)
	if err != nil {
		return sighting{}, err
	}
	if r == nil {
		return sighting{}, fmt.Errorf("there is no record %s in the table %s", id, l.table)
	}
	seen := sighting{record: r, clocks: idempotency.Clocks{Local: e.now(), Store: at}}
	if l.showBody && r.Fault == nil {
		err = load(ctx, s, r)
	}
	if errors.Is(err, idempotency.ErrBodyLost) {
		seen.lost, err = err, nil
	}
	return seen, err
}

// load reads what the record keeps apart.
func load(ctx context.Context, s *dynamostore.Store, r *idempotency.Record) error {
	for i := range r.Steps {
		if err := s.LoadStep(ctx, r, i); err != nil {
			return err
		}
	}
	if r.Response == nil {
		return nil
	}
	return s.LoadBody(ctx, r)
}

// runInspect shows a record.
func runInspect(ctx context.Context, e environment, flags *flag.FlagSet, args []string) error {
	var l lookup
	l.define(flags)
	id, err := parse(flags, args)
	if err != nil {
		return err
	}
	_, seen, err := l.find(ctx, e, id)
	if err != nil {
		return err
	}
	tellClocks(e.err, seen.clocks)
	return l.write(e.out, viewOf(seen, l.showBody))
}
