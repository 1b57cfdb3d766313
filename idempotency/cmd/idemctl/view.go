package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"firstwriter/idempotency"
)

// The states of a record to an operator.
const (
	stateLive       = "running"       // its lease is not over
	stateOrphan     = "orphan"        // its lease is over, and nobody knows what the run did
	stateUndoing    = "uncompensated" // an orphan that failed for good, and whose steps are not all undone
	stateReleased   = "released"      // the next attempt runs
	stateCompleted  = "completed"     // retries get the response
	stateUnreadable = "unreadable"    // retries get 503; nothing changes it
)

// view is a record as it is shown. Keys are not in the table, and so are never shown.
type view struct {
	ID           string        `json:"id"`
	State        string        `json:"state"`
	Problem      string        `json:"problem,omitempty"` // why it is unreadable
	Version      int           `json:"v"`
	Endpoint     string        `json:"endpoint,omitempty"`
	RequestID    string        `json:"request_id,omitempty"`
	Principal    string        `json:"principal,omitempty"` // a hash
	Epoch        int64         `json:"epoch,omitempty"`
	CreatedAt    time.Time     `json:"created_at,omitzero"`
	LeaseUntil   time.Time     `json:"lease_until,omitzero"`
	CompletedAt  time.Time     `json:"completed_at,omitzero"`
	ExpiresAt    time.Time     `json:"expires_at,omitzero"`
	AgeSeconds   int64         `json:"age_seconds,omitempty"` // since the last claim
	Steps        []stepView    `json:"steps,omitempty"`
	UndoFailures int           `json:"undo_failures,omitempty"`
	Response     *responseView `json:"response,omitempty"`
}

// responseView is a recorded response; header and body only where they were asked for.
type responseView struct {
	Status     int         `json:"status"`
	BodyItems  int         `json:"body_items,omitempty"`
	Header     http.Header `json:"header,omitempty"`
	Body       string      `json:"body,omitempty"`
	BodyBase64 []byte      `json:"body_base64,omitempty"` // where the body is no text
}

// stepView is a recorded step; its result only where it was asked for.
type stepView struct {
	Name   string          `json:"name"`
	Apart  bool            `json:"apart,omitempty"` // the result has an item of its own
	Result json.RawMessage `json:"result,omitempty"`
}

func viewOf(r *idempotency.Record, showBody bool) view { return viewAt(r, time.Now(), showBody) }

// viewAt shows a record as it is at now.
func viewAt(r *idempotency.Record, now time.Time, showBody bool) view {
	v := view{ID: r.ID, State: stateOf(r, now), Version: r.Version, Endpoint: r.Endpoint, RequestID: r.RequestID, Principal: r.Principal,
		Epoch: r.Epoch, CreatedAt: r.CreatedAt.UTC(), LeaseUntil: r.LeaseUntil.UTC(), CompletedAt: r.CompletedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC()}
	if r.Epoch > 0 {
		v.AgeSeconds = int64(now.Sub(time.UnixMilli(r.Epoch)).Seconds())
	}
	if r.Fault != nil {
		v.Problem = r.Fault.Error()
	}
	v.UndoFailures = r.UndoFailures
	for _, s := range r.Steps {
		step := stepView{Name: s.Name, Apart: s.Apart.Chunks > 0}
		if showBody {
			step.Result = s.Result
		}
		v.Steps = append(v.Steps, step)
	}
	if r.Response == nil || v.State == stateUnreadable {
		return v
	}
	v.Response = &responseView{Status: r.Response.Status, BodyItems: r.Body.Chunks}
	if showBody {
		v.Response.Header = r.Response.Header
		if utf8.Valid(r.Response.Body) {
			v.Response.Body = string(r.Response.Body)
		} else {
			v.Response.BodyBase64 = r.Response.Body
		}
	}
	return v
}

func stateOf(r *idempotency.Record, now time.Time) string {
	_, err := idempotency.NewResolution(r, nil, now, idempotency.DefaultRetention)
	switch {
	case err == nil && r.Compensating():
		return stateUndoing
	case err == nil:
		return stateOrphan
	case r.Fault == nil && r.Status == idempotency.Processing:
		return stateLive
	case r.Fault == nil && r.Status == idempotency.Completed:
		return stateCompleted
	case r.Fault == nil && r.Status == idempotency.Released:
		return stateReleased
	}
	return stateUnreadable
}

// write prints a record in the format that was asked for.
func (o *output) write(out io.Writer, v view) error {
	if o.format == "json" {
		return json.NewEncoder(out).Encode(v)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "0" {
			fmt.Fprintf(table, "%s\t%s\n", name, text)
		}
	}
	row("record", v.ID)
	row("state", v.State)
	row("problem", v.Problem)
	row("schema version", v.Version)
	row("endpoint", v.Endpoint)
	row("request", v.RequestID)
	row("principal (hash)", v.Principal)
	row("epoch", v.Epoch)
	row("created", instant(v.CreatedAt))
	row("last claim", ago(v.AgeSeconds))
	row("lease until", instant(v.LeaseUntil))
	row("completed", instant(v.CompletedAt))
	row("expires", instant(v.ExpiresAt))
	for _, s := range v.Steps {
		row("step", s)
	}
	row("undo failures", v.UndoFailures)
	v.Response.rows(row)
	return table.Flush()
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

func (r *responseView) rows(row func(string, any)) {
	if r == nil {
		return
	}
	row("response status", r.Status)
	row("response body items", r.BodyItems)
	for name, values := range r.Header {
		for _, value := range values {
			row("response header", name+": "+value)
		}
	}
	row("response body", r.Body)
	if r.BodyBase64 != nil {
		row("response body", fmt.Sprintf("%d bytes, no text: use --output json", len(r.BodyBase64)))
	}
}

func instant(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.Equal(idempotency.Orphaned()):
		return "given up by its run"
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

func ago(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return (time.Duration(seconds) * time.Second).String() + " ago"
}
