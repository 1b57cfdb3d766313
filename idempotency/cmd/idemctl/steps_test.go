package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"firstwriter/idempotency"
)

// TestSteps: inspect shows the steps of an operation, and how often they could not be undone; results are shown where they
// are asked for. A release lets the next retry go on.
func TestSteps(t *testing.T) {
	d := newDesk(t)
	broken := true
	pay := func(ctx context.Context) (*idempotency.Response, error) {
		_, err := idempotency.Step(ctx, "reserve", func(context.Context, *idempotency.StepRun) (string, error) { return private, nil },
			idempotency.Undo(func(context.Context, *idempotency.StepRun, string) error {
				if broken {
					return errors.New("the warehouse is closed")
				}
				return nil
			}))
		if err != nil {
			return nil, err
		}
		if _, err := idempotency.Step(ctx, "label", func(context.Context, *idempotency.StepRun) ([]byte, error) { return make([]byte, 5000), nil }); err != nil {
			return nil, err
		}
		idempotency.AttemptFrom(ctx).Compensate()
		return &idempotency.Response{Status: 402, Body: []byte("declined")}, nil
	}
	if r := d.serve(pay); r.Status != 500 {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	id := idempotency.RecordID("shop", []byte(secret), "acme", key)
	code, out, stderr := d.ctl(nil, "inspect", id)
	d.want(code, 0, stderr)
	for _, line := range []string{"state           uncompensated", "step            reserve\n", "step            label (its result has an item of its own)", "step            failed:\n", "undo failures   1"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	if strings.Contains(out, private) {
		t.Errorf("a result unasked:\n%s", out)
	}
	code, out, stderr = d.ctl(nil, "inspect", id, "--show-body", "--output", "json")
	d.want(code, 0, stderr)
	var v view
	if err := json.Unmarshal([]byte(out), &v); err != nil || len(v.Steps) != 3 || !v.Steps[1].Apart || len(v.Steps[1].Result) < 5000 || !strings.Contains(string(v.Steps[0].Result), private) || v.UndoFailures != 1 {
		t.Errorf("%v: %.500s", err, out)
	}
	code, out, stderr = d.ctl(nil, "watch")
	d.want(code, 0, stderr)
	if !strings.Contains(out, "uncompensated  "+id) {
		t.Errorf("watch shows\n%s", out)
	}
	code, _, stderr = d.ctl(strings.NewReader("y\n"), "release", id)
	d.want(code, 0, stderr)
	if !strings.Contains(stderr, "go on with undoing its steps") {
		t.Errorf("asks\n%s", stderr)
	}
	broken = false
	if r := d.serve(pay); r.Status != 402 {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// TestAnnouncedSteps: what becomes of recorded steps is said before a change is made.
func TestAnnouncedSteps(t *testing.T) {
	seen := &idempotency.Record{Steps: []idempotency.RecordedStep{{Name: "a"}, {Name: "b"}}}
	for want, w := range map[string]idempotency.Resolution{
		"but for the 2 steps that are recorded":                {Seen: seen},
		"Its 2 recorded steps are forgotten; none is undone":   {Seen: seen, Response: &idempotency.Response{Status: 201}},
		"The next retry will run the operation again. That is": {Seen: &idempotency.Record{}},
	} {
		if got := (&change{}).announce(w); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
