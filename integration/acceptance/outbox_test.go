package acceptance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/integration/sandbox"
)

// shop is the project's template in a sandbox whose database the test can reach.
type shop struct {
	t *testing.T
	*sandbox.Sandbox
	runner
}

func openShop(t *testing.T) *shop {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Config{Template: "../../template.yaml", Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &shop{t: t, Sandbox: s, runner: newRunner(s.URL())}
}

// pay makes a payment and returns the answer.
func (s *shop) pay(key, reference string) answer {
	s.t.Helper()
	a := s.send(Step{As: "acme/alice", Path: "/payments", Key: key,
		Body: json.RawMessage(`{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"` + reference + `","metadata":{"a":1}}`)})[0]
	if a.err != nil || a.status != http.StatusCreated {
		s.t.Fatalf("%+v", a)
	}
	return a
}

// inject puts an item into the outbox that no handler would write.
func (s *shop) inject(key, id, detail string) {
	s.t.Helper()
	item := map[string]types.AttributeValue{}
	for name, value := range map[string]string{"order_key": key, "id": id, "source": "test", "detail_type": "Test", "time": "2026-11-30T12:00:00Z", "detail": detail} {
		item[name] = &types.AttributeValueMemberS{Value: value}
	}
	client := dynamodb.NewFromConfig(s.Database().Config())
	if _, err := client.PutItem(s.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sandbox-OutboxTable"), Item: item}); err != nil {
		s.t.Fatal(err)
	}
}

type listedEvent struct {
	ID         string         `json:"id"`
	Source     string         `json:"source"`
	DetailType string         `json:"detail_type"`
	Time       string         `json:"time"`
	Detail     map[string]any `json:"detail"`
}

func (s *shop) events(reference string) (out []listedEvent) {
	s.t.Helper()
	if err := s.awaitEvents(reference, 1); err != nil {
		s.t.Fatal(err)
	}
	if err := s.list("events", reference, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

func TestOutbox(t *testing.T) {
	s := openShop(t)
	for name, test := range map[string]func(*testing.T, *shop){
		"payment captured": testPaymentCaptured, "poison": testPoison, "F66 relay killed": testRelayKilled,
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			test(t, s)
		})
	}
}

func testPaymentCaptured(t *testing.T, s *shop) {
	var paid map[string]any
	if err := json.Unmarshal(s.pay("the-raw-key", "order-1").body, &paid); err != nil {
		t.Fatal(err)
	}
	e := s.events("order-1")[0]
	if at, err := time.Parse(time.RFC3339, e.Time); err != nil || time.Since(at) > time.Minute {
		t.Errorf("time %q: %v", e.Time, err)
	}
	want := map[string]any{"event_id": e.ID, "payment_id": paid["id"], "tenant_id": "acme", "amount": 1299.0, "currency": "EUR",
		"reference": "order-1", "created_at": paid["created_at"]}
	if fmt.Sprint(e.Detail) != fmt.Sprint(want) || e.Source != "firstwriter.payments" || e.DetailType != "PaymentCaptured" || len(e.ID) != 43 {
		t.Errorf("%+v\nwant %v", e, want)
	}
	if strings.Contains(fmt.Sprint(e), "the-raw-key") {
		t.Errorf("the key is shown: %+v", e)
	}
}

// An event that can never be published goes to the dead-letter queue, and those after it to the bus.
func testPoison(t *testing.T, s *shop) {
	s.inject("k", "malformed", `{"reference":`)
	s.inject("k", "good", `{"event_id":"good","reference":"after-poison"}`)
	s.inject("k", "a list", `[]`)
	s.pay("k1", "order-2")
	if e := s.events("after-poison")[0]; e.ID != "good" {
		t.Errorf("%+v", e)
	}
	s.events("order-2")
	var dead []struct {
		Queue string
		Body  struct {
			Reason, Event_ID, Sequence_Number string
			Item                              map[string]any
		}
	}
	if err := s.list("dead-letters", "", &dead); err != nil {
		t.Fatal(err)
	}
	if len(dead) != 2 || dead[0].Queue != "sandbox-RelayDeadLetters" || dead[0].Body.Event_ID != "malformed" || dead[1].Body.Event_ID != "a list" ||
		!strings.Contains(dead[0].Body.Reason, "MalformedDetail") || dead[0].Body.Item["detail"] == nil {
		t.Errorf("%+v", dead)
	}
}

// F66: the relay is killed in the middle of a batch of many events. Each is published, those of one key in their order.
func testRelayKilled(t *testing.T, s *shop) {
	const each = 40
	for n := range each {
		for _, key := range []string{"a", "b", "c"} {
			s.inject(key, fmt.Sprintf("%s%03d", key, n), fmt.Sprintf(`{"event_id":"%s%03d","reference":"%s"}`, key, n, key))
		}
		if n%10 == 5 {
			if _, err := s.control("POST /_sandbox/kill?function=RelayFunction"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, key := range []string{"a", "b", "c"} {
		if err := s.awaitEvents(key, each); err != nil {
			t.Fatal(err)
		}
		var events []listedEvent
		if err := s.list("events", key, &events); err != nil {
			t.Fatal(err)
		}
		last, seen := "", map[string]bool{}
		for _, e := range events {
			if !seen[e.ID] && e.ID < last {
				t.Errorf("%s was published after %s", e.ID, last)
			}
			seen[e.ID], last = true, max(last, e.ID)
		}
	}
}
