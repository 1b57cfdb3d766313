package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// resolver is a store that operators can use.
type resolver interface {
	idempotency.Store
	Resolve(context.Context, idempotency.Resolution) error
}

// inState brings a record of owner A into a state.
func inState(ctx context.Context, s idempotency.Store, id, state string, lease time.Time) error {
	held := idempotency.Record{ID: id, Version: idempotency.SchemaVersion, Status: idempotency.Processing, Owner: "A", Epoch: t0.UnixMilli(),
		Fingerprint: []byte("print"), Principal: "alice", Endpoint: "POST /x", RequestID: "r", LeaseUntil: lease, ExpiresAt: t0.Add(time.Hour), CreatedAt: t0}
	if state == "none" {
		return nil
	}
	err := s.Claim(ctx, idempotency.Claim{Record: held, Now: t0, Skew: skew})
	switch state {
	case "orphaned":
		return errors.Join(err, s.Orphan(ctx, idempotency.Orphaning{ID: id, Owner: "A"}))
	case "released":
		return errors.Join(err, s.Release(ctx, idempotency.Release{ID: id, Owner: "A", ExpiresAt: t0.Add(time.Hour)}))
	case "completed":
		return errors.Join(err, s.Complete(ctx, idempotency.Completion{Held: &held, Response: &idempotency.Response{Status: 201, Header: http.Header{"X": {"1"}}},
			CompletedAt: t0, ExpiresAt: t0.Add(time.Hour)}))
	}
	return err
}

// resolutions are an operator's writes on a record: as it was seen and not, at clocks around the end of the lease.
func resolutions(id string, lease time.Time) (ws []idempotency.Resolution) {
	small := &idempotency.Response{Status: 201, Header: http.Header{"Location": {"/x"}}, Body: []byte("{}")}
	for _, owner := range []string{"A", "B"} {
		for _, epoch := range []int64{t0.UnixMilli(), t0.UnixMilli() + 1} {
			for _, known := range []time.Time{lease, lease.Add(time.Millisecond), idempotency.Orphaned()} {
				for _, at := range []time.Time{lease.Add(-time.Millisecond), lease, lease.Add(time.Millisecond), lease.Add(48 * time.Hour)} {
					for _, response := range []*idempotency.Response{nil, small} {
						ws = append(ws, idempotency.Resolution{Owner: "operator", Response: response, At: at, ExpiresAt: t0.Add(30 * time.Hour),
							Seen: &idempotency.Record{ID: id, Status: idempotency.Processing, Owner: owner, Epoch: epoch, LeaseUntil: known}})
					}
				}
			}
		}
	}
	return ws
}

// TestResolutionsAgree runs every resolution on every state of a record, on DynamoDB and on the memory store, which
// runs the specification itself. Answers and records must be the same.
func TestResolutionsAgree(t *testing.T) {
	_, client := newTable(t)
	memory, remote := &idempotency.Memory{}, dynamostore.New(client, table)
	lease, n, accepted := t0.Add(30*time.Second), 0, 0
	for _, state := range []string{"none", "processing", "orphaned", "released", "completed"} {
		for i := range resolutions("", lease) {
			n++
			id := fmt.Sprint("id-", n)
			w := resolutions(id, lease)[i]
			var answers [2]string
			var records [2]*idempotency.Record
			for j, s := range []resolver{memory, remote} {
				if err := inState(t.Context(), s, id, state, lease); err != nil {
					t.Fatal(err)
				}
				answers[j] = resolved(s.Resolve(t.Context(), w))
				var err error
				if records[j], err = s.Get(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
				t.Errorf("%s, %+v: (-memory +dynamodb)\n%s", state, w, diff)
			}
			if diff := cmp.Diff(records[0], records[1], cmp.Comparer(time.Time.Equal)); diff != "" {
				t.Errorf("%s, %+v: (-memory +dynamodb)\n%s", state, w, diff)
			}
			if answers[0] == "accepted" {
				accepted++
			}
		}
	}
	// Processing: as seen, at three of the clocks. Orphaned: its lease as seen, at every clock. Both with two responses.
	if n != 480 || accepted != 2*(3+4) {
		t.Errorf("%d of %d combinations were accepted", accepted, n)
	}
}

// resolved makes two stores' errors comparable.
func resolved(err error) string {
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

// TestCompletedIsFinal: a completed item is left alone even where it still has a lease, which no release of this code leaves.
func TestCompletedIsFinal(t *testing.T) {
	_, client := newTable(t)
	s, ctx := dynamostore.New(client, table), t.Context()
	if err := inState(ctx, s, "id", "orphaned", t0); err != nil {
		t.Fatal(err)
	}
	seen, err := s.Get(ctx, "id")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(table), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "id"}},
		UpdateExpression: aws.String("SET #status = :completed"), ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":completed": &types.AttributeValueMemberS{Value: "completed"}}}); err != nil {
		t.Fatal(err)
	}
	w, err := idempotency.NewResolution(seen, nil, t0.Add(time.Minute), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Resolve(ctx, w); !errors.Is(err, idempotency.ErrRefused) {
		t.Errorf("%v, want it refused", err)
	}
}

