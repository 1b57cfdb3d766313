package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// get reads a control route.
func (r *running) get(t *testing.T, path string) []byte {
	t.Helper()
	res, err := http.Get(r.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, res.StatusCode, body, err)
	}
	return body
}

// pay makes a payment.
func (r *running) pay(t *testing.T, reference string) {
	t.Helper()
	req, err := http.NewRequest("POST", r.url+"/payments", strings.NewReader(`{"amount":1,"currency":"EUR","source":"tok_ok","reference":"`+reference+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+string(r.get(t, "/_sandbox/token?tenant=acme&sub=alice")))
	req.Header.Set("Idempotency-Key", reference)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %d", reference, res.StatusCode)
	}
}

// published are the references of the events, without duplicates.
func (r *running) published(t *testing.T) map[string]bool {
	t.Helper()
	var events []struct {
		ID     string
		Detail struct{ Reference string }
	}
	if err := json.Unmarshal(r.get(t, "/_sandbox/events"), &events); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, e := range events {
		out[e.Detail.Reference] = true
	}
	return out
}

// F66: a payment's event is published although everything is killed the moment the payment is answered: after the
// restart the stream is read on where it was left.
func TestEventsOutliveAKill(t *testing.T) {
	file, data := build(t), t.TempDir()
	const rounds = 2
	for n := range rounds {
		r := serve(t, file, "-data", data)
		r.pay(t, fmt.Sprintf("order-%d", n))
		if err := r.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = r.cmd.Wait()
	}
	r := serve(t, file, "-data", data)
	for deadline := time.Now().Add(20 * time.Second); len(r.published(t)) < rounds; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("published: %v", r.published(t))
		}
	}
}
