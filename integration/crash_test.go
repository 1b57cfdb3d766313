package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// The README's section "What happens when…" says what these tests show: for each point at which a run can end, what is in
// the table then, and what a retry is answered, at once and when the lease is over, under each orphan policy.

var errDead = errors.New("the process is dead")

// shopfront is a handler that charges at a provider and enlists an order. The provider honours keys; calls counts what
// one that does not would have charged.
type shopfront struct {
	client  *dynamodb.Client
	charges map[string]bool
	calls   int
}

func (s *shopfront) handle(ctx context.Context) (*idempotency.Response, error) {
	s.calls++
	s.charges[idempotency.AttemptFrom(ctx).DeriveKey("charge")] = true
	return paidOrder(ctx)
}

// paidOrder is the response of the operation, and the write that is committed with it.
func paidOrder(ctx context.Context) (*idempotency.Response, error) {
	return &idempotency.Response{Status: 201, Header: http.Header{}, Body: []byte("paid")}, dynamostore.Enlist(ctx, putOrder("1"))
}

// lookUp is the recovery function: it asks the provider for the charge.
func (s *shopfront) lookUp(ctx context.Context) (*idempotency.Response, error) {
	if !s.charges[idempotency.AttemptFrom(ctx).DeriveKey("charge")] {
		return nil, nil
	}
	return paidOrder(ctx)
}

// attempt is what a client is told by a run of the handler; an empty answer where nobody answers.
func (s *shopfront) attempt(t *testing.T, policy idempotency.OrphanPolicy, client dynamostore.Client, run idempotency.RunHandler) string {
	t.Helper()
	c := idempotency.Config{Store: dynamostore.New(client, table), Scope: idempotency.SharedScope, Orphans: policy, Logger: quiet}
	if policy == idempotency.Recover {
		c.Recover = s.lookUp
	}
	guard, err := idempotency.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 28*time.Second)
	defer cancel()
	r := guard.Serve(ctx, orderRequest("k", "1"), run)
	text := fmt.Sprint(r.Status)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") {
		var doc struct{ Code string }
		if err := json.Unmarshal(r.Body, &doc); err != nil {
			t.Fatal(err)
		}
		text += " " + doc.Code
	}
	if r.Header.Get(idempotency.ReplayHeader) == "true" {
		text += " replayed"
	}
	return text
}

// record is what the table says of the operation.
func (s *shopfront) record(t *testing.T) string {
	t.Helper()
	r, err := dynamostore.New(s.client, table).Get(t.Context(), idempotency.RecordID("", nil, "shared", "k"))
	switch {
	case err != nil:
		t.Fatal(err)
	case r == nil:
		return "nothing"
	case r.Status == idempotency.Processing && r.LeaseUntil.Equal(idempotency.Orphaned()):
		return "processing, given up"
	}
	return string(r.Status)
}

// ending is a way for a run to end, and what follows. Under each policy, in this order: Rerun, Refuse, Recover.
type ending struct {
	name   string
	store  func() *hindered                                   // how the calls of the store go; nil: well
	run    func(*shopfront, *hindered) idempotency.RunHandler // nil: the handler as it is
	client string                                             // what the client is told; "": the process is dead
	table  string                                             // what is in the table
	now    string                                             // what a retry is told at once; "": the same as later
	later  [3]string                                          // what a retry is told when the lease is over
	calls  [3]int                                             // of the provider, in the end: what one that ignores keys would charge
}

// dies is a process that dies at its first call of an operation: before the call takes effect, or just after.
func dies(op string, after bool) func() *hindered {
	return func() *hindered {
		dead := false
		die := func(o string, _ int) error {
			if dead = dead || o == op; dead {
				return errDead
			}
			return nil
		}
		if !after {
			return &hindered{before: die}
		}
		return &hindered{after: die, before: func(string, int) error {
			if dead {
				return errDead
			}
			return nil
		}}
	}
}

// away lets all calls of an operation fail, in a process that lives.
func away(op string) func() *hindered {
	return func() *hindered { return &hindered{before: times(op, 1000, errors.New("the database is away"))} }
}

// unheard lets all calls of an operation take effect without an answer.
func unheard(op string) func() *hindered {
	return func() *hindered { return &hindered{after: times(op, 1000, errors.New("the answer is lost"))} }
}

// then runs the handler and then does something else than to return its response.
func then(do func(*hindered, *idempotency.Response) (*idempotency.Response, error)) func(*shopfront, *hindered) idempotency.RunHandler {
	return func(s *shopfront, h *hindered) idempotency.RunHandler {
		return func(ctx context.Context) (*idempotency.Response, error) {
			r, err := s.handle(ctx)
			if err != nil {
				return nil, err
			}
			return do(h, r)
		}
	}
}

