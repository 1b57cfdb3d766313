package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
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

// reserved is a step that a run has taken.
var reserved = idempotency.RecordedStep{Name: "reserve", Result: []byte(`"r-1"`)}

// inState brings a record of owner A into a state.
func inState(ctx context.Context, s idempotency.Store, id, state string, lease time.Time) error {
	held := idempotency.Record{ID: id, Version: idempotency.SchemaVersion, Status: idempotency.Processing, Owner: "A", Epoch: t0.UnixMilli(),
		Fingerprint: []byte("print"), Principal: "alice", Endpoint: "POST /x", RequestID: "r", LeaseUntil: lease, ExpiresAt: t0.Add(time.Hour), CreatedAt: t0}
	if state == "none" {
		return nil
	}
	err := s.Claim(ctx, idempotency.Claim{Record: held, Now: t0, Skew: skew})
	state, withStep := strings.CutSuffix(state, ", with a step")
	if withStep {
		err = errors.Join(err, s.Checkpoint(ctx, idempotency.Checkpoint{Held: &held, Step: reserved, Until: t0.Add(time.Hour)}))
	}
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

// sightings are what an operator may have seen of a record of A's: as it is, and not.
func sightings(id string, lease time.Time) (all []*idempotency.Record) {
	for _, owner := range []string{"A", "B"} {
		for _, epoch := range []int64{t0.UnixMilli(), t0.UnixMilli() + 1} {
			for _, steps := range [][]idempotency.RecordedStep{nil, {reserved}} {
				for _, known := range []time.Time{lease, lease.Add(time.Millisecond), idempotency.Orphaned()} {
					all = append(all, &idempotency.Record{ID: id, Status: idempotency.Processing, Owner: owner, Epoch: epoch, LeaseUntil: known, Steps: steps})
				}
				all = append(all, &idempotency.Record{ID: id, Status: idempotency.Released, Owner: owner, Epoch: epoch, Steps: steps})
			}
		}
	}
	return all
}

// resolutions are an operator's writes on a record, at clocks around the end of the lease.
func resolutions(id string, lease time.Time) (ws []idempotency.Resolution) {
	small := &idempotency.Response{Status: 201, Header: http.Header{"Location": {"/x"}}, Body: []byte("{}")}
	for _, seen := range sightings(id, lease) {
		for _, at := range []time.Time{lease.Add(-time.Millisecond), lease, lease.Add(time.Millisecond), lease.Add(48 * time.Hour)} {
			for _, response := range []*idempotency.Response{nil, small} {
				ws = append(ws, idempotency.Resolution{Seen: seen, Owner: "operator", Response: response, At: at, ExpiresAt: t0.Add(30 * time.Hour)})
			}
			if seen.Status == idempotency.Released {
				break // a lease that has ended is no matter of the clock
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
	for _, state := range []string{"none", "processing", "processing, with a step", "orphaned", "orphaned, with a step", "released",
		"released, with a step", "completed", "completed, with a step"} {
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
	// With two responses each, processing: as seen, at three of the clocks; orphaned: its lease as seen, at every clock; both with
	// a step and without. Released: with its step only.
	if n != 9*4*2*(3*4+1)*2 || accepted != 2*(3+3+4+4+1) {
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
	if err := alter(ctx, client, "id", map[string]types.AttributeValue{"status": &types.AttributeValueMemberS{Value: "completed"}}); err != nil {
		t.Fatal(err)
	}
	w, err := idempotency.NewResolution(seen, nil, idempotency.Clocks{Local: t0.Add(time.Hour)}, time.Hour)
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
	w, err := idempotency.NewResolution(seen, &idempotency.Response{Status: 200, Header: http.Header{}, Body: body}, idempotency.Clocks{Local: t0.Add(time.Hour)}, time.Hour)
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
	w, err := idempotency.NewResolution(seen, nil, idempotency.Clocks{Local: t0.Add(time.Hour)}, time.Hour)
	if err := errors.Join(err, server.Inject(dynamofake.Fault{Op: "UpdateItem", Kind: dynamofake.FaultDropAck})); err != nil {
		t.Fatal(err)
	}
	var refused *idempotency.RefusedError
	if err := s.Resolve(ctx, w); !errors.As(err, &refused) || !w.Landed(refused.Record) {
		t.Errorf("%v, want a refusal by the resolution itself", err)
	}
}

// alter changes attributes of an item by hand; one without a value is removed.
func alter(ctx context.Context, client *dynamodb.Client, id string, attributes map[string]types.AttributeValue) error {
	for name, value := range attributes {
		in := &dynamodb.UpdateItemInput{TableName: aws.String(table), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
			UpdateExpression: aws.String("REMOVE #a"), ExpressionAttributeNames: map[string]string{"#a": name}}
		if value != nil {
			in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET #a = :a"), map[string]types.AttributeValue{":a": value}
		}
		if _, err := client.UpdateItem(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// dated is a client whose answers have this Date; none without one.
func dated(t *testing.T, server *dynamofake.Server, date ...string) *dynamodb.Client {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = date
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return dynamodb.NewFromConfig(server.Config(), func(o *dynamodb.Options) { o.BaseEndpoint, o.HTTPClient = &h.URL, h.Client() })
}

const noon = "Mon, 30 Nov 2026 12:00:00 GMT"

// TestUnfinished: a scan finds processing records, released ones with steps, and those that cannot be read whatever their status,
// over several pages, and tells the database's time: F33, F34.
func TestUnfinished(t *testing.T) {
	server, client := newTable(t)
	s, ctx := dynamostore.New(client, table), t.Context()
	for i, state := range []string{"processing", "orphaned", "released", "completed", "completed", "completed", "released", "released, with a step"} {
		if err := inState(ctx, s, fmt.Sprint("id-", i), state, t0); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(alter(ctx, client, "id-4", map[string]types.AttributeValue{"response_status": nil}),
		alter(ctx, client, "id-5", map[string]types.AttributeValue{"status": nil}),
		alter(ctx, client, "id-6", map[string]types.AttributeValue{"v": &types.AttributeValueMemberN{Value: "2"}}))
	if err != nil {
		t.Fatal(err)
	}
	large := &idempotency.Response{Status: 200, Header: http.Header{}, Body: make([]byte, 3<<20)} // its body items fill pages
	rand.NewChaCha8([32]byte{}).Read(large.Body)
	if err := inState(ctx, s, "large", "processing", t0); err != nil {
		t.Fatal(err)
	}
	if err := s.Complete(ctx, idempotency.Completion{Held: &idempotency.Record{ID: "large", Owner: "A"}, Response: large, CompletedAt: t0, ExpiresAt: t0}); err != nil {
		t.Fatal(err)
	}
	found := map[string]idempotency.Status{}
	total, err := dynamostore.Unfinished(ctx, dated(t, server, noon), table, func(r *idempotency.Record, at time.Time) {
		found[r.ID] = r.Status
		if at.Format(http.TimeFormat) != noon {
			t.Errorf("the database's time is %v", at)
		}
	})
	want := map[string]idempotency.Status{"id-0": "processing", "id-1": "processing", "id-4": "completed", "id-5": "", "id-6": "released", "id-7": "released"}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("%s%v", diff, err)
	}
	if total.Items < 14 || total.ReadUnits < 100 {
		t.Errorf("read %+v, want every item counted", total)
	}
}

// TestLook: a look at a record tells the database's time where the answer does, and so does one where there is none.
func TestLook(t *testing.T) {
	server, client := newTable(t)
	s, ctx := dynamostore.New(client, table), t.Context()
	if err := inState(ctx, s, "id", "orphaned", t0); err != nil {
		t.Fatal(err)
	}
	want, err := s.Get(ctx, "id")
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]*idempotency.Record{"id": want, "none": nil} {
		r, at, err := dynamostore.New(dated(t, server, noon), table).Look(ctx, id)
		if err != nil || !cmp.Equal(r, want, cmp.Comparer(time.Time.Equal)) || at.Format(http.TimeFormat) != noon {
			t.Errorf("%s at %v, %v: %+v", id, at, err, r)
		}
		if _, at, err := dynamostore.New(dated(t, server), table).Look(ctx, id); err != nil || !at.IsZero() {
			t.Errorf("%s: an answer without a Date is of %v, %v", id, at, err)
		}
	}
}
