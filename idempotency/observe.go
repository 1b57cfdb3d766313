package idempotency

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Outcome is what became of a request.
type Outcome string

// Outcomes, one for each request.
const (
	OutcomeFirst         Outcome = "first"         // the handler ran and its response is recorded
	OutcomeReplay        Outcome = "replay"        // a recorded response was given
	OutcomeInProgress    Outcome = "in_progress"   // another attempt is running
	OutcomeMismatch      Outcome = "mismatch"      // the key belongs to another request
	OutcomeForbidden     Outcome = "forbidden"     // the key belongs to another principal
	OutcomeReleased      Outcome = "released"      // the handler's response is not recorded, the next attempt may run
	OutcomeOrphaned      Outcome = "orphaned"      // the handler failed without a known outcome
	OutcomeUnresolved    Outcome = "unresolved"    // an earlier attempt's outcome is unknown, and the policy is Refuse
	OutcomeFenced        Outcome = "fenced"        // the claim was lost while the handler ran; its result was dropped
	OutcomeNotRecorded   Outcome = "not_recorded"  // the handler's response was given, but could not be recorded
	OutcomeUnanswered    Outcome = "unanswered"    // it is not known whether the completion took effect
	OutcomeStoreError    Outcome = "store_error"   // refused, because the store did not answer or the record is unreadable
	OutcomeRejected      Outcome = "rejected"      // refused before the lookup: key, scope, size, authorization, validation
	OutcomeUncompensated Outcome = "uncompensated" // the operation failed for good, and its steps are not all undone
	OutcomeUnguarded     Outcome = "unguarded"     // ran without a key or with a method that is not guarded
)

// Event tells what became of one request.
type Event struct {
	Outcome      Outcome
	ID           string // of the record; empty where there was no lookup
	Endpoint     string
	Status       int           // of the answer; 0 where the handler panicked
	Takeover     bool          // the handler ran with a claim that an earlier attempt had left
	Orphan       time.Duration // how long ago the orphan was claimed that the request met; 0 where it met none
	Duration     time.Duration // of the whole request
	Handler      time.Duration // of the handler in it; 0 where it did not run
	Store        Usage         // what the request cost at the store
	UndoFailures int           // attempts, this one included, that have failed to undo the operation's steps; 0: not this one
	Err          error         // what went wrong, where something did
}

var errPanicked = errors.New("the handler panicked")

// observed reports what became of a request: to the observer, and to the log what an operator must know. A handler that
// panics is reported too.
func (t *Attempt) observed(ctx context.Context, serve func(context.Context) answer) (a answer) {
	start := t.guard.cfg.Now()
	t.storeCtx = attemptContext{ctx, t, storeKey{}}
	a = answer{outcome: OutcomeOrphaned, err: errPanicked} // unless it returns
	defer func() {
		if a.err == errPanicked && t.undoFailures > 0 {
			a.outcome = OutcomeUncompensated
		}
		e := Event{Outcome: a.outcome, ID: t.id, Endpoint: t.request.Route, Takeover: t.rerun, Orphan: t.orphanAge, Duration: t.guard.cfg.Now().Sub(start),
			Handler: t.handlerTook, Store: t.spent(), UndoFailures: t.undoFailures, Err: a.err}
		if a.response != nil {
			e.Status = a.response.Status
		}
		t.guard.report(ctx, e)
	}()
	a = serve(&t.storeCtx)
	return a
}

func (g *Guard) report(ctx context.Context, e Event) {
	if e.Err != nil {
		g.cfg.Logger.LogAttrs(ctx, slog.LevelError, "idempotency: "+string(e.Outcome),
			slog.String("id", e.ID), slog.String("endpoint", e.Endpoint), slog.Int("status", e.Status), slog.Any("error", e.Err))
	}
	if g.cfg.Observe != nil {
		g.cfg.Observe(ctx, e)
	}
}
