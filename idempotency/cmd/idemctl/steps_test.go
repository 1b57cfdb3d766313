package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
	two := &idempotency.Record{Steps: []idempotency.RecordedStep{{Name: "a"}, {Name: "b"}}}
	one := &idempotency.Record{Steps: two.Steps[:1]}
	for want, w := range map[string]idempotency.Resolution{
		"but for its 2 recorded steps.":                        {Seen: two},
		"but for its 1 recorded step.":                         {Seen: one},
		"This forgets its 2 recorded steps, and undoes none":   {Seen: two, Response: &idempotency.Response{Status: 201}},
		"This forgets its 1 recorded step, and undoes none":    {Seen: one, Response: &idempotency.Response{Status: 201}},
		"The next retry will run the operation again. That is": {Seen: &idempotency.Record{}},
	} {
		if got := (&change{}).announce(w); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// busy leaves an operation behind that was answered 503 after a step.
func (d *desk) busy() string {
	d.t.Helper()
	r := d.serve(func(ctx context.Context) (*idempotency.Response, error) {
		_, err := idempotency.Step(ctx, "reserve", func(context.Context, *idempotency.StepRun) (string, error) { return private, nil })
		return &idempotency.Response{Status: 503}, err
	})
	if r.Status != 503 {
		d.t.Fatalf("%d %s", r.Status, r.Body)
	}
	return idempotency.RecordID("shop", []byte(secret), "acme", key)
}

// TestReleasedWithSteps: what was answered 503 after a step, and never asked for again, is listed from an age on, and can be
// settled.
func TestReleasedWithSteps(t *testing.T) {
	d := newDesk(t)
	id := d.busy()
	d.put("released without steps", item{"status": text("released"), "lease_until": nil, "expires_at": number(time.Now().Unix() + 3600)})
	if found := d.watched("--older-than", "1h"); len(found.Records) != 0 {
		t.Errorf("one that is new: %+v", found)
	}
	d.now = func() time.Time { return time.Now().Add(26 * time.Hour) }
	d.dates = []string{d.now().UTC().Format(http.TimeFormat)}
	found := d.watched("--older-than", "25h")
	if len(found.Records) != 1 || found.Records[0].ID != id || found.Records[0].State != "released, with steps" || *found.Records[0].AgeSeconds < 93_590 {
		t.Fatalf("%+v", found)
	}
	_, out, stderr := d.ctl(nil, "watch")
	if !strings.Contains(out, "released, with steps  "+id+"  POST /pay") || !strings.Contains(out, "1 stuck, 0 running") {
		t.Errorf("%s%s", out, stderr)
	}
	code, _, stderr := d.ctl(strings.NewReader("y\n"), "resolve", id, "--status", "409")
	d.want(code, 0, stderr)
	if !strings.Contains(stderr, "forgets its 1 recorded step") {
		t.Errorf("asks\n%s", stderr)
	}
	if r := d.serve(lost); r.Status != 409 || r.Header.Get(idempotency.ReplayHeader) != "true" {
		t.Errorf("the retry gets %d", r.Status)
	}
	if found := d.watched(); len(found.Records) != 0 {
		t.Errorf("settled, and found: %+v", found)
	}
}

// TestReleasedAlready: there is nothing to release in what is released, with steps or without.
func TestReleasedAlready(t *testing.T) {
	d := newDesk(t)
	id, without := d.busy(), strings.Repeat("i", idLength)
	d.put(without, item{"status": text("released"), "lease_until": nil, "expires_at": number(time.Now().Unix() + 3600)})
	for _, args := range [][]string{{"release", id}, {"resolve", id, "--rerun"}, {"release", without}, {"resolve", without, "--status", "201"}} {
		code, _, stderr := d.ctl(nil, append(args, "--yes")...)
		d.want(code, 1, stderr)
		if !strings.Contains(stderr, "it is released already, and the next attempt may run") {
			t.Errorf("%v says %s", args, stderr)
		}
	}
}

// TestTakenOverMeanwhile: a retry that comes before the answer is typed refuses the change.
func TestTakenOverMeanwhile(t *testing.T) {
	d := newDesk(t)
	id := d.busy()
	code, _, stderr := d.ctl(&changing{func() { d.busy() }, strings.NewReader("y\n")}, "resolve", id, "--status", "409")
	d.want(code, 1, stderr)
	if !strings.Contains(stderr, "has changed since it was shown") || !strings.Contains(stderr, "released, with steps") {
		t.Errorf("said %s", stderr)
	}
}

// TestReleaseKeepsSteps: an orphan that is let go with steps is not forgotten sooner for that, and how long it stays is said.
func TestReleaseKeepsSteps(t *testing.T) {
	step := &types.AttributeValueMemberM{Value: item{"pay": &types.AttributeValueMemberM{Value: item{"n": number(0), "r": text("1")}}}}
	week := noon.Add(7 * 24 * time.Hour)
	for name, tt := range map[string]struct {
		change item
		args   []string
		want   string // its expiry
		said   string
	}{
		"expires":   {item{"steps": step, "expires_at": number(week.Unix())}, nil, "2026-12-07T12:00:00.000Z", "until 2026-12-07T12:00:00.000Z, with its steps"},
		"never":     {item{"steps": step}, nil, "2027-11-30T12:00:00.000Z", "until 2027-11-30T12:00:00.000Z, with its steps"},
		"no steps":  {item{"expires_at": number(week.Unix())}, nil, "2026-12-01T12:00:00.000Z", "until 2026-12-01T12:00:00.000Z (--retention 24h0m0s)"},
		"retention": {item{"steps": step, "expires_at": number(week.Unix())}, []string{"--retention", "240h"}, "2026-12-10T12:00:00.000Z", "until 2026-12-10T12:00:00.000Z, with its steps"},
	} {
		d := newDesk(t)
		id := strings.Repeat("i", idLength)
		tt.change["epoch"], tt.change["lease_until"] = millis(noon.Add(-time.Hour)), number(0)
		d.put(id, tt.change)
		d.clocks(noon.Format(http.TimeFormat), 0)
		code, out, stderr := d.ctl(nil, append([]string{"release", id, "--yes"}, tt.args...)...)
		d.want(code, 0, stderr)
		if !strings.Contains(out, tt.want) || !strings.Contains(stderr, tt.said) {
			t.Errorf("%s:\n%s%s", name, out, stderr)
		}
	}
}

// TestAgo: ages are told in units that a person reads.
func TestAgo(t *testing.T) {
	for age, want := range map[time.Duration]string{
		5 * time.Second: "5s ago", 90 * time.Minute: "1h30m0s ago", 48*time.Hour - time.Second: "47h59m59s ago", 48 * time.Hour: "2 days ago",
		200*time.Hour + 13*time.Minute: "8 days 8h ago", -time.Second: "1s in the future", -72 * time.Hour: "3 days in the future",
	} {
		seconds := int64(age / time.Second)
		if got := ago(&seconds); got != want {
			t.Errorf("%v: %q, want %q", age, got, want)
		}
	}
}
