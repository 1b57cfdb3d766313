package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"firstwriter/idempotency"
)

// call is one call of a store about one record, and what it means.
type call struct {
	name  string
	id    string
	owner string // who sends it
	do    func(context.Context, idempotency.Store) error
	apply func(*idempotency.Record) (*idempotency.Record, bool)
}

// kind is what a store says to a call.
type kind string

const (
	accepted kind = "accepted"
	refused  kind = "refused"
	business kind = "refused by an enlisted write"
	busy     kind = "kept out"
	unknown  kind = "failed"
)

// result is what a store says to a call, or what it should say.
type result struct {
	kind   kind
	record *idempotency.Record // of a refusal or a read: the record that stands
	after  *idempotency.Record // what the specification leaves behind
	err    error
}

// on is the specification's answer to a call about the record old.
func (c call) on(old *idempotency.Record) result {
	after, ok := c.apply(old)
	if !ok {
		return result{kind: refused, record: old, after: old}
	}
	return result{kind: accepted, after: after}
}

func (p *probe) send(c call) result { return c.send(p.ctx, p.store) }

func (c call) send(ctx context.Context, s idempotency.Store) result {
	err := c.do(ctx, s)
	var refusal *idempotency.RefusedError
	var theirs *idempotency.BusinessError
	switch {
	case err == nil:
		return result{kind: accepted}
	case errors.As(err, &refusal):
		return result{kind: refused, record: refusal.Record, err: err}
	case errors.As(err, &theirs):
		return result{kind: business, err: err}
	case errors.Is(err, idempotency.ErrBusy):
		return result{kind: busy, err: err}
	}
	return result{kind: unknown, err: err}
}

// differs says how a result is not the one that was wanted; "" if it is.
func (r result) differs(want result) string {
	if r.kind != want.kind {
		return fmt.Sprintf("%v; want %v", r, want)
	}
	if diff := Diff(want.record, r.record); diff != "" {
		return "the record that came with the refusal: " + diff
	}
	return ""
}

// String describes a result in an error.
func (r result) String() string {
	switch {
	case r.kind == refused:
		return fmt.Sprintf("refused by %s", describe(r.record))
	case r.err != nil:
		return fmt.Sprintf("%s: %v", r.kind, r.err)
	case r.record != nil:
		return "finds " + describe(r.record)
	}
	return string(r.kind)
}

func describe(r *idempotency.Record) string {
	if r == nil {
		return "no record"
	}
	return fmt.Sprintf("a record %s by %s, epoch %d", r.Status, r.Owner, r.Epoch)
}

// newRecord is the record of an attempt that claims at now.
func newRecord(id, owner string, now time.Time) idempotency.Record {
	return idempotency.Record{ID: id, Version: idempotency.SchemaVersion, Status: idempotency.Processing, Owner: owner,
		Epoch: now.UnixMilli(), Fingerprint: bytes.Repeat([]byte{7}, 34), Principal: "principal of " + id, Endpoint: "POST /payments/{id}",
		RequestID: "request of " + owner, LeaseUntil: now.Add(lease + skew), ExpiresAt: ceilSecond(now.Add(week)), CreatedAt: now}
}

func ceilSecond(t time.Time) time.Time { return t.Add(time.Second - 1).Truncate(time.Second) }

func claim(r idempotency.Record, now time.Time) call {
	w := idempotency.Claim{Record: r, Now: now, Skew: skew}
	return call{"claim by " + r.Owner, r.ID, r.Owner, func(ctx context.Context, s idempotency.Store) error { return s.Claim(ctx, w) }, w.Apply}
}

func takeover(w idempotency.Takeover) call {
	return call{"takeover by " + w.Owner, w.Seen.ID, w.Owner, func(ctx context.Context, s idempotency.Store) error { return s.Takeover(ctx, w) }, w.Apply}
}

func complete(w idempotency.Completion) call {
	return call{"completion by " + w.Held.Owner, w.Held.ID, w.Held.Owner, func(ctx context.Context, s idempotency.Store) error { return s.Complete(ctx, w) }, w.Apply}
}

func release(w idempotency.Release) call {
	return call{"release by " + w.Owner, w.ID, w.Owner, func(ctx context.Context, s idempotency.Store) error { return s.Release(ctx, w) }, w.Apply}
}

func orphan(id, owner string) call { return orphaning(idempotency.Orphaning{ID: id, Owner: owner}) }

func orphaning(w idempotency.Orphaning) call {
	return call{"orphaning by " + w.Owner, w.ID, w.Owner, func(ctx context.Context, s idempotency.Store) error { return s.Orphan(ctx, w) }, w.Apply}
}

func extend(w idempotency.Extension) call {
	return call{"renewal by " + w.Owner, w.ID, w.Owner, func(ctx context.Context, s idempotency.Store) error { return s.Extend(ctx, w) }, w.Apply}
}

func checkpoint(w idempotency.Checkpoint) call {
	return call{fmt.Sprintf("checkpoint %d by %s", len(w.Held.Steps), w.Held.Owner), w.Held.ID, w.Held.Owner, func(ctx context.Context, s idempotency.Store) error { return s.Checkpoint(ctx, w) }, w.Apply}
}

func resolve(r resolver, w idempotency.Resolution) call {
	return call{"resolution by " + w.Owner, w.Seen.ID, w.Owner, func(ctx context.Context, _ idempotency.Store) error { return r.Resolve(ctx, w) }, w.Apply}
}

// response is what an owner records.
func response(owner string, size int) *idempotency.Response {
	body := bytes.Repeat([]byte("."), size)
	copy(body, "response of "+owner)
	return &idempotency.Response{Status: 201, Header: http.Header{"Content-Type": {"application/json"}, "X-Owner": {owner}}, Body: body}
}

// completion records a response of owner at now.
func completion(id, owner string, now time.Time) idempotency.Completion {
	return idempotency.Completion{Held: &idempotency.Record{ID: id, Owner: owner}, Response: response(owner, 100),
		CompletedAt: now.Truncate(time.Millisecond), ExpiresAt: ceilSecond(now.Add(retention))}
}
