package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"firstwriter/idempotency"
)

// The states of a record to an operator.
const (
	stateLive       = "running"              // its lease is not known to be over
	stateOrphan     = "orphan"               // its lease is over, and nobody knows what the run did
	stateUndoing    = "uncompensated"        // an orphan that failed for good, and whose steps are not all undone
	stateReleased   = "released"             // the next attempt runs
	stateHalfway    = "released, with steps" // the same, and goes on after them; nobody has come again yet
	stateCompleted  = "completed"            // retries get the response
	stateUnreadable = "unreadable"           // retries get 503; nothing changes it
)

// sighting is a record as it was seen.
type sighting struct {
	record *idempotency.Record
	clocks idempotency.Clocks
	lost   error // what is kept apart from the record and was asked for, but is missing or damaged
}

// view is a record as it is shown. Keys are not in the table, and so are never shown. Times are RFC 3339; a lease that its
// run gave up ends in 1970.
type view struct {
	ID           string        `json:"id"`
	State        string        `json:"state"`
	Problem      string        `json:"problem,omitempty"` // why it is unreadable
	Remedy       string        `json:"remedy,omitempty"`  // what a person can do about that
	Version      int           `json:"v"`
	Endpoint     string        `json:"endpoint,omitempty"`
	RequestID    string        `json:"request_id,omitempty"`
	Principal    string        `json:"principal,omitempty"` // a hash
	Epoch        int64         `json:"epoch,omitempty"`
	CreatedAt    string        `json:"created_at,omitempty"`
	LeaseUntil   string        `json:"lease_until,omitempty"`
	CompletedAt  string        `json:"completed_at,omitempty"`
	ExpiresAt    string        `json:"expires_at,omitempty"`
	AgeSeconds   *int64        `json:"age_seconds,omitempty"` // since the last claim; negative where that machine's clock was ahead
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

// viewOf shows a record as it is by these clocks.
func viewOf(seen sighting, showBody bool) view {
	r := seen.record
	v := view{ID: r.ID, State: stateOf(r, seen.clocks), Version: r.Version, Endpoint: r.Endpoint, RequestID: r.RequestID, Principal: r.Principal,
		Epoch: r.Epoch, CreatedAt: instant(r.CreatedAt), LeaseUntil: instant(r.LeaseUntil), CompletedAt: instant(r.CompletedAt), ExpiresAt: instant(r.ExpiresAt),
		UndoFailures: r.UndoFailures}
	if r.Epoch != 0 {
		age := int64(seen.clocks.Likely().Sub(time.UnixMilli(r.Epoch)).Seconds())
		v.AgeSeconds = &age
	}
	v.Problem, v.Remedy = problem(seen)
	if r.Fault != nil {
		return v // what else was read of it is not to be relied on
	}
	for _, s := range r.Steps {
		v.Steps = append(v.Steps, viewOfStep(s, showBody))
	}
	if r.Response != nil {
		v.Response = viewOfResponse(r, showBody)
	}
	return v
}

func viewOfStep(s idempotency.RecordedStep, showBody bool) stepView {
	step := stepView{Name: s.Name, Apart: s.Apart.Chunks > 0}
	if !showBody || s.Result == nil {
		return step
	}
	step.Result = s.Result
	if !json.Valid(s.Result) { // somebody has been at the item
		step.Result, _ = json.Marshal(string(s.Result)) // a string is always JSON
	}
	return step
}

func viewOfResponse(r *idempotency.Record, showBody bool) *responseView {
	v := &responseView{Status: r.Response.Status, BodyItems: r.Body.Chunks}
	switch {
	case !showBody:
		return v
	case utf8.Valid(r.Response.Body):
		v.Body = string(r.Response.Body)
	default:
		v.BodyBase64 = r.Response.Body
	}
	v.Header = r.Response.Header
	return v
}

func stateOf(r *idempotency.Record, clocks idempotency.Clocks) string {
	_, err := idempotency.NewResolution(r, nil, clocks, idempotency.DefaultRetention)
	switch {
	case err == nil && r.Compensating():
		return stateUndoing
	case err == nil:
		return stateOrphan
	case r.Fault != nil || !isKnown(r.Version):
		return stateUnreadable
	case r.Status == idempotency.Processing:
		return stateLive
	case r.Status == idempotency.Completed:
		return stateCompleted
	case r.Status == idempotency.Released && len(r.Steps) > 0:
		return stateHalfway
	case r.Status == idempotency.Released:
		return stateReleased
	}
	return stateUnreadable
}

func isKnown(version int) bool { return slices.Contains(idempotency.ReadableVersions(), version) }

// isNewer reports whether a record was written by newer code, which can judge it.
func isNewer(r *idempotency.Record) bool {
	return r.Fault == nil && r.Version > slices.Max(idempotency.ReadableVersions())
}

// What a person can do about a record that cannot be read.
const (
	deployNewer = "deploy code that reads this version, and use its idemctl; until then retries that reach older code get 503"
	repairItem  = "retries get 503, and nothing changes the item, idemctl neither: repair it by hand, say from a backup; or, only if you know that " +
		"the operation has finished, or that it never ran, delete the item by hand: its key is then new, and a retry runs the operation"
)

// problem says what keeps a record from being read, and what to do about it.
func problem(seen sighting) (what, remedy string) {
	r := seen.record
	switch {
	case r.Fault != nil:
		return r.Fault.Error(), repairItem
	case isNewer(r):
		return fmt.Sprintf("its schema version is %d, and this idemctl reads %v", r.Version, idempotency.ReadableVersions()), deployNewer
	case !isKnown(r.Version):
		return fmt.Sprintf("its schema version is %d, which no release writes that this idemctl knows", r.Version), repairItem
	case seen.lost != nil:
		return seen.lost.Error(), repairItem
	}
	return "", ""
}
