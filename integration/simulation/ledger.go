package simulation

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"firstwriter/idempotency"
	"firstwriter/idempotency/storetest"
)

// ledger is what is true of one key. It follows the calls that the database has done, in their order.
type ledger struct {
	n           int
	tenant, key string
	id          string
	record      *idempotency.Record // that stands
	due         int64               // when TTL deletes it, Unix ms; 0: never
	order       int                 // of the record's first request
	sub         string
	holder      *attempt // of the last accepted claim or takeover
	unresolved  bool     // a run's outcome is not known to anybody
	epoch       int64    // the greatest of a run that began
	accepted    []*acceptance
	derived     map[int]string // downstream keys, by order
	stages      stageLog
}

// acceptance is a completion that took effect.
type acceptance struct {
	by       *attempt
	owner    string
	response *idempotency.Response
	expires  time.Time
	business bool // with enlisted writes
}

// verdict is what the database did with a call.
type verdict string

const (
	accepted verdict = "accepted"
	repeated verdict = "confirmed" // a transaction that was sent again under its token
	refused  verdict = "refused"
	theirs   verdict = "refused by a business condition"
	undone   verdict = "not done" // a conflict, or an error
)

// String names a call in the history.
func (c *call) String() string {
	return fmt.Sprintf("attempt %d: call %d, %s %s", c.attempt.n, c.n, c.op.kind, c.target)
}

// writes reports whether a call changes the record: body items are written for a completion or a checkpoint too.
func (c *call) writes() bool {
	return c.op.apply != nil && c.target != "GetItem" && (c.op.kind != completing && c.op.kind != checkpointing || c.target != "PutItem")
}

// verdict reads the server's answer.
func (c *call) verdict(tokens map[string]bool) verdict {
	switch token := c.token(); {
	case c.reply.err != nil:
		return undone
	case c.reply.status == 200 && token != "" && tokens[token]:
		return repeated
	case c.reply.status == 200:
		return accepted
	case c.reply.is("ConditionalCheckFailedException"):
		return refused
	case c.reply.is("TransactionCanceledException"):
		return c.cancelled()
	}
	return undone
}

// cancelled reads the reasons of a cancelled transaction: ours first.
func (c *call) cancelled() verdict {
	_, reasons, _ := bytes.Cut(c.reply.body, []byte("specific reasons ["))
	reasons, _, _ = bytes.Cut(reasons, []byte("]"))
	switch {
	case bytes.HasPrefix(reasons, []byte("ConditionalCheckFailed")):
		return refused
	case bytes.Contains(reasons, []byte("Conflict")):
		return undone
	}
	return theirs
}

// token is a transaction's client request token.
func (c *call) token() string {
	_, after, found := bytes.Cut(c.body, []byte(`"ClientRequestToken":"`))
	if !found {
		return ""
	}
	token, _, _ := bytes.Cut(after, []byte(`"`))
	return string(token)
}

// arrived: the server has done a call. What it did is compared with the specification, and entered.
func (w *world) arrived(c *call) {
	c.state = landed
	l := c.attempt.ledger
	if l.id == "" {
		l.id = c.op.id
	}
	if l.id != c.op.id {
		w.violate("I1", "%v is about another record than other calls with its key", c)
	}
	if !c.writes() {
		w.note("%v: done", c)
		if c.target == "GetItem" && c.op.kind != loading {
			c.standing = &standing{l.record, l.order, l.sub}
		}
		return
	}
	v := c.verdict(w.tokens)
	w.note("%v: %s", c, v)
	if v == accepted {
		if t := c.token(); t != "" {
			w.tokens[t] = true
		}
		w.enter(l, c)
	}
	w.compare(l, c, v)
	if v == refused {
		c.standing = &standing{l.record, l.order, l.sub}
	}
}

// compares reports whether calls are compared with the specification.
func (w *world) compares() bool {
	return w.flaw.Store == nil && w.flaw.Request == nil || w.flaw.Compare
}

// compare holds what the server did against what the write means, and what stands now against what that leaves.
func (w *world) compare(l *ledger, c *call, v verdict) {
	meant, ok := c.op.apply(l.record)
	if w.compares() && (v == accepted && !ok || v == refused && ok) {
		w.violate("S1", "%v is %s; the specification says otherwise", c, v)
	}
	if v != accepted {
		return
	}
	stands, err := w.truth.Get(context.Background(), l.id)
	if err != nil {
		w.violate("S0", "reading the truth: %v", err)
	}
	if l.record = meant; !w.compares() {
		l.record = stands
	}
	l.schedule(w)
	w.sweep()
	if diff := storetest.Diff(l.record, stands); diff != "" && w.compares() {
		w.violate("S2", "after %v: %s", c, diff)
	}
	l.record = stands
}

// schedule notes when TTL deletes the record, which was just written.
func (l *ledger) schedule(w *world) {
	l.due = 0
	if l.record == nil || l.record.ExpiresAt.IsZero() {
		return
	}
	at, now := l.record.ExpiresAt, w.clock()
	if at.Before(now) {
		at = now
	}
	l.due = at.Add(max(0, w.set.ttlDelay)).UnixMilli()
}

// sweep deletes what TTL has deleted.
func (w *world) sweep() {
	now := w.clock()
	for _, l := range w.ledgers {
		if l.record == nil || l.due == 0 || l.due > now.UnixMilli() {
			continue
		}
		w.note("TTL deletes the record of key %d, %s", l.n, l.record.Status)
		if l.record.Status == idempotency.Processing && l.record.LeaseUntil.After(now.Add(w.set.skew)) {
			w.violate("T3", "TTL deletes the record of key %d, whose lease is live", l.n)
		}
		l.record, l.due, l.holder = nil, 0, nil
		l.stages.begin()
		if w.set.policy != idempotency.Refuse {
			l.unresolved = false // a processing record is forgotten long after its lease
		}
	}
}
