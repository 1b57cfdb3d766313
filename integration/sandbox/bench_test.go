package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// benchClient pays on a sandbox of the project's own template.
type benchClient struct {
	url, token string
	http       *http.Client
}

func startBench(b *testing.B) (*Sandbox, benchClient) {
	b.Helper()
	s, err := Start(b.Context(), Config{Template: "../../template.yaml", Log: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	token, err := s.Token("acme", "alice")
	if err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.Cleanup(client.CloseIdleConnections)
	return s, benchClient{url: s.URL(), token: token, http: client}
}

// pay sends one payment and returns the answer's status.
func (c benchClient) pay(key string) (int, error) {
	body := `{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"bench"}`
	req, err := http.NewRequest("POST", c.url+"/payments", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// BenchmarkWarmRequest sends payments one after the other to a warm process. overhead-ms is the median of what the
// sandbox adds: the time that the client waited, less the time that the function had the request.
func BenchmarkWarmRequest(b *testing.B) {
	s, client := startBench(b)
	for i := range 20 {
		if status, err := client.pay(fmt.Sprintf("warm-up-%d", i)); err != nil || status != http.StatusCreated {
			b.Fatal(status, err)
		}
	}
	waitForTimings(b, s, 20)
	var waited, added, function []time.Duration
	for b.Loop() {
		start := time.Now()
		status, err := client.pay(fmt.Sprintf("bench-%d", len(waited)))
		if err != nil || status != http.StatusCreated {
			b.Fatal(status, err)
		}
		took := time.Since(start)
		one := waitForTimings(b, s, 1)[0]
		waited, added, function = append(waited, took), append(added, took-one.Function), append(function, one.Function)
	}
	report := func(name string, ds []time.Duration) {
		slices.Sort(ds)
		b.ReportMetric(float64(ds[len(ds)/2])/float64(time.Millisecond), name)
	}
	report("overhead-ms", added)
	report("function-ms", function)
	report("total-ms", waited)
}

// waitForTimings takes the figures of the last n requests; the last one is noted just after its answer has gone out.
func waitForTimings(b *testing.B, s *Sandbox, n int) []timing {
	var got []timing
	for deadline := time.Now().Add(5 * time.Second); len(got) < n; {
		got = append(got, s.timings.take()...)
		if time.Now().After(deadline) {
			b.Fatalf("%d of %d requests were noted", len(got), n)
		}
	}
	return got
}

// BenchmarkFiftyAtOnce sends 50 different payments at the same time; each must be answered with 201.
func BenchmarkFiftyAtOnce(b *testing.B) {
	_, client := startBench(b)
	round := 0
	for b.Loop() {
		round++
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				if status, err := client.pay(fmt.Sprintf("round-%d-%d", round, i)); err != nil || status != http.StatusCreated {
					b.Errorf("status %d, error %v", status, err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(50*round), "requests")
}
