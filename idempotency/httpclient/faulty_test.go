package httpclient

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"firstwriter/idempotency"
)

var (
	operations = flag.Int("operations", faultyOperations, "operations against the faulty server")
	faultSeed  = flag.Uint64("seed", 0, "seed of the faulty server; 0 is a new one")
)

// shop is a server that takes payments once for each key, and whose network does what it wants.
type shop struct {
	mu      sync.Mutex // guards the following
	rng     *rand.Rand
	effects map[string]int
	bodies  map[string]string
	faults  map[string]int // how often each kind was met
}

// pay is the endpoint without its network: one effect for each key, and a record of it.
func (s *shop) pay(key, body string) (status int, header, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.effects[key] == 0:
		s.effects[key], s.bodies[key] = 1, body
		return 201, "", "paid " + body
	case s.bodies[key] != body:
		s.effects[key]++ // never right: the client sent something else under the key
		return 422, "", "another request"
	}
	return 201, "Idempotent-Replayed: true\r\n", "paid " + body
}

func (s *shop) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effects[key]
}

// draw picks what happens to a request; about half of them get through.
func (s *shop) draw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := []string{"lose request", "lose answer", "late effect", "delay", "duplicate", "garbage", "short body", "broken chunk",
		"bad problem", "busy", "unavailable", "in progress", "gateway page", "timeout", "no token"}
	kind := "deliver"
	if s.rng.IntN(2) == 0 {
		kind = kinds[s.rng.IntN(len(kinds))]
	}
	if s.rng.IntN(500) == 0 {
		kind = "hang"
	}
	s.faults[kind]++
	return kind
}

// wish is a Retry-After, seldom a good one.
func (s *shop) wish() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	wishes := []string{"0", "-5", "31536000000", "99999999999999999999", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "soon", ""}
	return wishes[s.rng.IntN(len(wishes))]
}

// ServeHTTP does to a request and its answer what was drawn.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	key, err := idempotency.ParseKey(r.Header)
	conn, _, hijackErr := http.NewResponseController(w).Hijack()
	if err != nil || hijackErr != nil {
		panic(errors.Join(err, hijackErr))
	}
	defer conn.Close()
	kind, problem := s.draw(), "Content-Type: application/problem+json\r\n"
	switch kind {
	case "lose request":
		return
	case "busy":
		send(conn, 429, "Retry-After: "+s.wish()+"\r\n", "later")
		return
	case "unavailable":
		send(conn, 503, problem+"Retry-After: "+s.wish()+"\r\n", `{"code":"store-unavailable","retryable":true}`)
		return
	case "in progress":
		send(conn, 409, problem, `{"code":"in-progress","retryable":true,"title":"`+strings.Repeat("x", 3000)+`"}`)
		return
	case "no token":
		send(conn, 401, "", "who are you?")
		return
	case "hang":
		_, _ = io.Copy(io.Discard, conn) // until the client gives up
	case "late effect":
		conn.Close() // the client may be back before the effect
		time.Sleep(time.Millisecond)
	case "duplicate":
		s.pay(key, string(text))
	}
	status, header, answer := s.pay(key, string(text))
	switch kind {
	case "lose answer", "late effect", "hang":
	case "garbage":
		io.WriteString(conn, "\x00\x01HTTP/9 nonsense\r\n\r\n")
	case "short body":
		fmt.Fprintf(conn, "HTTP/1.1 %d x\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(answer)+100, answer)
	case "broken chunk":
		fmt.Fprintf(conn, "HTTP/1.1 %d x\r\n%sTransfer-Encoding: chunked\r\n\r\n5\r\npaid \r\nzz\r\n", status, header)
	case "bad problem":
		send(conn, 409, problem, `{"code":"in-pro`)
	case "gateway page":
		send(conn, 502, "Content-Type: text/html\r\n", "<h1>Bad Gateway</h1>")
	case "timeout":
		send(conn, 504, "", "")
	case "delay":
		time.Sleep(time.Millisecond)
		fallthrough
	default:
		send(conn, status, header, answer)
	}
}

