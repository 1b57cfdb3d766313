package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/integration/dynamofake"
)

const (
	table = "idempotency"
	skew  = 2 * time.Second
)

var t0 = time.UnixMilli(1_800_000_000_000)

// newTable starts a database with an idempotency table.
func newTable(t testing.TB) (*dynamofake.Server, *dynamodb.Client) {
	t.Helper()
	server, client := dynamofake.Start(t)
	createTable(t, client, table, "id")
	server.Reset()
	return server, client
}

func createTable(t testing.TB, client *dynamodb.Client, name, key string) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}}})
	if err != nil {
		t.Fatal(err)
	}
}

// write is one write of the protocol, on any store.
type write struct {
	name string
	do   func(context.Context, idempotency.Store) error
}

func claim(owner string, now, lease, expires time.Time, id string) write {
	r := idempotency.Record{ID: id, Version: idempotency.SchemaVersion, Status: idempotency.Processing, Owner: owner, Epoch: now.UnixMilli(),
		Fingerprint: []byte("print"), Principal: "alice", Endpoint: "POST /x", RequestID: "r", LeaseUntil: lease, ExpiresAt: expires, CreatedAt: now}
	return write{"claim", func(ctx context.Context, s idempotency.Store) error {
		return s.Claim(ctx, idempotency.Claim{Record: r, Now: now, Skew: skew})
	}}
}

func takeover(owner string, seen idempotency.Record, expires time.Time) write {
	return write{"takeover", func(ctx context.Context, s idempotency.Store) error {
		return s.Takeover(ctx, idempotency.Takeover{Seen: &seen, Owner: owner, Epoch: seen.Epoch + 1, LeaseUntil: t0.Add(time.Hour), ExpiresAt: expires})
	}}
}

func complete(owner, id string) write {
	return write{"complete", func(ctx context.Context, s idempotency.Store) error {
		return s.Complete(ctx, idempotency.Completion{Held: &idempotency.Record{ID: id, Owner: owner}, CompletedAt: t0, ExpiresAt: t0.Add(24 * time.Hour),
			Response: &idempotency.Response{Status: 201, Header: http.Header{"Location": {"/x"}}, Body: []byte("{}")}})
	}}
}

func release(owner, id string) write {
	return write{"release", func(ctx context.Context, s idempotency.Store) error {
		return s.Release(ctx, idempotency.Release{ID: id, Owner: owner, ExpiresAt: t0.Add(24 * time.Hour)})
	}}
}

func orphan(owner, id string) write {
	return write{"orphan", func(ctx context.Context, s idempotency.Store) error {
		return s.Orphan(ctx, idempotency.Orphaning{ID: id, Owner: owner})
	}}
}

func extend(owner, id string, known time.Time, expires time.Time) write {
	return write{"extend", func(ctx context.Context, s idempotency.Store) error {
		return s.Extend(ctx, idempotency.Extension{ID: id, Owner: owner, Known: known, LeaseUntil: t0.Add(time.Hour), ExpiresAt: expires})
	}}
}

