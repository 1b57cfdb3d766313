package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

// checkpoint is sent by an owner that knows of so many steps.
func checkpoint(owner, id string, known, size int) write {
	held := &idempotency.Record{ID: id, Owner: owner}
	for n := range known {
		held.Steps = append(held.Steps, idempotency.RecordedStep{Name: fmt.Sprint("step-", n), Result: []byte("1")})
	}
	step := idempotency.RecordedStep{Name: fmt.Sprint("step-", known), Result: fmt.Appendf(nil, `"%s"`, strings.Repeat("x", size))}
	return write{fmt.Sprintf("checkpoint %d of %s with %d bytes", known, owner, size), func(ctx context.Context, s idempotency.Store) error {
		return s.Checkpoint(ctx, idempotency.Checkpoint{Held: held, Step: step, Until: t0.Add(24 * time.Hour)})
	}}
}

// TestCheckpointsAgree sends every checkpoint to a record in every state, with no step to two, on DynamoDB and on the memory
// store. It is accepted exactly where its owner holds the claim and knows every step: F07, F11, F91.
func TestCheckpointsAgree(t *testing.T) {
	_, client := newTable(t)
	remote := dynamostore.New(client, table)
	n, accepted := 0, 0
	for state, history := range states() {
		for taken := range 3 {
			for _, owner := range []string{"A", "me", "other"} {
				for known := range 4 {
					n++
					id := fmt.Sprint("id-", n)
					memory := &idempotency.Memory{}
					before, ok := bring(t, memory, remote, id, history(id), taken)
					if !ok {
						continue // the state's own last write knows of no steps
					}
					w := checkpoint(owner, id, known, []int{3, 3000}[n%2])
					want := "accepted"
					if before == nil || before.Owner != owner || before.Status != idempotency.Processing || known != len(before.Steps) {
						want = outcome(&idempotency.RefusedError{Record: before})
					}
					what := fmt.Sprintf("%s with %d steps, %s", state, taken, w.name)
					for where, s := range map[string]idempotency.Store{"memory": memory, "DynamoDB": remote} {
						if got := outcome(w.do(t.Context(), s)); got != want {
							t.Errorf("%s on %s: %s, want %s", what, where, got, want)
						}
					}
					if want == "accepted" {
						accepted++
					}
					sameSteps(t, what, id, memory, remote)
				}
			}
		}
	}
	if n < 400 || accepted < 15 {
		t.Errorf("only %d combinations, %d accepted", n, accepted)
	}
}

// bring brings a record into a state on both stores: its claim, steps of the claim's owner, and the rest of its history.
func bring(t *testing.T, memory, remote idempotency.Store, id string, history []write, taken int) (before *idempotency.Record, ok bool) {
	t.Helper()
	for i, w := range history {
		if err := errors.Join(w.do(t.Context(), memory), w.do(t.Context(), remote)); errors.Is(err, idempotency.ErrRefused) && taken > 0 {
			return nil, false
		} else if err != nil {
			t.Fatal(err)
		}
		for n := 0; i == 0 && n < taken; n++ {
			r, _ := memory.Get(t.Context(), id)
			c := checkpoint(r.Owner, id, n, 3)
			if err := errors.Join(c.do(t.Context(), memory), c.do(t.Context(), remote)); err != nil {
				t.Fatal(err)
			}
		}
	}
	before, err := memory.Get(t.Context(), id)
	return before, err == nil
}

// sameSteps compares what the two stores hold, with all results loaded.
func sameSteps(t *testing.T, what, id string, memory, remote idempotency.Store) {
	t.Helper()
	a, errA := memory.Get(t.Context(), id)
	b, errB := remote.Get(t.Context(), id)
	if b != nil {
		for i := range b.Steps {
			errB = errors.Join(errB, remote.LoadStep(t.Context(), b, i))
			b.Steps[i].Apart = idempotency.StepItems{}
		}
	}
	if diff := cmp.Diff(a, b, cmp.Comparer(time.Time.Equal)); diff != "" || errA != nil || errB != nil {
		t.Errorf("%s: (-memory +dynamodb)\n%s%v %v", what, diff, errA, errB)
	}
}

// TestTakeoversSeeSteps: a processing record is taken over only by one that has seen its last step; a released one has
// none that comes late: F07, F98.
func TestTakeoversSeeSteps(t *testing.T) {
	_, client := newTable(t)
	for where, s := range map[string]idempotency.Store{"memory": &idempotency.Memory{}, "DynamoDB": dynamostore.New(client, table)} {
		for taken := range 3 {
			for known := range 3 {
				for _, released := range []bool{false, true} {
					id := fmt.Sprint(taken, known, released)
					history := []write{claim("A", t0, t0.Add(time.Minute), t0.Add(time.Hour), id)}
					for n := range taken {
						history = append(history, checkpoint("A", id, n, 3))
					}
					if released {
						history = append(history, release("A", id))
					}
					for _, w := range history {
						if err := w.do(t.Context(), s); err != nil {
							t.Fatal(err)
						}
					}
					seen, err := s.Get(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					seen.Steps = make([]idempotency.RecordedStep, known)
					err = takeover("me", *seen, time.Time{}).do(t.Context(), s)
					if accepted := err == nil; accepted != (released || known == taken) {
						t.Errorf("%s: %d steps, %d seen, released %v: %v", where, taken, known, released, err)
					}
				}
			}
		}
	}
}
