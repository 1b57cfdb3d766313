package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"firstwriter/idempotency"
)

// attempt sends the operation once and reads the answer.
func (o *operation) attempt() (*http.Response, answer) {
	o.conns.Store(0)
	body, err := o.body.next()
	if err != nil {
		return nil, answer{err: fmt.Errorf("read the request's body: %w", err), unsent: true}
	}
	o.outcome.Attempts++
	o.outcome.Status, o.outcome.Replayed = 0, false
	limit := o.limit()
	req := o.req.WithContext(limit.ctx)
	req.Header, req.Body, req.GetBody, req.ContentLength = o.header, body, o.body.again, o.body.length
	res, err := o.t.cfg.Base.RoundTrip(req)
	switch {
	case err != nil:
	case res.StatusCode < 200 || res.StatusCode > 999: // net/http passes on 101, and all that it can read as a number
		err = fmt.Errorf("%w: %d", errNoStatus, res.StatusCode)
		if res.Body != nil {
			_ = res.Body.Close() // unread: after a 101 it has no end
		}
	default:
		res.Request = req
		err = o.answer.take(res, o.t.cfg.MaxAnswer, limit)
	}
	o.outcome.Resends += o.resends()
	if err != nil {
		return nil, o.unanswered(err, limit)
	}
	return res, o.answered(res)
}

var errNoStatus = errors.New("the answer has a status that ends no request")

// resends is how often net/http has sent the current attempt again.
func (o *operation) resends() int { return int(max(0, o.conns.Load()-1)) }

// answered is what an answer says.
func (o *operation) answered(res *http.Response) answer {
	a := answer{status: res.StatusCode, replayed: res.Header.Get(idempotency.ReplayHeader) == "true", after: retryAfter(res.Header, time.Now())}
	o.outcome.Status, o.outcome.Replayed = a.status, a.replayed
	if a.status >= 400 {
		a.problem, a.garbled = parseProblem(res.Header, o.answer.text)
	}
	return a
}

// unanswered is an attempt that has no answer. Only net/http's own transport is known to tell of every connection; of
// others an error in dialing is proof that nothing was sent.
func (o *operation) unanswered(err error, b bound) answer {
	var op *net.OpError
	dialing := errors.As(err, &op) && op.Op == "dial"
	if b.cancel != nil && b.ctx.Err() != nil && o.Err() == nil {
		err = fmt.Errorf("no whole answer within %v: %w", b.after, os.ErrDeadlineExceeded)
	}
	b.end()
	return answer{err: err, unsent: o.conns.Load() == 0 && (o.t.traced || dialing)}
}

// bound is the time limit of one attempt.
type bound struct {
	ctx    context.Context
	after  time.Duration
	timer  *time.Timer
	cancel func() // nil: the caller's context ends no later, and is the limit
}

func (o *operation) limit() bound {
	now := time.Now()
	after := max(0, min(o.t.cfg.AttemptTimeout, o.left(now)))
	if at, ok := o.Deadline(); ok && at.Sub(now) <= after { // what is left is the caller's
		return bound{ctx: o.traced}
	}
	ctx, cancel := context.WithCancel(o.traced)
	return bound{ctx, after, time.AfterFunc(after, cancel), cancel}
}

// lift takes the limit off an answer that is handed on as a stream. It reports false if that comes too late.
func (b bound) lift() bool { return b.cancel == nil || b.timer.Stop() }

// end frees what the limit holds.
func (b bound) end() {
	if b.cancel != nil {
		b.timer.Stop()
		b.cancel()
	}
}