func send(conn net.Conn, status int, header, body string) {
	fmt.Fprintf(conn, "HTTP/1.1 %d x\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, header, len(body), body)
}

// dial reaches the server at most times.
func (s *shop) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	s.mu.Lock()
	fails := s.rng.IntN(10) == 0
	s.mu.Unlock()
	if fails {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

// TestFaultyServer sends operations to a server whose network loses, delays, repeats and garbles. Whatever each try is
// reported as must be true at that moment; in the end each operation has had exactly one effect.
func TestFaultyServer(t *testing.T) {
	if *faultSeed == 0 {
		*faultSeed = rand.Uint64()
	}
	t.Logf("%d operations, seed %d", *operations, *faultSeed)
	s := &shop{rng: rand.New(rand.NewPCG(*faultSeed, 1)), effects: map[string]int{}, bodies: map[string]string{}, faults: map[string]int{}}
	url := serve(t, s.ServeHTTP)
	var transports []*Transport
	for _, attempts := range []int{2, 5} { // few, so that what was not done is met often: one operation in 75
		transports = append(transports, newTransport(t, quick(func(c *Config) {
			c.Base = &http.Transport{DialContext: s.dial}
			c.MaxAttempts, c.AttemptTimeout = attempts, 300*time.Millisecond
		})))
	}
	var reports sync.Map
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := worker; i < *operations; i += 16 {
				if err := s.operate(t, transports[i/16%2], url, i, &reports); err != nil {
					t.Errorf("operation %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	if len(s.effects) != *operations {
		t.Errorf("%d keys for %d operations", len(s.effects), *operations)
	}
	for key, n := range s.effects {
		if n != 1 {
			t.Errorf("%q: %d effects", s.bodies[key], n)
		}
	}
	for _, report := range []string{"final", "replayed", "unknown", "not done", "turned away"} {
		if _, met := reports.Load(report); !met && *operations >= 2000 {
			t.Errorf("no operation was reported as %s", report)
		}
	}
}

// operate sends an operation until it has a final answer, as a caller does that is told the key when it was given up, and
// checks each report.
func (s *shop) operate(t *testing.T, tr *Transport, url string, i int, reports *sync.Map) error {
	body, key := fmt.Sprintf(`{"order":%d}`, i), ""
	for range 50 {
		req := post(t, url, body)
		if key != "" {
			req = req.WithContext(WithKey(req.Context(), key))
		}
		res, out, err := tr.Do(req)
		if key != "" && out.Key != key {
			return errors.New("the key was changed")
		}
		report, wrong := s.judge(res, out, err, body, key == "")
		key = out.Key
		reports.Store(report, true)
		switch {
		case wrong != nil:
			return fmt.Errorf("reported as %s (%+v, %v): %w", report, out, err, wrong)
		case report == "final" || report == "replayed":
			return nil
		}
	}
	return errors.New("no final answer in 50 tries")
}

// judge says how an operation was reported, and what is wrong with that. What was not done in the first try has certainly
// had no effect; later ones do not speak for the first.
func (s *shop) judge(res *http.Response, out Outcome, err error, body string, first bool) (report string, wrong error) {
	effects := s.count(out.Key)
	switch {
	case errors.Is(err, ErrOutcomeUnknown):
		return "unknown", nil // whatever happened
	case errors.Is(err, ErrNotDone):
		report = "not done"
	case err != nil:
		return "error", err
	case res.StatusCode == http.StatusUnauthorized, !out.Final && res.StatusCode == http.StatusTooManyRequests:
		report = "turned away"
	default:
		report = map[bool]string{false: "final", true: "replayed"}[out.Replayed]
	}
	if report == "not done" || report == "turned away" {
		if first && effects != 0 {
			wrong = fmt.Errorf("%d effects", effects)
		}
		return report, wrong
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || string(text) != "paid "+body || !out.Final || effects != 1 || out.Status != 201 {
		return report, fmt.Errorf("%d effects, answer %q, %v", effects, text, err)
	}
	return report, nil
}
