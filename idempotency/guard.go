package idempotency

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	claimBudget      = 2 * time.Second        // for a claim or takeover, the store's own retries included
	readBudget       = 1 * time.Second        // for a read
	letGoBudget      = 500 * time.Millisecond // for giving a claim back
	completionBudget = 2 * time.Second        // at most; less where a third of the remaining time is less
	orphanRetention  = 7 * 24 * time.Hour     // how long an unfinished record stays under Rerun
	leaseToExpiry    = 24 * time.Hour         // at least; an unfinished record with a lease of days stays longer
	claimRounds      = 8                      // decisions before a request that always meets another record gives up
)

// RunHandler runs the operation of a request. The context carries the [Attempt], and ends early enough for the
// completion to be written before the lease or the context's own deadline is over.
type RunHandler func(context.Context) (*Response, error)

// answer is a response and what it means.
type answer struct {
	outcome  Outcome
	response *Response
	problem  *Problem // what the response says, where the guard made it
	err      error    // for the operator
}

// Serve answers a request: with the response of run, or with a recorded one, or with a problem document. This is the
// way of every request:
//
//  1. admit: who asks, for which key, how large; the authorize and validate hooks
//  2. acquire: the first writer wins the claim; everybody else is decided on the record that stands
//  3. run: the handler, within the lease
//  4. finish: completed, released or orphaned, before the response leaves
//
// A panic of the handler orphans the claim and goes on.
func (g *Guard) Serve(ctx context.Context, req *Request, run RunHandler) *Response {
	t := &Attempt{guard: g, request: req}
	return t.observed(ctx, func(ctx context.Context) answer { return t.serve(ctx, run) }).response
}

func (t *Attempt) serve(ctx context.Context, run RunHandler) answer {
	key, refusal := t.admit()
	if refusal != nil {
		return *refusal
	}
	if key == "" {
		return t.unguarded(ctx, run)
	}
	if r := call(ctx, t.guard.cfg.Authorize, t.request); r != nil {
		return answer{outcome: OutcomeRejected, response: r}
	}
	t.print = t.guard.fingerprints.of(t.request)
	if r := call(ctx, t.guard.cfg.Validate, t.request); r != nil {
		return t.invalid(ctx, r)
	}
	return t.once(ctx, run)
}

// once runs the handler if the claim can be had.
func (t *Attempt) once(ctx context.Context, run RunHandler) answer {
	if turnedAway := t.acquire(ctx); turnedAway != nil {
		return *turnedAway
	}
	returned := false
	defer func() {
		if !returned { // a panic of the endpoint's code, or runtime.Goexit
			t.orphan(ctx)
		}
	}()
	a := t.run(ctx, run)
	returned = true
	return a
}

// admit makes the checks that need no lookup, and computes whose record the request is about. An empty key means that
// the request runs unguarded.
func (t *Attempt) admit() (key string, refusal *answer) {
	g := t.guard
	if !g.Guards(t.request.Method) {
		return "", nil
	}
	scope, principal := g.cfg.Scope(t.request), ""
	if g.cfg.Principal != nil {
		principal = g.cfg.Principal(t.request)
	}
	if scope == "" || g.cfg.Principal != nil && principal == "" {
		return "", t.reject(callerUnknown, "")
	}
	key, err := g.parseKey(t.request.Header)
	switch {
	case errors.Is(err, errKeyMissing) && g.cfg.OptionalKey:
		return "", nil
	case errors.Is(err, errKeyMissing):
		refusal = t.reject(keyMissing, "")
		if g.cfg.Docs != "" {
			refusal.response.Header.Set("Link", "<"+g.cfg.Docs+`>; rel="describedby"`)
		}
		return "", refusal
	case err != nil:
		return "", t.reject(keyInvalid, "The "+KeyHeader+" header is malformed: "+err.Error()+".")
	case t.request.BodyErr != nil || len(t.request.Body) > g.cfg.MaxBody:
		return "", t.refuseBody()
	}
	t.identify(scope, principal, key)
	return key, nil
}

// identify fixes whose record the request is about, and who asks.
func (t *Attempt) identify(scope, principal, key string) {
	g := t.guard
	t.id = g.hasher.record(scope, key)
	t.asker = Asker{Owner: newOwner(), Request: &t.print, Orphans: g.cfg.Orphans, Skew: g.cfg.Skew}
	if principal != "" {
		t.asker.Principal = g.hasher.principal(scope, principal)
	}
}

