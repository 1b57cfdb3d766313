package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
)

func sdkConfig(url string) aws.Config {
	return aws.Config{Region: localRegion, BaseEndpoint: &url, RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
}

func newBus(t *testing.T) (*bus, *eventbridge.Client) {
	t.Helper()
	j, err := openJournal[event]("", "")
	if err != nil {
		t.Fatal(err)
	}
	b := &bus{names: []string{"shop"}, events: j}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return b, eventbridge.NewFromConfig(sdkConfig(server.URL))
}

// entry is one that is taken, unless it is changed.
func entry(change func(*ebtypes.PutEventsRequestEntry)) ebtypes.PutEventsRequestEntry {
	e := ebtypes.PutEventsRequestEntry{EventBusName: aws.String("shop"), Source: aws.String("s"), DetailType: aws.String("T"),
		Time: aws.Time(time.Unix(1_795_997_335, 310_000_000)), Detail: aws.String(`{"event_id":"e1","reference":"r1","n":1.0}`)}
	if change != nil {
		change(&e)
	}
	return e
}

func TestPutEvents(t *testing.T) {
	b, client := newBus(t)
	type in = ebtypes.PutEventsRequestEntry
	for name, c := range map[string]struct {
		entry ebtypes.PutEventsRequestEntry
		code  string
	}{
		"good":          {entry(nil), ""},
		"default bus":   {entry(func(e *in) { e.EventBusName = nil }), ""},
		"another bus":   {entry(func(e *in) { e.EventBusName = aws.String("other") }), "InvalidArgument"},
		"no source":     {entry(func(e *in) { e.Source = nil }), "InvalidArgument"},
		"no type":       {entry(func(e *in) { e.DetailType = nil }), "InvalidArgument"},
		"AWS's source":  {entry(func(e *in) { e.Source = aws.String("aws.s3") }), "NotAuthorizedForSourceException"},
		"no JSON":       {entry(func(e *in) { e.Detail = aws.String("{") }), "MalformedDetail"},
		"no object":     {entry(func(e *in) { e.Detail = aws.String("[]") }), "MalformedDetail"},
		"null":          {entry(func(e *in) { e.Detail = aws.String("null") }), "MalformedDetail"},
		"without an id": {entry(func(e *in) { e.Detail = aws.String(`{"reference":7}`) }), ""},
	} {
		out, err := client.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{c.entry}})
		if err != nil || len(out.Entries) != 1 || aws.ToString(out.Entries[0].ErrorCode) != c.code || (out.FailedEntryCount == 1) != (c.code != "") {
			t.Errorf("%s: %+v %v, want %q", name, out, err, c.code)
		}
	}
	if got := b.published(""); len(got) != 3 {
		t.Errorf("%d events", len(got))
	}
	got := b.published("r1")
	want := event{ID: "e1", Source: "s", DetailType: "T", Time: "2026-11-30T00:08:55Z", Detail: json.RawMessage(`{"event_id":"e1","reference":"r1","n":1.0}`)}
	if diff := cmp.Diff([]event{want, want}, got); diff != "" {
		t.Error(diff)
	}
	if none := b.published("r2"); none == nil || len(none) != 0 {
		t.Errorf("%v", none)
	}
}

func TestPutEventsLimits(t *testing.T) {
	b, client := newBus(t)
	eleven := make([]ebtypes.PutEventsRequestEntry, 11)
	for i := range eleven {
		eleven[i] = entry(nil)
	}
	filled := func(bytes int) []ebtypes.PutEventsRequestEntry {
		fixed := len("s") + len("T") + 14 + len(`{"a":""}`)
		return []ebtypes.PutEventsRequestEntry{entry(func(e *ebtypes.PutEventsRequestEntry) {
			e.Detail = aws.String(`{"a":"` + strings.Repeat("x", bytes-fixed) + `"}`)
		})}
	}
	for name, c := range map[string]struct {
		entries []ebtypes.PutEventsRequestEntry
		want    string // "": taken
	}{
		"ten": {eleven[:10], ""}, "eleven": {eleven, "ValidationException"}, "largest": {filled(maxEvents - 1), ""}, "too large": {filled(maxEvents), "ValidationException"},
	} {
		before := len(b.published(""))
		_, err := client.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: c.entries})
		took := len(b.published("")) - before
		if c.want == "" && (err != nil || took != len(c.entries)) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || took != 0) {
			t.Errorf("%s: %v, took %d", name, err, took)
		}
	}
}

func TestSendMessage(t *testing.T) {
	j, err := openJournal[message]("", "")
	if err != nil {
		t.Fatal(err)
	}
	q := &queues{region: localRegion, names: []string{"dead"}, messages: j}
	server := httptest.NewServer(q)
	defer server.Close()
	client := sqs.NewFromConfig(sdkConfig(server.URL))
	send := func(url, body string) error {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
		return err
	}
	dead := queueURL(localRegion, "dead")
	for _, body := range []string{`{"a":1}`, "plain text é"} {
		if err := send(dead, body); err != nil {
			t.Error(err)
		}
	}
	if err := send(queueURL(localRegion, "other"), "x"); err == nil || !strings.Contains(err.Error(), "QueueDoesNotExist") {
		t.Errorf("unknown queue: %v", err)
	}
	if err := send(dead, strings.Repeat("x", maxMessage+1)); err == nil {
		t.Error("a message of over 1 MiB is taken")
	}
	got := j.list()
	if len(got) != 2 || got[0].Queue != "dead" || string(got[0].Body) != `{"a":1}` || string(got[1].Body) != `"plain text é"` || got[0].ID == got[1].ID {
		t.Errorf("%s", fmt.Sprint(got))
	}
}

func TestJournalOutlivesARun(t *testing.T) {
	dir := t.TempDir()
	reopen := func() *journal[int] {
		t.Helper()
		j, err := openJournal[int](dir, "numbers")
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := reopen()
	for n := range 3 {
		if err := j.add(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "numbers")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "4") // cut short: its end may have been 42
	f.Close()
	j = reopen()
	if err := j.add(5); err != nil {
		t.Fatal(err)
	}
	j.close()
	j = reopen()
	defer j.close()
	if diff := cmp.Diff([]int{0, 1, 2, 5}, j.list()); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(file, []byte("1\nx\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openJournal[int](dir, "numbers"); err == nil || !strings.HasPrefix(err.Error(), file+":2: ") {
		t.Errorf("a broken line: %v", err)
	}
}

func TestBrokenPositionsAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, positionsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openPositions(dir); err == nil || !strings.Contains(err.Error(), positionsFile) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestMessagingRoutes(t *testing.T) {
	var list []any
	for _, path := range []string{"/_sandbox/events", "/_sandbox/events?reference=never", "/_sandbox/dead-letters"} {
		list = nil
		if controlCall(t, "GET", path, "", &list); list == nil || len(list) != 0 {
			t.Errorf("%s: %v, want an empty array", path, list)
		}
	}
}