// TestResolveWithALargeResponse: the response goes to body items that no run writes, so that an old owner which is
// alive after all can damage nothing: F11, F31.
func TestResolveWithALargeResponse(t *testing.T) {
	_, client := newTable(t)
	s, ctx := dynamostore.New(client, table), t.Context()
	if err := inState(ctx, s, "id", "orphaned", t0); err != nil {
		t.Fatal(err)
	}
	seen, err := s.Get(ctx, "id")
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 900_000) // three items, since it cannot be compressed
	rand.NewChaCha8([32]byte{}).Read(body)
	w, err := idempotency.NewResolution(seen, &idempotency.Response{Status: 200, Header: http.Header{}, Body: body}, t0.Add(time.Minute), time.Hour)
	if err := errors.Join(err, s.Resolve(ctx, w)); err != nil {
		t.Fatal(err)
	}
	late := idempotency.Completion{Held: seen, Response: &idempotency.Response{Status: 200, Header: http.Header{}, Body: bytes.Repeat([]byte("late"), 300_000)},
		CompletedAt: t0, ExpiresAt: t0.Add(time.Hour)}
	if err := s.Complete(ctx, late); !errors.Is(err, idempotency.ErrRefused) {
		t.Errorf("the old owner's completion: %v, want it fenced", err)
	}
	r, err := s.Get(ctx, "id")
	if err := errors.Join(err, s.LoadBody(ctx, r)); err != nil || !bytes.Equal(r.Response.Body, body) {
		t.Errorf("the resolution's body cannot be read back: %v", err)
	}
}

// TestResolveAcknowledgementLost: the SDK sends the write again, which is refused by its own first one.
func TestResolveAcknowledgementLost(t *testing.T) {
	server, client := newTable(t)
	s, ctx := dynamostore.New(client, table), t.Context()
	if err := inState(ctx, s, "id", "orphaned", t0); err != nil {
		t.Fatal(err)
	}
	seen, err := s.Get(ctx, "id")
	if err != nil {
		t.Fatal(err)
	}
	w, err := idempotency.NewResolution(seen, nil, t0.Add(time.Minute), time.Hour)
	if err := errors.Join(err, server.Inject(dynamofake.Fault{Op: "UpdateItem", Kind: dynamofake.FaultDropAck})); err != nil {
		t.Fatal(err)
	}
	var refused *idempotency.RefusedError
	if err := s.Resolve(ctx, w); !errors.As(err, &refused) || !w.Landed(refused.Record) {
		t.Errorf("%v, want a refusal by the resolution itself", err)
	}
}

// TestUnfinished: a scan finds processing records alone, over several pages.
func TestUnfinished(t *testing.T) {
	_, client := newTable(t)
	s, ctx := dynamostore.New(client, table), t.Context()
	for i, state := range []string{"processing", "orphaned", "released", "completed"} {
		if err := inState(ctx, s, fmt.Sprint("id-", i), state, t0); err != nil {
			t.Fatal(err)
		}
	}
	large := &idempotency.Response{Status: 200, Header: http.Header{}, Body: make([]byte, 3<<20)} // its body items fill pages
	rand.NewChaCha8([32]byte{}).Read(large.Body)
	if err := inState(ctx, s, "large", "processing", t0); err != nil {
		t.Fatal(err)
	}
	if err := s.Complete(ctx, idempotency.Completion{Held: &idempotency.Record{ID: "large", Owner: "A"}, Response: large, CompletedAt: t0, ExpiresAt: t0}); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	total, err := dynamostore.Unfinished(ctx, client, table, func(r *idempotency.Record) { found[r.ID] = true })
	if diff := cmp.Diff(map[string]bool{"id-0": true, "id-1": true}, found); diff != "" || err != nil {
		t.Errorf("%s%v", diff, err)
	}
	if total.Items < 10 || total.ReadUnits < 100 {
		t.Errorf("read %+v, want every item counted", total)
	}
}