// call runs a hook, if there is one.
func call(ctx context.Context, h Hook, r *Request) *Response {
	if h == nil {
		return nil
	}
	return h(ctx, r)
}

// acquire gets the claim. It returns an answer where the request does not run: nil says that the claim is held.
func (t *Attempt) acquire(ctx context.Context) *answer {
	g := t.guard
	patience := newWait(g.cfg.Wait)
	next, seen := DecideClaim, (*Record)(nil)
	for round := 0; round < claimRounds; {
		err, read := error(nil), false
		switch next {
		case DecideClaim:
			round++
			err = t.claim(ctx)
		case DecideTakeover:
			round++
			err = t.takeover(ctx, seen)
		case DecideHold:
			t.record, t.mayHold = *seen, true
			t.deadline = seen.LeaseUntil.Add(-g.cfg.Skew)
			return nil
		case DecideInProgress:
			if !patience.sleep(ctx, g.cfg.Now()) {
				return t.turnAway(ctx, next, seen)
			}
			read = true
		default:
			return t.turnAway(ctx, next, seen)
		}
		if err == nil && !read {
			return nil
		}
		if seen, err = t.standing(ctx, err); err != nil {
			return t.unavailable(ctx, err)
		}
		next = t.decide(seen)
	}
	return t.unavailable(ctx, errors.New("the record changed hands too often"))
}

// decide is the decision on a record that this request met before it ran.
func (t *Attempt) decide(seen *Record) Decision {
	now := t.guard.cfg.Now()
	d := Decide(seen, t.asker, now)
	if orphan := d == DecideTakeover || d == DecideUnknown; orphan && seen.Status == Processing {
		t.orphanAge = now.Sub(time.UnixMilli(seen.Epoch))
	}
	return d
}

// claim writes a record of this attempt's own.
func (t *Attempt) claim(ctx context.Context) error {
	now := t.guard.cfg.Now()
	lease := t.plan(ctx, now)
	t.rerun = false
	t.record = Record{ID: t.id, Version: SchemaVersion, Status: Processing, Owner: t.asker.Owner, Epoch: now.UnixMilli(),
		Fingerprint: t.print.current, Principal: t.asker.Principal, Endpoint: t.request.Route, RequestID: t.request.RequestID,
		LeaseUntil: lease, ExpiresAt: t.expiry(now, lease), CreatedAt: floorMillis(now)}
	return t.take(ctx, now, func(ctx context.Context, s Store) error {
		return s.Claim(ctx, Claim{Record: t.record, Now: now, Skew: t.guard.cfg.Skew})
	})
}

// takeover takes the record that was seen from its last owner. Whatever happens to the acknowledgement, a claim that
// may come from a processing record is never released before the handler has run.
func (t *Attempt) takeover(ctx context.Context, seen *Record) error {
	now := t.guard.cfg.Now()
	lease := t.plan(ctx, now)
	w := Takeover{Seen: seen, Owner: t.asker.Owner, Epoch: max(seen.Epoch+1, now.UnixMilli()),
		LeaseUntil: lease, ExpiresAt: t.expiry(now, lease)}
	t.rerun, t.tookOrphan = true, t.tookOrphan || seen.Status == Processing
	taken, _ := w.Apply(seen)
	t.record = *taken
	return t.take(ctx, now, func(ctx context.Context, s Store) error { return s.Takeover(ctx, w) })
}

// take sends a claim or takeover that was planned at now, if there is time to do what it is for.
func (t *Attempt) take(ctx context.Context, now time.Time, write func(context.Context, Store) error) error {
	if !t.startable(now) {
		return errNoTime
	}
	limited := newTimeout(ctx, claimBudget)
	defer limited.end()
	err := write(limited, t.guard.cfg.Store)
	t.mayHold = t.mayHold || !errors.Is(err, ErrRefused) && !errors.Is(err, ErrBusy)
	return err
}

var errNoTime = errors.New("too little time is left to run the request")

// standing is the record that a refused write met, read anew where the refusal did not tell.
func (t *Attempt) standing(ctx context.Context, err error) (*Record, error) {
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return refused.Record, nil
	case err != nil && !errors.Is(err, ErrBusy):
		return nil, err
	}
	return t.read(ctx)
}

func (t *Attempt) read(ctx context.Context) (*Record, error) {
	limited := newTimeout(ctx, readBudget)
	defer limited.end()
	return t.guard.cfg.Store.Get(limited, t.id)
}

