package idempotency

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

type charge struct{ ID string }

// TestStepsRunOnce: a step whose result was recorded never runs again, wherever an earlier attempt ended: F07, F08.
func TestStepsRunOnce(t *testing.T) {
	x := newTrial(t, nil)
	runs := map[string]int{}
	keys := map[string]map[string]bool{}
	crashAt := ""
	handler := func(ctx context.Context) (*Response, error) {
		var parts []string
		for _, name := range []string{"reserve", "charge", "confirm"} {
			got, err := Step(ctx, name, func(ctx context.Context, s *StepRun) (charge, error) {
				runs[name]++
				if keys[name] == nil {
					keys[name] = map[string]bool{}
				}
				keys[name][s.Key()] = true
				if AttemptFrom(ctx) == nil || s.Epoch() != AttemptFrom(ctx).Epoch() {
					t.Errorf("%s: no attempt, or another epoch", name)
				}
				return charge{fmt.Sprint(name, runs[name])}, nil
			})
			if err != nil {
				return nil, err
			}
			parts = append(parts, got.ID)
			if crashAt == name {
				return nil, errors.New("scripted")
			}
		}
		return &Response{Status: 201, Body: []byte(fmt.Sprint(parts))}, nil
	}
	for _, crashAt = range []string{"reserve", "charge", "confirm"} {
		x.want("crash after "+crashAt, x.guard.Serve(t.Context(), post("k", "{}"), handler), 500, "handler-failed")
	}
	crashAt = ""
	for range 2 {
		r := x.guard.Serve(t.Context(), post("k", "{}"), handler)
		if r.Status != 201 || string(r.Body) != "[reserve1 charge1 confirm1]" {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	for _, name := range []string{"reserve", "charge", "confirm"} {
		if runs[name] != 1 || len(keys[name]) != 1 {
			t.Errorf("%s ran %d times with %d keys", name, runs[name], len(keys[name]))
		}
	}
	if x.store.calls["checkpoint"] != 3 {
		t.Errorf("%v", x.store.calls)
	}
}
