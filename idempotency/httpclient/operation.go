package httpclient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"firstwriter/idempotency"
)

// operation is one logical operation on its way. It is also the context of its attempts, so that [OutcomeOf] finds it.
type operation struct {
	context.Context // of the caller's request
	t               *Transport
	req             *http.Request // the caller's
	header          http.Header   // the caller's, with the key
	keyValue        [1]string     // in it
	body            source
	entry           *Entry // in the journal, if there is one
	start           time.Time
	until           time.Time // nothing is sent from then on
	doubt           bool      // an attempt may have had an effect
	outcome         Outcome
	trace           httptrace.ClientTrace
	traced          context.Context // the operation itself, with trace
	conns           atomic.Int32    // that the attempt was given
	answer          content         // to the attempt
}

// Value implements [context.Context].
func (o *operation) Value(key any) any {
	if key == (outcomeInContext{}) {
		return o
	}
	return o.Context.Value(key)
}

// begin prepares an operation; nothing is sent yet.
func (t *Transport) begin(req *http.Request) (*operation, error) {
	o := &operation{Context: req.Context(), t: t, req: req, start: time.Now()}
	if err := o.prepare(); err != nil {
		return nil, fmt.Errorf("httpclient: nothing was sent: %w", err)
	}
	o.trace.GotConn = func(httptrace.GotConnInfo) { o.conns.Add(1) }
	o.traced = httptrace.WithClientTrace(o, &o.trace)
	return o, nil
}

func (o *operation) prepare() error {
	if err := o.Err(); err != nil {
		return err
	}
	if o.req.URL == nil {
		return errors.New("the request has no URL")
	}
	key, err := keyOf(o.req)
	if err != nil {
		return err
	}
	if o.keyValue[0], err = key.spelled(o.t.cfg.BareKeys); err != nil {
		return err
	}
	o.outcome.Key = key.bare
	if o.header = maps.Clone(o.req.Header); o.header == nil {
		o.header = http.Header{}
	}
	o.header[idempotency.KeyHeader] = o.keyValue[:]
	if o.body, err = sourceOf(o.req, o.t.cfg.MaxBody); err != nil {
		return err
	}
	o.until = o.start.Add(o.t.cfg.MaxElapsed)
	return o.note()
}

// run sends the operation until it has a final answer or is given up.
func (o *operation) run() (*http.Response, error) {
	for {
		res, a := o.attempt()
		v := decide(a)
		o.doubt = o.doubt || v.effect == unknown || o.resends() > 0 // the answer is to the last sending only
		pause := o.t.cfg.pause(o.outcome.Attempts, a.after)
		if a.err == nil && v.settles(o.doubt) {
			o.tell(a, 0, true)
			return o.finish(res), nil
		}
		stop := o.stop(a, v, pause)
		o.tell(a, pause, stop != nil)
		if stop != nil {
			return o.giveUp(res, a, stop)
		}
		discard(res)
		if err := o.wait(pause); err != nil {
			return o.giveUp(nil, answer{err: err}, err)
		}
	}
}

// stop is why the operation is not sent again; nil: it is.
func (o *operation) stop(a answer, v verdict, pause time.Duration) error {
	why := a.cause()
	switch {
	case o.Err() != nil && errors.Is(why, o.Err()):
		return why
	case o.Err() != nil:
		return fmt.Errorf("%w (%w)", o.Err(), why)
	case !v.retry:
		return why
	case o.body.again == nil:
		return fmt.Errorf("%w (%w)", why, ErrBodyOnce)
	case o.outcome.Attempts >= o.t.cfg.MaxAttempts:
		return fmt.Errorf("%w (MaxAttempts is reached)", why)
	case o.left(time.Now()) <= pause:
		return fmt.Errorf("%w (%w)", why, errNoTime)
	}
	return nil
}

// left is the time that remains. The wall clock may have been set, and the monotonic one stands still while a machine
// sleeps: the one that leaves less counts.
func (o *operation) left(now time.Time) time.Duration {
	left := min(o.until.Sub(now), o.until.Round(0).Sub(now.Round(0)))
	if at, ok := o.Deadline(); ok {
		left = min(left, at.Sub(now))
	}
	return left
}

var errNoTime = errors.New("there is no time for another attempt")

// wait pauses. It may take longer than it should: then nothing is sent any more, since the server may have forgotten the
// key meanwhile.
func (o *operation) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-o.Done():
		return o.Err()
	}
	if o.left(time.Now()) <= 0 {
		return errNoTime
	}
	return nil
}

// finish notes a final answer.
func (o *operation) finish(res *http.Response) *http.Response {
	o.outcome.Final = true
	if j := o.t.cfg.Journal; j != nil && !o.leadsBack() {
		if err := j.Finish(o.entry.answered(o.outcome, time.Now())); err != nil {
			o.outcome.Unrecorded = fmt.Errorf("httpclient: the answer is not in the journal: %w", err)
		}
	}
	return res
}

// giveUp ends an operation that has no final answer.
func (o *operation) giveUp(res *http.Response, a answer, why error) (*http.Response, error) {
	switch {
	case o.doubt:
		discard(res)
		return nil, &OutcomeUnknown{Outcome: o.outcome, Problem: a.problem.Problem, Err: why}
	case a.err != nil:
		return nil, &NotDone{Outcome: o.outcome, Err: why}
	}
	return res, nil
}

// tell reports an attempt.
func (o *operation) tell(a answer, pause time.Duration, last bool) {
	if o.t.cfg.OnAttempt != nil {
		o.t.cfg.OnAttempt(Attempt{Number: o.outcome.Attempts, Status: a.status, Replayed: a.replayed, Problem: a.problem.Problem,
			Resends: o.resends(), Err: a.err, Pause: pause, Last: last})
	}
}

// cause says what was wrong with an answer.
func (a answer) cause() error {
	switch {
	case a.err != nil:
		return a.err
	case a.garbled != nil:
		return fmt.Errorf("answered %d with an %w", a.status, a.garbled)
	case a.problem.Code != "":
		return fmt.Errorf("answered %d %q", a.status, a.problem.Code)
	}
	return errors.New("answered " + fmt.Sprint(a.status))
}
