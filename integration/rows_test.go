package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// hindered is a client whose calls fail as a test says, before they are sent or after.
type hindered struct {
	*dynamodb.Client
	before, after func(op string, n int) error // nil: no error
	calls         map[string]int
}

func (h *hindered) do(op string, send func() error) error {
	h.calls[op]++
	if h.before != nil {
		if err := h.before(op, h.calls[op]); err != nil {
			return err
		}
	}
	if err := send(); err != nil || h.after == nil {
		return err
	}
	return h.after(op, h.calls[op])
}

func (h *hindered) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (out *dynamodb.PutItemOutput, err error) {
	err = h.do("PutItem", func() error { out, err = h.Client.PutItem(ctx, in, o...); return err })
	return out, err
}

func (h *hindered) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (out *dynamodb.UpdateItemOutput, err error) {
	err = h.do("UpdateItem", func() error { out, err = h.Client.UpdateItem(ctx, in, o...); return err })
	return out, err
}

func (h *hindered) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (out *dynamodb.TransactWriteItemsOutput, err error) {
	err = h.do("TransactWriteItems", func() error { out, err = h.Client.TransactWriteItems(ctx, in, o...); return err })
	return out, err
}

// hinder lets an endpoint's calls fail.
func (e *endpoint) hinder(h *hindered) {
	e.t.Helper()
	h.Client, h.calls = e.client, map[string]int{}
	guard, err := idempotency.New(idempotency.Config{Store: dynamostore.New(h, table), Scope: idempotency.SharedScope, Logger: quiet})
	if err != nil {
		e.t.Fatal(err)
	}
	e.guard = guard
}

// times lets the first n calls of an operation fail.
func times(op string, n int, err error) func(string, int) error {
	return func(o string, i int) error {
		if o == op && i <= n {
			return err
		}
		return nil
	}
}

var errOpen = &types.TransactionConflictException{Message: aws.String("Transaction is ongoing for the item")}

// TestConflicts: an open transaction on the item keeps a single write out. The write is tried again, briefly; then the
// record is read, and decides: F90.
func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  func(string, int) error
		earlier int // status of an earlier attempt; 0: none
		status  int
		text    string
		final   int
	}{
		{"claim, for a moment", times("PutItem", 3, errOpen), 0, 201, "ok", 201},
		{"claim, for long, no record", times("PutItem", 1000, errOpen), 0, 503, "store-unavailable", 201},
		{"claim, for long, a completed record", times("PutItem", 1000, errOpen), 201, 201, "ok", 201},
		{"takeover, for a moment", times("UpdateItem", 3, errOpen), 503, 201, "ok", 201},
		{"takeover, for long", times("UpdateItem", 1000, errOpen), 503, 503, "store-unavailable", 201},
		{"F70 write in another Region", times("PutItem", 2, &types.ReplicatedWriteConflictException{}), 0, 201, "ok", 201},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEndpoint(t)
				if c.earlier != 0 {
					e.guard.Serve(t.Context(), orderRequest("k", "1"), func(context.Context) (*idempotency.Response, error) {
						return &idempotency.Response{Status: c.earlier, Header: http.Header{}, Body: e.body}, nil
					})
				}
				free := e.guard
				e.hinder(&hindered{before: c.before})
				r := e.serve("k", "1")
				e.want("first", r, c.status, r.Header.Get(idempotency.ReplayHeader) != "", c.text)
				e.guard = free
				r = e.serve("k", "1")
				e.want("final", r, c.final, r.Header.Get(idempotency.ReplayHeader) != "", "ok")
			})
		})
	}
}

// TestTokenMismatch: should the service take an unanswered transaction's repetition for another one, the record tells what
// happened: F64.
func TestTokenMismatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(t)
		e.hinder(&hindered{after: times("TransactWriteItems", 1, &types.IdempotentParameterMismatchException{})})
		e.want("landed, and told as a mismatch", e.serve("k", "1"), 201, false, "ok")
		e.want("replay", e.serve("k", "1"), 201, true, "ok")
		if n := e.orders(); n != 1 {
			t.Errorf("%d orders", n)
		}
	})
}

// TestOneKeyHammered: each duplicate costs one write unit and one call: F59.
func TestOneKeyHammered(t *testing.T) {
	e := newEndpoint(t)
	e.body = make([]byte, 100_000)
	e.serve("k", "1")
	e.server.Reset()
	for range 200 {
		e.want("mismatch", e.serve("k", "2"), 422, false, "key-reused")
	}
	if s := e.server.Stats(); s.Calls["PutItem"] != 200 || len(s.Calls) != 1 || s.WriteUnits != 200 {
		t.Errorf("%v, %v write units; want 200 of each", s.Calls, s.WriteUnits)
	}
}

// TestUnitsOfTime: lease and epoch are milliseconds, the TTL attribute is seconds, as numbers: F18, F24.
func TestUnitsOfTime(t *testing.T) {
	e := newEndpoint(t)
	e.guard.Serve(t.Context(), orderRequest("k", "1"), func(ctx context.Context) (*idempotency.Response, error) {
		out, err := e.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true),
			Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: idempotency.AttemptFrom(ctx).ID()}}})
		if err != nil {
			return nil, err
		}
		now := time.Now()
		for name, want := range map[string]int64{"lease_until": now.UnixMilli() + 32_000, "epoch": now.UnixMilli(), "created_at": now.UnixMilli(), "expires_at": now.Unix() + 7*24*3600} {
			n, ok := out.Item[name].(*types.AttributeValueMemberN)
			var got int64
			if ok {
				fmt.Sscan(n.Value, &got)
			}
			if got < want-5000 || got > want+5000 {
				t.Errorf("%s is %v, want about %d", name, out.Item[name], want)
			}
		}
		return &idempotency.Response{Status: 201}, nil
	})
}

// TestRecordLostInARestore: a restored table lacks the newest records. The request runs again, and what protects the
// effect then is the business condition beside it: F77.
func TestRecordLostInARestore(t *testing.T) {
	e := newEndpoint(t)
	e.want("first", e.serve("k", "1"), 201, false, "ok")
	out, err := e.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table)})
	if err != nil || out.Count != 1 {
		t.Fatalf("%v, %v", out, err)
	}
	if _, err := e.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table),
		Key: map[string]types.AttributeValue{"id": out.Items[0]["id"]}}); err != nil {
		t.Fatal(err)
	}
	e.want("after the restore", e.serve("k", "1"), 409, false, "exists")
	if e.runs != 2 || e.orders() != 1 {
		t.Errorf("%d runs, %d orders", e.runs, e.orders())
	}
}

// TestNoTableNamed: what can be seen to be wrong is refused at construction: F61.
func TestNoTableNamed(t *testing.T) {
	_, client := newTable(t)
	for what, construct := range map[string]func(){
		"no table":  func() { dynamostore.New(client, "") },
		"no client": func() { dynamostore.New(nil, table) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", what)
				}
			}()
			construct()
		}()
	}
	if err := dynamostore.Enlist(t.Context()); !errors.Is(err, dynamostore.ErrUnguarded) {
		t.Errorf("enlisting without an attempt: %v", err)
	}
}
