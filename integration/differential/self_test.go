package differential

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"firstwriter/integration/dynamofake"
)

// TestSame compares dynamofake with itself, in everything that the service has: what differs by itself, from one
// server to the next, cannot be compared with others either.
func TestSame(t *testing.T) {
	compareWith(t, &peer{endpoint: inProcess(t, nil), features: all, messages: true, capacity: true}, 200)
}

// TestPlantedMistakes gives a server mistakes, which must be found, and shrunk to a few calls.
func TestPlantedMistakes(t *testing.T) {
	const failed = `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`
	for _, c := range []struct {
		name    string
		mistake func(op, body string) (status int, answer string)
		calls   int
		in      aspect
	}{
		{"lost deletion", func(op, _ string) (int, string) {
			if op == "DeleteItem" {
				return 200, "{}"
			}
			return 0, ""
		}, 2, aspectTables},
		{"refused write", func(op, body string) (int, string) {
			if op == "PutItem" && strings.Contains(body, "attribute_not_exists") {
				return 400, failed
			}
			return 0, ""
		}, 1, aspectOutcome},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDuel(t, &peer{endpoint: inProcess(t, c.mistake), start: func() string { return "" }})
			for seed := range uint64(200) {
				calls := sequence(seed, features{spellings: true})
				v := d.play(calls)
				if v.difference == nil || v.difference.aspect != c.in {
					continue
				}
				if f := d.shrink(calls, v.difference); len(f.calls) > c.calls {
					t.Errorf("the shortest sequence has more than %d calls: %v", c.calls, f)
				}
				return
			}
			t.Error("the mistake was not found")
		})
	}
}

// inProcess is a dynamofake without a socket. What mistake answers with a status other than 0 goes before what the
// server would have answered.
func inProcess(t *testing.T, mistake func(op, body string) (status int, answer string)) *endpoint {
	server, err := dynamofake.Open(dynamofake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	e := local("dynamofake", "http://dynamofake")
	e.client = &http.Client{Transport: server.RoundTripper()}
	if mistake != nil {
		e.client.Transport = mistaken{server.RoundTripper(), mistake}
	}
	return e
}

// mistaken is a transport that makes mistakes.
type mistaken struct {
	http.RoundTripper
	mistake func(op, body string) (status int, answer string)
}

func (m mistaken) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if status, answer := m.mistake(op, string(body)); status != 0 {
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return m.RoundTripper.RoundTrip(r)
}
