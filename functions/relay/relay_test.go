package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/go-cmp/cmp"

	"firstwriter/idempotency/outbox"
)

// service is an AWS service that gives every call one answer and keeps what it was asked.
type service struct {
	*httptest.Server
	status int
	answer string
	target string         // of the last call
	asked  map[string]any // its body
}

func newService(t *testing.T, status int, answer string) *service {
	t.Helper()
	s := &service{status: status, answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.target, s.asked = r.Header.Get("X-Amz-Target"), nil
		if err := json.NewDecoder(r.Body).Decode(&s.asked); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// config leads to the service, and tries once.
func (s *service) config() aws.Config {
	return aws.Config{Region: "eu-central-1", BaseEndpoint: &s.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
}

func (s *service) bus() bus { return bus{client: eventbridge.NewFromConfig(s.config()), name: "shop"} }

var batch = []outbox.Entry{
	{ID: "1", Key: "a", Source: "shop", DetailType: "T", Time: time.Unix(1_795_997_335, 310_000_000), Detail: `{"event_id":"1","n":1.0}`},
	{ID: "2", Key: "b", Source: "shop", DetailType: "U", Time: time.Unix(1_795_997_336, 0), Detail: `{"event_id":"2"}`},
}

func TestPublish(t *testing.T) {
	s := newService(t, 200, `{"FailedEntryCount":1,"Entries":[{"EventId":"x"},{"ErrorCode":"ThrottlingException","ErrorMessage":"slow down"}]}`)
	answers, err := s.bus().publish(t.Context(), batch)
	if diff := cmp.Diff([]outbox.Answer{{}, {Code: "ThrottlingException", Message: "slow down"}}, answers); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	entry := func(kind, detail string, at float64) map[string]any {
		return map[string]any{"EventBusName": "shop", "Source": "shop", "DetailType": kind, "Detail": detail, "Time": at}
	}
	want := map[string]any{"Entries": []any{
		entry("T", `{"event_id":"1","n":1.0}`, 1_795_997_335.31), entry("U", `{"event_id":"2"}`, 1_795_997_336),
	}}
	if diff := cmp.Diff(want, s.asked); diff != "" || s.target != "AWSEvents.PutEvents" {
		t.Errorf("%s %s", s.target, diff)
	}
}

// A request that is wrong in itself is told from a bus that cannot take it now.
func TestPublishErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		answer  string
		refused bool
	}{
		"validation": {400, `{"__type":"ValidationException","message":"Total size of the entries in the request is over the limit."}`, true},
		"too large":  {413, `{}`, true},
		"throttled":  {400, `{"__type":"ThrottlingException","message":"Rate exceeded"}`, false},
		"denied":     {400, `{"__type":"AccessDeniedException","message":"no"}`, false},
		"down":       {503, `{}`, false},
	} {
		_, err := newService(t, c.status, c.answer).bus().publish(t.Context(), batch)
		if err == nil || errors.Is(err, outbox.ErrRefused) != c.refused || !strings.HasPrefix(err.Error(), "relay: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newService(t, 200, "")
	s.Close()
	if _, err := s.bus().publish(t.Context(), batch); err == nil || errors.Is(err, outbox.ErrRefused) {
		t.Errorf("away: %v", err)
	}
}

func TestSetAside(t *testing.T) {
	const message = `{"reason":"why","stream":"arn","sequence_number":"7","keys":null}`
	s := newService(t, 200, fmt.Sprintf(`{"MessageId":"m","MD5OfMessageBody":%q}`, "c9d64cf4d5b2ca2ac4f8b4d2f5c3c1d1"))
	q := deadLetters{cfg: s.config(), url: "https://sqs.eu-central-1.amazonaws.com/1/dead"}
	err := q.setAside(t.Context(), outbox.Poison{Reason: "why", Stream: "arn", SequenceNumber: "7"})
	want := map[string]any{"QueueUrl": q.url, "MessageBody": message}
	if diff := cmp.Diff(want, s.asked); diff != "" || s.target != "AmazonSQS.SendMessage" {
		t.Errorf("%s %s", s.target, diff)
	}
	if err == nil || !strings.HasPrefix(err.Error(), "relay: dead letter: ") {
		t.Errorf("a message that arrived as another one: %v", err)
	}
}

func TestSettings(t *testing.T) {
	good := map[string]string{"EVENT_BUS": "shop", "DEAD_LETTER_QUEUE": "https://sqs.eu-central-1.amazonaws.com/1/dead", "AWS_REGION": "eu-central-1"}
	from := func(env map[string]string) func(string) string { return func(name string) string { return env[name] } }
	got, err := settingsFrom(from(good))
	if want := (settings{bus: "shop", queueURL: good["DEAD_LETTER_QUEUE"]}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	for name := range good {
		env := map[string]string{}
		for k, v := range good {
			if k != name {
				env[k] = v
			}
		}
		if _, err := settingsFrom(from(env)); err == nil || !strings.HasPrefix(err.Error(), "set "+name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	good["DEAD_LETTER_QUEUE"] = "dead"
	if _, err := settingsFrom(from(good)); err == nil {
		t.Error("a queue that is no URL is taken")
	}
}
