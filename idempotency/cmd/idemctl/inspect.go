package main

import (
	"context"
	"encoding/json"
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
		return json.NewEncoder(e.out).Encode(map[string]string{"id": id})
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

// find reads the record that the command line names.
func (l *lookup) find(ctx context.Context, e environment, id string) (*dynamostore.Store, *idempotency.Record, error) {
	if err := l.check(); err != nil {
		return nil, nil, err
	}
	id, err := l.selected(e, id)
	if err != nil {
		return nil, nil, err
	}
	s, err := l.place.store(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callBudget)
	defer cancel()
	r, err := s.Get(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if r == nil {
		return nil, nil, fmt.Errorf("there is no record %s in the table %s", id, l.table)
	}
	if l.showBody {
		err = load(ctx, s, r)
	}
	return s, r, err
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
	_, r, err := l.find(ctx, e, id)
	if err != nil {
		return err
	}
	return l.write(e.out, viewOf(r, l.showBody))
}
