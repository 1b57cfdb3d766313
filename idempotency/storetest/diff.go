package storetest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"firstwriter/idempotency"
)

// Diff says in which fields two records differ, by what a store must keep; "" if in none. A body or a step's result that
// is kept apart from one of the records, and not loaded, is not compared.
func Diff(want, got *idempotency.Record) string {
	switch {
	case want == nil && got == nil:
		return ""
	case want == nil || got == nil:
		return fmt.Sprintf("%s; want %s", describe(got), describe(want))
	}
	var d differences
	if want.Version != got.Version {
		d.add("Version", want.Version, got.Version)
	}
	if !slices.Contains(idempotency.ReadableVersions(), want.Version) {
		return d.String() // nothing else of it means anything to this code
	}
	d.texts(want, got)
	d.instants(want, got)
	if want.Epoch != got.Epoch {
		d.add("Epoch", want.Epoch, got.Epoch)
	}
	if !bytes.Equal(want.Fingerprint, got.Fingerprint) {
		d.add("Fingerprint", want.Fingerprint, got.Fingerprint)
	}
	if got.Fault != nil {
		d.add("Fault", nil, got.Fault)
	}
	d.steps(want, got)
	d.response(want, got)
	return d.String()
}

type differences []string

func (d *differences) add(field string, want, got any) {
	*d = append(*d, fmt.Sprintf("%s is %v, want %v", field, got, want))
}

// String lists the differences.
func (d differences) String() string { return strings.Join(d, "; ") }

func (d *differences) texts(want, got *idempotency.Record) {
	for _, f := range []struct{ name, want, got string }{
		{"ID", want.ID, got.ID}, {"Status", string(want.Status), string(got.Status)}, {"Owner", want.Owner, got.Owner},
		{"Principal", want.Principal, got.Principal}, {"Endpoint", want.Endpoint, got.Endpoint}, {"RequestID", want.RequestID, got.RequestID},
	} {
		if f.want != f.got {
			d.add(f.name, f.want, f.got)
		}
	}
}

func (d *differences) instants(want, got *idempotency.Record) {
	for _, f := range []struct {
		name      string
		want, got time.Time
	}{
		{"LeaseUntil", want.LeaseUntil, got.LeaseUntil}, {"ExpiresAt", want.ExpiresAt, got.ExpiresAt},
		{"CreatedAt", want.CreatedAt, got.CreatedAt}, {"CompletedAt", want.CompletedAt, got.CompletedAt},
	} {
		if !f.want.Equal(f.got) {
			d.add(f.name, f.want, f.got)
		}
	}
}

// steps compares the recorded steps; a result that is not loaded is not compared.
func (d *differences) steps(want, got *idempotency.Record) {
	if want.UndoFailures != got.UndoFailures {
		d.add("UndoFailures", want.UndoFailures, got.UndoFailures)
	}
	if len(want.Steps) != len(got.Steps) {
		d.add("Steps", names(want.Steps), names(got.Steps))
		return
	}
	for i, a := range want.Steps {
		b := got.Steps[i]
		apart := a.Result == nil && a.Apart.Chunks > 0 || b.Result == nil && b.Apart.Chunks > 0
		switch {
		case a.Name != b.Name:
			d.add(fmt.Sprintf("Steps[%d].Name", i), a.Name, b.Name)
		case !apart && !bytes.Equal(a.Result, b.Result):
			d.add(fmt.Sprintf("Steps[%d].Result", i), fmt.Sprintf("%.60s", a.Result), fmt.Sprintf("%.60s", b.Result))
		}
	}
}

func names(steps []idempotency.RecordedStep) (all []string) {
	for _, s := range steps {
		all = append(all, s.Name)
	}
	return all
}

func (d *differences) response(want, got *idempotency.Record) {
	a, b := want.Response, got.Response
	switch {
	case a == nil && b == nil:
		return
	case a == nil || b == nil:
		d.add("Response", a, b)
		return
	}
	if a.Status != b.Status {
		d.add("Response.Status", a.Status, b.Status)
	}
	if !maps.EqualFunc(a.Header, b.Header, slices.Equal[[]string]) {
		d.add("Response.Header", a.Header, b.Header)
	}
	apart := len(a.Body) == 0 && want.Body.Chunks > 0 || len(b.Body) == 0 && got.Body.Chunks > 0
	if !apart && !bytes.Equal(a.Body, b.Body) {
		d.add("Response.Body", fmt.Sprintf("%d bytes", len(a.Body)), fmt.Sprintf("%d others", len(b.Body)))
	}
}
