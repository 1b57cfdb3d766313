package idempotency

import (
	"cmp"
	"context"
	"crypto/sha256"
	"sync"
	"time"
)

// Attempt is one try to run a guarded request. Its handler reaches it with [AttemptFrom].
type Attempt struct {
	guard   *Guard
	request *Request
	id      string // of the record
	asker   Asker
	print   requestPrint // fingerprint of the request

	record     Record        // as this attempt claimed it, or is about to
	deadline   time.Time     // until when it may work: the lease without the margin
	budget     time.Duration // for the completion, at the end of the time until deadline
	rerun      bool          // an earlier attempt had this key
	recovering bool          // the recovery function is running, or has given the answer
	tookOrphan bool          // the claim was, or may have been, taken from a processing record
	mayHold    bool          // a claim or takeover was sent and not refused
	orphanAge  time.Duration // since the claim of the orphan that it met

	kept        Response    // as it is recorded
	instead     *substitute // recorded instead of a response that the handler withholds
	handlerTook time.Duration
	storeCtx    attemptContext // for the store
	handlerCtx  attemptContext // for the handler

	stop         func() // ends the context of the handler, or of the recovery function
	undoFailures int    // attempts, this one included, that have failed to compensate; 0: not this one

	mu          sync.Mutex
	log         *stepLog    // set once, under mu; nil where the handler takes no steps
	compensate  bool        // guarded by mu; set by the handler
	returned    bool        // guarded by mu; the handler has
	enlisted    []any       // guarded by mu
	disposition Disposition // guarded by mu; set by the handler
	withheld    bool        // guarded by mu; set by the handler
	usage       Usage       // guarded by mu
}

// attemptContext is a context that carries an attempt: for its handler, or for its store to report what calls cost.
type attemptContext struct {
	context.Context
	attempt *Attempt
	key     any // handlerKey or storeKey
}

type handlerKey struct{}

type storeKey struct{}

// Value implements [context.Context].
func (c *attemptContext) Value(key any) any {
	if key == c.key {
		return c.attempt
	}
	return c.Context.Value(key)
}

// AttemptFrom returns the attempt that a handler runs in; nil where the request runs unguarded.
func AttemptFrom(ctx context.Context) *Attempt {
	t, _ := ctx.Value(handlerKey{}).(*Attempt)
	return t
}

// ID is the id of the attempt's record: the same for every attempt with this key, and safe to log.
func (t *Attempt) ID() string { return t.id }

// Request is the request that the attempt is for, as the adapter made it. It must not be changed. In [Config.Recover] it
// tells what an earlier attempt was asked to do.
func (t *Attempt) Request() *Request { return t.request }

// Epoch is the attempt's fencing number: greater than that of every earlier attempt with this key. A system that
// remembers the greatest one it has seen can refuse an attempt that lost its lease. It is the claim's time in Unix ms,
// or more.
func (t *Attempt) Epoch() int64 { return t.record.Epoch }

// Rerun reports whether an earlier attempt with this key ran, or may have.
func (t *Attempt) Rerun() bool { return t.rerun }

// DeriveKey returns a key for a call that the handler makes to another system, such as the Idempotency-Key of a
// payment provider: 43 characters of A–Z, a–z, 0–9, - and _. It is the same on every attempt, and another one for each
// step, each record and each request: when the client uses its key for something else after the retention, the other
// system is not asked for the old effect. It panics if step is empty.
func (t *Attempt) DeriveKey(step string) string {
	if step == "" {
		panic("idempotency: DeriveKey needs the name of a step")
	}
	buf := appendPart(nil, t.id)
	buf = appendPart(buf, t.record.Fingerprint)
	return encodeSum(sha256.Sum256(appendPart(buf, step)))
}

// Enlist gives the store a write, in the store's own type, to commit together with the response: all or nothing. It
// is dropped if the response is not recorded. Handlers call the Enlist function of the store's package.
func (t *Attempt) Enlist(write any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enlisted = append(t.enlisted, write)
}

// Decide overrules [Config.Disposition] for the response that the handler is about to return. A handler that is about
// to return an error may say LetGo if it is sure that the next attempt can run: without that, an error orphans the
// claim.
func (t *Attempt) Decide(d Disposition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.disposition = d
}

// maxRecorded is the largest response body, in bytes, that is recorded. AWS Lambda's limit is 6 MB.
const maxRecorded = 16 << 20

// Withhold keeps the handler's response out of the record, because it is secret, or too large (a body over 16 MiB is
// withheld in any case): the first caller gets it, and where it would have been recorded, every later request with the key is answered 409 response-not-stored. What
// becomes of the claim is decided on the response, as always.
func (t *Attempt) Withhold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.withheld = true
}

// substitute is what is recorded in place of a response that is withheld.
type substitute struct{ real, recorded *Response }

// recordableOf is what is recorded of the handler's response: all that belongs to the operation, or only that it was.
func (t *Attempt) recordableOf(r *Response) Response {
	t.mu.Lock()
	withheld := t.withheld
	t.mu.Unlock()
	if !withheld && len(r.Body) <= maxRecorded {
		return recordedForm(r)
	}
	t.instead = &substitute{real: r, recorded: t.problem(OutcomeFirst, responseNotStored, 0).response}
	return *t.instead.recorded
}

// recordedForm is a response without what belongs to one exchange.
func recordedForm(r *Response) Response {
	return Response{Status: r.Status, Header: recordable(r.Header), Body: r.Body}
}

// hasReturned reports whether the handler has.
func (t *Attempt) hasReturned() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.returned
}

// decided is what the handler has said, or 0.
func (t *Attempt) decided() Disposition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.disposition
}

// dispose says what becomes of the claim after a response, or after an error, where r is nil. What was an orphan before
// the recovery function ran stays one, unless the function has found the response.
func (t *Attempt) dispose(r *Response) Disposition {
	if t.record.Compensating() { // nothing is undecided any more
		if r == nil {
			return Doubt
		}
		return Keep
	}
	d := t.decided()
	if d == 0 && r != nil {
		d = cmp.Or(t.guard.cfg.Disposition(r), DispositionByStatus(r))
	}
	if d == Keep && r != nil || d == LetGo && !t.recovering {
		return d
	}
	return Doubt
}

// plan fixes, for a claim at now, until when the attempt may work, how much of that is kept for its completion, and the
// lease to write. The time ends with the context's deadline, which in AWS Lambda is the function's.
func (t *Attempt) plan(ctx context.Context, now time.Time) (lease time.Time) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = now.Add(t.guard.cfg.Lease)
	}
	t.deadline = deadline.Round(0)
	t.budget = min(completionBudget, t.deadline.Sub(now)/3)
	return ceilMillis(t.deadline.Add(t.guard.cfg.Skew))
}

// startable reports whether there is time to run a handler and to complete.
func (t *Attempt) startable(now time.Time) bool {
	return t.budget > 0 && now.Before(t.deadline.Add(-t.budget))
}

// expiry is the expires_at of a processing record written at now: long after its lease, and never under the policies
// that keep orphans until somebody looks.
func (t *Attempt) expiry(now, lease time.Time) time.Time {
	if t.guard.cfg.Orphans != Rerun {
		return time.Time{}
	}
	if late := now.Add(orphanRetention - leaseToExpiry); lease.After(late) {
		now = now.Add(lease.Sub(late))
	}
	return ceilSeconds(now.Add(orphanRetention))
}