// unavailable answers that the request did not run, because the store did not say whether it may.
func (t *Attempt) unavailable(ctx context.Context, err error) *answer {
	if t.mayHold {
		t.letGo(ctx)
	}
	a := t.problem(OutcomeStoreError, storeUnavailable, retrySoon())
	a.err = err
	return &a
}

// turnAway answers a request that does not run, as the record that stands says.
func (t *Attempt) turnAway(ctx context.Context, d Decision, seen *Record) *answer {
	a := answer{}
	switch d {
	case DecideReplay:
		a = t.replay(ctx, seen)
	case DecideForbidden:
		a = t.problem(OutcomeForbidden, replayForbidden, 0)
	case DecideReused:
		a = t.problem(OutcomeMismatch, keyReused, 0)
	case DecideInProgress:
		rest := seen.LeaseUntil.Sub(t.guard.cfg.Now())
		a = t.problem(OutcomeInProgress, inProgress, min(max(rest, time.Second), 2*time.Second))
	case DecideUnknown:
		a = t.problem(OutcomeUnresolved, outcomeUnknown, 0)
	case DecideUnreadable:
		a = t.problem(OutcomeStoreError, storeUnavailable, retrySoon())
		a.err = unreadable(seen)
	default:
		panic(fmt.Sprintf("idempotency: decision %d turns nobody away", d))
	}
	return &a
}

func unreadable(r *Record) error {
	if r.Fault != nil {
		return r.Fault
	}
	return fmt.Errorf("the record has schema version %d and fingerprint rules that this code does not read; deploy a release that does", r.Version)
}

// replay answers with the recorded response.
func (t *Attempt) replay(ctx context.Context, seen *Record) answer {
	r, err := t.recorded(ctx, seen)
	if err != nil {
		a := t.problem(OutcomeStoreError, storeUnavailable, retrySoon())
		a.err = err
		return a
	}
	r.Header.Set(ReplayHeader, "true")
	if hook := t.guard.cfg.OnReplay; hook != nil {
		hook(t.request, r)
	}
	return answer{outcome: OutcomeReplay, response: r}
}

// recorded is a copy of the response that a completed record holds.
func (t *Attempt) recorded(ctx context.Context, seen *Record) (*Response, error) {
	limited := newTimeout(ctx, readBudget)
	defer limited.end()
	if err := t.guard.cfg.Store.LoadBody(limited, seen); err != nil {
		return nil, err
	}
	r := seen.Response.clone()
	if r.Header == nil {
		r.Header = map[string][]string{}
	}
	return r, nil
}

// invalid answers a request that the validate hook refuses. A live record decides first, since a retry must get its
// replay even where the rules have changed; a refused request never takes over.
func (t *Attempt) invalid(ctx context.Context, refusal *Response) answer {
	seen, err := t.read(ctx)
	if err != nil {
		return *t.unavailable(ctx, err)
	}
	switch d := t.decide(seen); d {
	case DecideTakeover:
		if seen.Status == Processing || len(seen.Steps) > 0 { // something of an earlier attempt may have taken effect
			return *t.turnAway(ctx, DecideUnknown, seen)
		}
		return answer{outcome: OutcomeRejected, response: refusal}
	case DecideClaim:
		return answer{outcome: OutcomeRejected, response: refusal}
	default:
		return *t.turnAway(ctx, d, seen)
	}
}

// unguarded runs a request that has no key and needs none.
func (t *Attempt) unguarded(ctx context.Context, run RunHandler) answer {
	r, err := run(ctx)
	if err != nil || r == nil {
		a := t.problem(OutcomeUnguarded, failedUnguarded, 0)
		a.err = err
		return a
	}
	header, _ := sendable(r.Header)
	return answer{outcome: OutcomeUnguarded, response: &Response{Status: r.Status, Header: header, Body: r.Body}}
}

// reject answers a request that was refused before the lookup.
func (t *Attempt) reject(p Problem, detail string) *answer {
	if detail != "" {
		p.Detail = detail
	}
	a := t.problem(OutcomeRejected, p, 0)
	return &a
}

// problem makes the answer of one of the guard's situations.
func (t *Attempt) problem(o Outcome, p Problem, retryAfter time.Duration) answer {
	p.Type = t.guard.cfg.ProblemType + p.Code
	p.RetryAfter = retryAfter
	if change := t.guard.cfg.Status; change != nil {
		p.Status = change(p.Code, p.Status)
	}
	return answer{outcome: o, response: p.Response(), problem: &p}
}

// retrySoon spreads the retries of many clients over three seconds.
func retrySoon() time.Duration { return time.Second + rand.N(2*time.Second) }
