package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func millis(t time.Time) types.AttributeValue { return number(t.UnixMilli()) }

// put puts an item as no guard does: an orphan since an hour ago, with some attributes changed, or, without a value, removed.
func (d *desk) put(id string, change item) {
	d.t.Helper()
	then := time.Now().Add(-time.Hour)
	it := item{"id": text(id), "v": number(1), "status": text("processing"), "owner": text("A"), "epoch": millis(then),
		"fingerprint": &types.AttributeValueMemberB{Value: []byte("print")}, "lease_until": millis(then.Add(time.Second)), "created_at": millis(then)}
	for name, value := range change {
		it[name] = value
		if value == nil {
			delete(it, name)
		}
	}
	if _, err := d.client.PutItem(d.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("records"), Item: it}); err != nil {
		d.t.Fatal(err)
	}
}

// completed changes a put record to a completed one.
func completed(change item) item {
	it := item{"status": text("completed"), "lease_until": nil, "completed_at": millis(time.Now()), "expires_at": number(time.Now().Unix() + 3600),
		"response_status": number(201), "response_headers": &types.AttributeValueMemberM{Value: item{}}}
	for name, value := range change {
		it[name] = value
	}
	return it
}

// watched is what watch finds.
func (d *desk) watched(args ...string) (found stuck) {
	d.t.Helper()
	code, out, stderr := d.ctl(nil, append([]string{"watch", "--output", "json"}, args...)...)
	d.want(code, 0, stderr)
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	return found
}

// TestWatchFindsAllThatIsStuck: whatever gets no answer for ever is listed, and nothing else is: F33, F34.
func TestWatchFindsAllThatIsStuck(t *testing.T) {
	d := newDesk(t)
	now := time.Now()
	live, ahead := millis(now.Add(time.Hour)), millis(now.Add(48*time.Hour))
	for id, change := range map[string]item{
		"orphan": nil, "claimed ahead, given up": {"epoch": ahead, "lease_until": number(0)}, "claimed just now": {"epoch": millis(now.Add(-10 * time.Second))},
		"unreadable, new": {"owner": nil, "epoch": millis(now)}, "unreadable, live": {"fingerprint": nil, "lease_until": live},
		"no status": {"status": nil}, "odd status": {"status": text("done")}, "no version": {"v": nil}, "no epoch": {"epoch": nil}, "epoch 0": {"epoch": number(0)},
		"completed, damaged": completed(item{"response_status": text("201")}), "released, damaged": {"status": text("released")},
		"newer, lease over": {"v": number(2)}, "newer, no lease": {"v": number(2), "lease_until": nil}, "newer, odd status": {"v": number(2), "status": text("waiting")},
		"version 0": {"v": number(0), "lease_until": live},
		"running":   {"lease_until": live}, "newer, running": {"v": number(2), "lease_until": live},
		"newer, finished": completed(item{"v": number(2)}), "finished": completed(nil), "finished#body#A#0": {"v": nil},
	} {
		d.put(id, change)
	}
	want := []string{"claimed ahead, given up", "completed, damaged", "epoch 0", "newer, lease over", "newer, no lease", "newer, odd status", "no epoch", "no status",
		"no version", "odd status", "orphan", "released, damaged", "unreadable, live", "unreadable, new", "version 0"}
	for _, older := range []string{"1m", "0"} {
		found := d.watched("--older-than", older)
		var ids []string
		for _, v := range found.Records {
			ids = append(ids, v.ID)
		}
		slices.Sort(ids)
		if older == "0" {
			want = append(slices.Clone(want), "claimed just now")
			slices.Sort(want)
		}
		if !slices.Equal(ids, want) || found.Running != 2 || found.Newer != 1 || found.Scanned != 21 {
			t.Errorf("older than %s: %d running, %d newer, %d scanned, stuck: %q, want %q", older, found.Running, found.Newer, found.Scanned, ids, want)
		}
	}
	code, out, stderr := d.ctl(nil, "watch")
	d.want(code, 0, stderr)
	for _, line := range []string{"16 stuck, 1 finished in a newer schema version, 2 running", "in the future  orphan", `attribute "owner" is missing`} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
}