// TestConditionsAgree runs every write on every state of a record, at clocks around every boundary, on DynamoDB and on
// the memory store, which runs the specification itself. Answers and records must be the same.
func TestConditionsAgree(t *testing.T) {
	_, client := newTable(t)
	remote := dynamostore.New(client, table)
	n := 0
	for state, history := range states() {
		for _, w := range writes() {
			n++
			id := fmt.Sprint("id-", n)
			memory := &idempotency.Memory{}
			for _, earlier := range history(id) {
				if err := errors.Join(earlier.do(t.Context(), memory), earlier.do(t.Context(), remote)); err != nil {
					t.Fatalf("%s: %v", state, err)
				}
			}
			last := w(id)
			want, got := last.do(t.Context(), memory), last.do(t.Context(), remote)
			if diff := cmp.Diff(outcome(want), outcome(got)); diff != "" {
				t.Errorf("%s, %s: (-memory +dynamodb)\n%s", state, last.name, diff)
			}
			a, errA := memory.Get(t.Context(), id)
			b, errB := remote.Get(t.Context(), id)
			if diff := cmp.Diff(a, b, cmp.Comparer(time.Time.Equal)); diff != "" || errA != nil || errB != nil {
				t.Errorf("%s, %s: (-memory +dynamodb)\n%s%v %v", state, last.name, diff, errA, errB)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d combinations", n)
	}
}

// outcome makes two stores' errors comparable.
func outcome(err error) string {
	var refused *idempotency.RefusedError
	switch {
	case err == nil:
		return "accepted"
	case errors.As(err, &refused) && refused.Record == nil:
		return "refused, no record"
	case errors.As(err, &refused):
		return fmt.Sprintf("refused by %s of %s, epoch %d", refused.Record.Status, refused.Record.Owner, refused.Record.Epoch)
	}
	return err.Error()
}

// states are ways to come to each state of a record.
func states() map[string]func(id string) []write {
	lease, week := t0.Add(30*time.Second), t0.Add(7*24*time.Hour)
	first := func(id string) write { return claim("A", t0, lease, week, id) }
	return map[string]func(id string) []write{
		"none":                      func(string) []write { return nil },
		"processing":                func(id string) []write { return []write{first(id)} },
		"processing, never expires": func(id string) []write { return []write{claim("A", t0, lease, time.Time{}, id)} },
		"processing, expired":       func(id string) []write { return []write{claim("A", t0, lease, t0, id)} },
		"processing, mine":          func(id string) []write { return []write{claim("me", t0, lease, week, id)} },
		"orphaned by me":            func(id string) []write { return []write{claim("me", t0, lease, week, id), orphan("me", id)} },
		"orphaned":                  func(id string) []write { return []write{first(id), orphan("A", id)} },
		"released":                  func(id string) []write { return []write{first(id), release("A", id)} },
		"released by me":            func(id string) []write { return []write{claim("me", t0, lease, week, id), release("me", id)} },
		"completed":                 func(id string) []write { return []write{first(id), complete("A", id)} },
		"completed by me":           func(id string) []write { return []write{claim("me", t0, lease, week, id), complete("me", id)} },
		"taken over by me": func(id string) []write {
			return []write{first(id), takeover("me", idempotency.Record{ID: id, Owner: "A", Epoch: t0.UnixMilli(), Status: idempotency.Processing, LeaseUntil: lease}, week)}
		},
	}
}

// writes are what an attempt may send, with clocks around the expiry (a day after t0) and its margin, and takeovers of
// records that are as seen and that are not.
func writes() (ws []func(id string) write) {
	for _, now := range []time.Duration{0, 24 * time.Hour, 24*time.Hour + skew - time.Second, 24*time.Hour + skew - time.Millisecond,
		24*time.Hour + skew, 24*time.Hour + skew + time.Millisecond, 8 * 24 * time.Hour} {
		ws = append(ws, func(id string) write {
			return claim("me", t0.Add(now), t0.Add(now+time.Minute), t0.Add(20*24*time.Hour), id)
		})
	}
	for _, owner := range []string{"A", "me", "other"} {
		for _, status := range []idempotency.Status{idempotency.Processing, idempotency.Released} {
			for _, epoch := range []int64{t0.UnixMilli(), t0.UnixMilli() + 1} {
				for _, lease := range []time.Time{t0.Add(30 * time.Second), t0.Add(30*time.Second + time.Millisecond), idempotency.Orphaned()} {
					for _, expires := range []time.Time{{}, t0.Add(time.Hour)} {
						ws = append(ws, func(id string) write {
							return takeover("me", idempotency.Record{ID: id, Owner: owner, Epoch: epoch, Status: status, LeaseUntil: lease}, expires)
						})
					}
				}
			}
		}
	}
	for _, known := range []time.Time{t0.Add(30 * time.Second), t0.Add(30*time.Second + time.Millisecond), t0.Add(time.Hour), idempotency.Orphaned()} {
		for _, expires := range []time.Time{{}, t0.Add(2 * time.Hour)} {
			ws = append(ws, func(id string) write { return extend("me", id, known, expires) })
		}
	}
	return append(ws,
		func(id string) write { return complete("me", id) },
		func(id string) write { return release("me", id) },
		func(id string) write { return orphan("me", id) })
}

// TestUnknownVersionsAreLeftAlone: F33, with the item of a later release in the table.
func TestUnknownVersionsAreLeftAlone(t *testing.T) {
	_, client := newTable(t)
	s := dynamostore.New(client, table)
	later := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "id"}, "v": &types.AttributeValueMemberN{Value: "99"},
		"status": &types.AttributeValueMemberS{Value: "completed"}, "expires_at": &types.AttributeValueMemberN{Value: "1"}}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: later}); err != nil {
		t.Fatal(err)
	}
	var refused *idempotency.RefusedError
	err := claim("me", t0, t0.Add(time.Minute), t0.Add(time.Hour), "id").do(t.Context(), s)
	if !errors.As(err, &refused) || refused.Record.Version != 99 {
		t.Errorf("claim over a later release's record: %v", err)
	}
	if r, err := s.Get(t.Context(), "id"); err != nil || r.Version != 99 {
		t.Errorf("then %+v, %v", r, err)
	}
}
