//go:build unix

package httpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"firstwriter/idempotency"
)

// childEnv tells the test binary that it is the client which is killed.
const childEnv = "HTTPCLIENT_TEST_CHILD"

func TestMain(m *testing.M) {
	if plan := os.Getenv(childEnv); plan != "" {
		if err := child(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childPlan is what a child does.
type childPlan struct {
	URL, Dir string
	Resume   bool  // finish what is unfinished, instead of sending orders
	KillAt   int64 // the point at which the child kills itself; 0: never
}

var orders = []string{"lost-answer", "unavailable"}

// child sends the orders, or resumes, and kills itself before the file operation, or around the read or write of a
// connection, whose number it was given.
func child(text string) error {
	var plan childPlan
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		return err
	}
	var points atomic.Int64
	point := func() {
		if points.Add(1) == plan.KillAt {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	dir, err := OpenDir(plan.Dir)
	if err != nil {
		return err
	}
	dir.hook = func(string) error { point(); return nil }
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return mortal{conn, point}, err
	}
	tr, err := New(quick(func(c *Config) {
		c.Base = &http.Transport{DialContext: dial, DisableKeepAlives: true}
		c.Journal, c.KeepBodies = dir, true
	}))
	if err != nil {
		return err
	}
	if plan.Resume {
		return resumeAll(tr)
	}
	for _, order := range orders {
		req, err := http.NewRequest(http.MethodPost, plan.URL, strings.NewReader(order))
		if err != nil {
			return err
		}
		if _, _, err := tr.Do(req); err != nil {
			return err
		}
	}
	return nil
}

func resumeAll(tr *Transport) error {
	live, forgotten, err := tr.Unfinished()
	if err != nil || len(forgotten) > 0 {
		return fmt.Errorf("forgotten: %v, %w", forgotten, err)
	}
	for _, e := range live {
		req, err := e.Request(context.Background(), nil)
		if err != nil {
			return err
		}
		if _, _, err := tr.Do(req); err != nil {
			return err
		}
	}
	return nil
}

// mortal is a connection on which the process may die before and after each write, and after each read.
type mortal struct {
	net.Conn
	point func()
}

func (m mortal) Write(p []byte) (int, error) {
	m.point()
	defer m.point()
	return m.Conn.Write(p)
}

func (m mortal) Read(p []byte) (int, error) {
	defer m.point()
	return m.Conn.Read(p)
}

// till takes each order once for each key. It answers no first request: one has had its effect then, the other not.
type till struct {
	mu      sync.Mutex // guards the following
	seen    map[string]bool
	effects map[string]int
	keys    map[string]map[string]bool // by order
}

func newTill() *till {
	return &till{seen: map[string]bool{}, effects: map[string]int{}, keys: map[string]map[string]bool{}}
}

func (s *till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	order := string(text)
	key, err := idempotency.ParseKey(r.Header)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[order] == nil {
		s.keys[order] = map[string]bool{}
	}
	s.keys[order][key] = true
	first := !s.seen[key]
	s.seen[key] = true
	if first && order == "unavailable" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if s.effects[key] > 0 {
		w.Header().Set(idempotency.ReplayHeader, "true")
	}
	s.effects[key] = 1
	if first {
		panic(http.ErrAbortHandler) // drops the connection
	}
	w.WriteHeader(http.StatusCreated)
}

// TestKilledAnywhere kills the client at every file operation and around every read and write of a connection, then the
// client that resumes at the same point, and then resumes once more. Whatever the server has seen was done once and is
// final in the journal; what it has not seen was never begun, and has left nothing.
func TestKilledAnywhere(t *testing.T) {
	killed := 0
	for at := int64(1); ; at++ {
		s := newTill()
		plan := childPlan{URL: serve(t, s.ServeHTTP), Dir: t.TempDir(), KillAt: at}
		done := !runChild(t, plan)
		plan.Resume = true
		runChild(t, plan)
		plan.KillAt = 0
		runChild(t, plan)
		s.check(t, at, plan.Dir, done)
		if done || t.Failed() {
			break
		}
		killed++
	}
	if killed < 30 {
		t.Errorf("only %d points at which the client was killed", killed)
	}
	t.Logf("killed at %d points", killed)
}

// runChild runs the client and reports whether it was killed.
func runChild(t *testing.T, plan childPlan) (killed bool) {
	t.Helper()
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	out, err := cmd.CombinedOutput()
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	killed = status.Signaled() && status.Signal() == syscall.SIGKILL && plan.KillAt > 0
	if err != nil && !killed {
		t.Fatalf("%+v: %v\n%s", plan, err, out)
	}
	return killed
}

func (s *till) check(t *testing.T, at int64, path string, done bool) {
	t.Helper()
	dir, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := dir.Entries()
	if err != nil {
		t.Errorf("killed at %d: %v", at, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if e.Status != http.StatusCreated || e.Body != nil || s.effects[e.Key] != 1 {
			t.Errorf("killed at %d: entry %+v, %d effects", at, e, s.effects[e.Key])
		}
	}
	for order, keys := range s.keys {
		if len(keys) != 1 {
			t.Errorf("killed at %d: %s was sent with %d keys", at, order, len(keys))
		}
	}
	if len(s.effects) != len(entries) || done && len(entries) != len(orders) {
		t.Errorf("killed at %d: %d entries, %d effects", at, len(entries), len(s.effects))
	}
}