// TestImpossibleTimes: one damaged item must not keep the others from being shown, in either format.
func TestImpossibleTimes(t *testing.T) {
	const huge = 9_000_000_000_000_000
	d := newDesk(t)
	past, future, finished := strings.Repeat("p", idLength), strings.Repeat("f", idLength), strings.Repeat("c", idLength)
	d.put(past, item{"lease_until": number(-huge), "created_at": number(-huge), "expires_at": number(-huge)})
	d.put(future, item{"lease_until": number(huge), "epoch": number(huge)})
	d.put(finished, completed(item{"completed_at": number(huge), "expires_at": number(huge), "epoch": number(-huge)}))
	if found := d.watched(); len(found.Records) != 1 || found.Records[0].LeaseUntil != "no time: -9000000000000000 ms" || found.Running != 1 {
		t.Errorf("found %+v", found)
	}
	for _, id := range []string{past, future, finished} {
		for _, format := range []string{"text", "json"} {
			code, out, stderr := d.ctl(nil, "inspect", id, "--output", format)
			d.want(code, 0, stderr)
			if !strings.Contains(out, "no time: ") {
				t.Errorf("%s", out)
			}
		}
	}
}

// TestMissingTimes: only a lease that its run gave up is told as given up.
func TestMissingTimes(t *testing.T) {
	id := strings.Repeat("i", idLength)
	for name, tt := range map[string]struct {
		change  item
		givenUp bool
	}{
		"given up":             {item{"lease_until": number(0)}, true},
		"given up and damaged": {item{"lease_until": number(0), "owner": nil}, true},
		"no lease":             {item{"lease_until": nil}, false},
		"no creation":          {item{"created_at": nil}, false},
		"created at 0":         {item{"created_at": number(0)}, false},
		"unreadable expiry":    {item{"expires_at": text("never")}, false},
		"completed, no times":  {completed(item{"completed_at": nil, "expires_at": nil, "created_at": nil}), false},
	} {
		d := newDesk(t)
		d.put(id, tt.change)
		code, out, stderr := d.ctl(nil, "inspect", id)
		d.want(code, 0, stderr)
		if strings.Contains(out, "given up by its run") != tt.givenUp {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

// TestWhatToDo: a record that cannot be read says what is wrong with it and what a person can do, where it is shown and where it is
// refused: F33, F34.
func TestWhatToDo(t *testing.T) {
	id := strings.Repeat("i", idLength)
	for name, tt := range map[string]struct {
		change item
		wants  []string
	}{
		"damaged":         {item{"owner": number(1)}, []string{`attribute "owner" is of a wrong type`, "repair it by hand", "only if you know that", "a retry runs the operation"}},
		"newer version":   {item{"v": number(2)}, []string{"schema version is 2", "deploy code that reads this version"}},
		"damaged answer":  {completed(item{"response_status": text("201")}), []string{`attribute "response_status" is of a wrong type`, "repair it by hand"}},
		"unknown version": {item{"v": number(-1)}, []string{"schema version is -1", "repair it by hand"}},
	} {
		d := newDesk(t)
		d.put(id, tt.change)
		_, out, _ := d.ctl(nil, "inspect", id)
		if strings.Contains(out, "response status") {
			t.Errorf("%s: shows what cannot be read\n%s", name, out)
		}
		code, _, refusal := d.ctl(nil, "release", id, "--yes")
		d.want(code, 1, refusal)
		for _, want := range tt.wants {
			if !strings.Contains(out, want) || !strings.Contains(refusal, want) {
				t.Errorf("%s: no %q in\n%s%s", name, want, out, refusal)
			}
		}
	}
}

// TestLostBody: a body that is missing is told where it is asked for, with the rest of its record: F32.
func TestLostBody(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	d.put(id, completed(item{"body_chunks": number(2), "body_sum": &types.AttributeValueMemberB{Value: make([]byte, 32)}}))
	code, out, stderr := d.ctl(nil, "inspect", id, "--show-body")
	d.want(code, 0, stderr)
	for _, want := range []string{" of 2: ", "missing or damaged", "repair it by hand", stateCompleted, "201"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestDamagedIsNotLoaded: what a record that cannot be read says of its body items is not followed.
func TestDamagedIsNotLoaded(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	d.put(id, completed(item{"owner": nil, "body_chunks": number(2), "body_sum": &types.AttributeValueMemberB{Value: make([]byte, 32)}}))
	code, _, stderr := d.ctl(nil, "inspect", id, "--show-body")
	d.want(code, 0, stderr)
	if n := d.fake.Stats().Calls["GetItem"]; n != 1 {
		t.Errorf("%d reads", n)
	}
}

// TestResultThatIsNoJSON: a step's result that somebody has changed is shown all the same.
func TestResultThatIsNoJSON(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	d.put(id, item{"steps": &types.AttributeValueMemberM{Value: item{"pay": &types.AttributeValueMemberM{Value: item{"n": number(0), "r": text(`{"half":`)}}}}})
	code, out, stderr := d.ctl(nil, "inspect", id, "--show-body", "--output", "json")
	d.want(code, 0, stderr)
	if !strings.Contains(out, `"result":"{\"half\":"`) {
		t.Errorf("%s", out)
	}
}

// TestHostileText: what clients and handlers wrote reaches no terminal raw, in either format: F51.
func TestHostileText(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	const hostile = "x\x1b[2J\r\nrecord  forged\u009b31m\u202e\U000e0001"
	header := &types.AttributeValueMemberM{Value: item{"X-" + hostile: &types.AttributeValueMemberL{Value: []types.AttributeValue{text(hostile)}}}}
	d.put(id, completed(item{"endpoint": text(hostile), "request_id": text(hostile), "principal": text(hostile), "response_headers": header,
		"response_body": &types.AttributeValueMemberB{Value: []byte(hostile)}}))
	d.put("stuck "+hostile, item{"endpoint": text(hostile), "steps": &types.AttributeValueMemberM{Value: item{hostile: &types.AttributeValueMemberM{Value: item{"n": number(0), "r": text(hostile)}}}}})
	for _, args := range [][]string{{"inspect", id, "--show-body"}, {"inspect", id, "--show-body", "--output", "json"}, {"watch"}, {"watch", "--output", "json"}} {
		code, out, stderr := d.ctl(nil, args...)
		d.want(code, 0, stderr)
		if strings.ContainsAny(out, "\x1b\r\u009b\u202e\U000e0001") || !strings.Contains(out, "forged") || strings.Contains(out, "\nrecord  forged") {
			t.Errorf("%v: %q", args, out)
		}
		if args[len(args)-1] != "json" {
			continue
		}
		var v view
		var s stuck
		switch err := json.Unmarshal([]byte(out), &v); {
		case err != nil:
			t.Error(err)
		case args[0] == "inspect" && (v.Endpoint != hostile || v.Response.Body != hostile):
			t.Errorf("JSON is not exact: %q", out)
		case args[0] == "watch" && (json.Unmarshal([]byte(out), &s) != nil || s.Records[0].Endpoint != hostile):
			t.Errorf("JSON is not exact: %q", out)
		}
	}
}

// TestShownBodies: headers come in order, and a short body is shown like another.
func TestShownBodies(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	header := item{}
	for i := range 9 {
		header[fmt.Sprint("X-", i)] = &types.AttributeValueMemberL{Value: []types.AttributeValue{text("1")}}
	}
	d.put(id, completed(item{"response_headers": &types.AttributeValueMemberM{Value: header}, "response_body": &types.AttributeValueMemberB{Value: []byte("0")}}))
	code, out, stderr := d.ctl(nil, "inspect", id, "--show-body")
	d.want(code, 0, stderr)
	if !strings.Contains(out, "response body    0\n") {
		t.Errorf("%s", out)
	}
	last := 0
	for i := range 9 {
		at := strings.Index(out, fmt.Sprintf("X-%d: 1", i))
		if at < last {
			t.Fatalf("headers in another order:\n%s", out)
		}
		last = at
	}
}
