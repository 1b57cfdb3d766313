package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// write prints a record in the format that was asked for.
func (o *output) write(out io.Writer, v view) error {
	if o.format == "json" {
		return writeJSON(out, v)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	v.rows(func(name, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", name, printable(value))
		}
	})
	return table.Flush()
}

// rows tells a record line by line; a line without a value is left out.
func (v view) rows(row func(name, value string)) {
	row("record", v.ID)
	row("state", v.State)
	row("problem", v.Problem)
	row("what to do", v.Remedy)
	row("schema version", count(int64(v.Version)))
	row("endpoint", v.Endpoint)
	row("request", v.RequestID)
	row("principal (hash)", v.Principal)
	row("epoch", count(v.Epoch))
	row("created", v.CreatedAt)
	row("last claim", ago(v.AgeSeconds))
	row("lease until", leaseText(v))
	row("completed", v.CompletedAt)
	row("expires", v.ExpiresAt)
	for _, s := range v.Steps {
		row("step", s.String())
	}
	row("undo failures", count(int64(v.UndoFailures)))
	if v.Response != nil {
		v.Response.rows(row)
	}
}

// String is a step in a row of its own.
func (s stepView) String() string {
	switch {
	case s.Result != nil:
		return s.Name + " " + string(s.Result)
	case s.Apart:
		return s.Name + " (its result has an item of its own)"
	}
	return s.Name
}

func (r *responseView) rows(row func(name, value string)) {
	row("response status", strconv.Itoa(r.Status))
	row("response body items", count(int64(r.BodyItems)))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			row("response header", name+": "+value)
		}
	}
	row("response body", r.Body)
	if r.BodyBase64 != nil {
		row("response body", fmt.Sprintf("%d bytes, no text: use --output json", len(r.BodyBase64)))
	}
}

// writeStuck prints what a look at the table found.
func (o *output) writeStuck(out io.Writer, found stuck) error {
	if o.format == "json" {
		return writeJSON(out, found)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	problems := slices.ContainsFunc(found.Records, func(v view) bool { return v.Problem != "" })
	row := func(problem string, cells ...string) {
		if problems {
			cells = append(cells, problem)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	for i, v := range found.Records {
		if i == 0 {
			row("problem", "last claim", "state", "record", "endpoint", "lease until")
		}
		row(printable(v.Problem), ago(v.AgeSeconds), v.State, printable(v.ID), printable(v.Endpoint), leaseText(v))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	newer := ""
	if found.Newer > 0 {
		newer = fmt.Sprintf("%d finished in a newer schema version, ", found.Newer)
	}
	_, err := fmt.Fprintf(out, "%d stuck, %s%d running; the whole table was scanned: %d items, %.1f read units\n",
		len(found.Records), newer, found.Running, found.Scanned, found.ReadUnits)
	return err
}