var (
	runs      = [3]string{"201", "201", "201"}
	replays   = [3]string{"201 replayed", "201 replayed", "201 replayed"}
	byPolicy  = [3]string{"201", "409 outcome-unknown", "201"}
	oneEach   = [3]int{1, 1, 1}
	afterOne  = [3]int{2, 1, 1} // the first run has charged
	afterNone = [3]int{1, 0, 1} // it has not
)

var endings = []ending{
	{name: "the process dies before the claim, F02", store: dies("PutItem", false), table: "nothing", later: runs, calls: oneEach},
	{name: "the process dies after the claim, F03", store: dies("PutItem", true), table: "processing", now: "409 in-progress", later: byPolicy, calls: afterNone},
	{name: "the process dies after the charge, F07", run: then(func(h *hindered, _ *idempotency.Response) (*idempotency.Response, error) {
		h.before = func(string, int) error { return errDead }
		return nil, errDead
	}), table: "processing", now: "409 in-progress", later: byPolicy, calls: afterOne},
	{name: "the process dies before the completion takes effect, F08", store: dies("TransactWriteItems", false), table: "processing",
		now: "409 in-progress", later: byPolicy, calls: afterOne},
	{name: "the process dies after the completion", store: dies("TransactWriteItems", true), table: "completed", later: replays, calls: oneEach},

	{name: "the handler answers 503", run: then(func(_ *hindered, r *idempotency.Response) (*idempotency.Response, error) {
		r.Status = 503
		return r, nil
	}), client: "503", table: "released", later: runs, calls: [3]int{2, 2, 2}},
	{name: "the handler returns an error, F26", run: then(func(*hindered, *idempotency.Response) (*idempotency.Response, error) {
		return nil, errors.New("no idea what happened")
	}), client: "500 handler-failed", table: "processing, given up", later: byPolicy, calls: afterOne},
	{name: "the handler outlives its context", run: then(func(_ *hindered, r *idempotency.Response) (*idempotency.Response, error) {
		time.Sleep(27 * time.Second)
		return r, nil
	}), client: "503 outcome-unknown", table: "processing, given up", later: byPolicy, calls: afterOne},

	{name: "the claim cannot be written, F60", store: away("PutItem"), client: "503 store-unavailable", table: "nothing", later: runs, calls: oneEach},
	{name: "the claim is never acknowledged, F05", store: unheard("PutItem"), client: "503 store-unavailable", table: "released", later: runs, calls: oneEach},
	{name: "the completion cannot be written, F10", store: away("TransactWriteItems"), client: "503 outcome-unknown", table: "processing",
		now: "409 in-progress", later: byPolicy, calls: afterOne},
	{name: "the completion is never acknowledged, F63", store: unheard("TransactWriteItems"), client: "201", table: "completed", later: replays, calls: oneEach},
	{name: "a completion without enlisted writes cannot be written, F10", store: away("UpdateItem"), run: func(s *shopfront, _ *hindered) idempotency.RunHandler {
		return func(ctx context.Context) (*idempotency.Response, error) {
			s.calls++
			s.charges[idempotency.AttemptFrom(ctx).DeriveKey("charge")] = true
			return &idempotency.Response{Status: 201, Header: http.Header{}, Body: []byte("paid")}, nil
		}
	}, client: "201", table: "processing", now: "409 in-progress", later: byPolicy, calls: afterOne},
}

func TestEndings(t *testing.T) {
	for _, end := range endings {
		for _, policy := range []idempotency.OrphanPolicy{idempotency.Rerun, idempotency.Refuse, idempotency.Recover} {
			t.Run(fmt.Sprint(end.name, "/", policy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { end.check(t, policy) })
			})
		}
	}
}

// check lets one run end and then plays the client that tries again.
func (end ending) check(t *testing.T, policy idempotency.OrphanPolicy) {
	_, client := newTable(t)
	createTable(t, client, orders, "pk")
	s, h := &shopfront{client: client, charges: map[string]bool{}}, &hindered{}
	if end.store != nil {
		h = end.store()
	}
	h.Client, h.calls = client, map[string]int{}
	run := idempotency.RunHandler(s.handle)
	if end.run != nil {
		run = end.run(s, h)
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	if told := s.attempt(t, policy, h, run); end.client != "" {
		want("the client is told", told, end.client)
	}
	want("in the table is", s.record(t), end.table)
	later := end.later[policy]
	if end.now == "" {
		want("a retry at once", s.attempt(t, policy, client, s.handle), later)
	} else {
		want("a retry at once", s.attempt(t, policy, client, s.handle), end.now)
		time.Sleep(31 * time.Second)
		want("a retry when the lease is over", s.attempt(t, policy, client, s.handle), later)
	}
	if later == "201" {
		later = "201 replayed"
	}
	want("the next retry", s.attempt(t, policy, client, s.handle), later)
	if s.calls != end.calls[policy] || len(s.charges) > 1 {
		t.Errorf("%d calls of the provider, want %d; %d charges", s.calls, end.calls[policy], len(s.charges))
	}
}
