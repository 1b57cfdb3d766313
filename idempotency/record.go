package idempotency

import (
	"slices"
	"time"
)

// Status is the state of a record.
type Status string

const (
	// Processing says that an owner holds the claim, or held it when it was last heard of.
	Processing Status = "processing"
	// Released says that a run ended with an answer that is not recorded. The next attempt may run.
	Released Status = "released"
	// Completed says that the response is recorded, for good.
	Completed Status = "completed"
)

// SchemaVersion is the version of records that this code writes.
const SchemaVersion = 1

// readableVersions are the schema versions that this code can decide on and replace.
var readableVersions = []int{SchemaVersion}

// ReadableVersions returns the schema versions that this code reads. A store's claim may replace a finished, expired
// record of these versions only.
func ReadableVersions() []int { return slices.Clone(readableVersions) }

// Record is what a store keeps for one (scope, key). Instants have the precision that stores keep: milliseconds, but
// whole seconds for ExpiresAt. A zero instant means that the attribute is absent.
type Record struct {
	ID          string // of 43 characters, see [Guard]
	Version     int    // schema version
	Status      Status
	Owner       string      // token of the attempt that made the last claim: it fences
	Epoch       int64       // fencing number for others, Unix ms of the claim; rises with every takeover
	Fingerprint Fingerprint // what the request was
	Principal   string      // hash of who made the first request; empty where the endpoint names no principals
	Endpoint    string      // method and route of the first request, for people
	RequestID   string      // id of the first request, for people
	LeaseUntil  time.Time   // until when the owner may work, clock margin included; only while processing
	ExpiresAt   time.Time   // from when the record may be forgotten; zero: never
	CreatedAt   time.Time
	CompletedAt time.Time
	Response    *Response // the recorded response of a completed record
	Body        BodyItems // where the response's body is kept apart from the record

	// Steps are the steps that attempts have recorded, in order; none once the record is completed.
	Steps []RecordedStep
	// UndoFailures is how many attempts have failed to undo the steps; 0 once the record is completed.
	UndoFailures int

	// Fault says why the stored item could not be read as a record (an attribute is missing or of a wrong type). Such
	// a record is answered with 503 and left alone.
	Fault error
}

// BodyItems says how a store keeps a response body that does not fit into the record. The zero value: it is in it.
type BodyItems struct {
	Chunks   int    // how many items hold it
	Encoding string // "gzip", or empty: as it is
	Sum      []byte // SHA-256 of the whole body
}

// RecordedStep is a step that an attempt has recorded.
type RecordedStep struct {
	Name   string    // an undo's begins with "undo:"; that of the answer to an operation that failed is "failed:"
	Result []byte    // JSON; nil where it is kept apart and not loaded
	Apart  StepItems // where the result is kept apart from the record
}

// StepItems says how a store keeps a step's result that does not fit into the record. The zero value: it is in it.
type StepItems struct {
	BodyItems
	Owner string // token of the attempt that recorded the step
}

// orphaned is the LeaseUntil of a record whose owner gave up without knowing the outcome.
var orphaned = time.UnixMilli(0)

// Orphaned returns the LeaseUntil of a record whose owner gave up without knowing the outcome: the Unix epoch.
func Orphaned() time.Time { return orphaned }

// expired reports whether a claim may take a finished record for absent. Processing records never expire this way:
// their steps and fencing number must survive, and a live lease counts whatever ExpiresAt says.
func (r *Record) expired(now time.Time, skew time.Duration) bool {
	return r.Status != Processing && !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(now.Add(-skew))
}

// readable reports whether the record's schema version is one that this code reads.
func (r *Record) readable() bool { return slices.Contains(readableVersions, r.Version) }

// held reports whether owner holds the claim.
func (r *Record) held(owner string) bool {
	return r != nil && r.Owner == owner && r.Status == Processing
}

// completedBy reports whether the record holds a completion written by owner.
func (r *Record) completedBy(owner string) bool {
	return r != nil && r.Owner == owner && r.Status == Completed
}

// ceilMillis rounds up to the precision of LeaseUntil, so that a stored lease is never shorter than the one meant.
func ceilMillis(t time.Time) time.Time { return ceil(t, time.Millisecond) }

// ceilSeconds rounds up to the precision of ExpiresAt.
func ceilSeconds(t time.Time) time.Time { return ceil(t, time.Second) }

func ceil(t time.Time, unit time.Duration) time.Time {
	down := t.Truncate(unit)
	if down.Before(t) {
		down = down.Add(unit)
	}
	return down.Round(0)
}

// floorMillis is the precision of instants that say when something was.
func floorMillis(t time.Time) time.Time { return t.Truncate(time.Millisecond).Round(0) }
