package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// host is a sandbox as a process of its own, started again and again on the same data.
type host struct {
	file  string // the sandbox command
	data  string
	temp  string // for what sandboxes leave behind when they are killed
	log   *logWatch
	token string
	http  *http.Client // for the control routes

	mu   sync.Mutex // guards the following
	base string     // URL of the running one, or of the last
	cmd  *exec.Cmd
	read sync.WaitGroup // of its output
}

// newHost builds the sandbox command. Whatever is running at the test's end is killed. The command's path has go-build
// in it, as under go run: then the sandbox also stops when the test is killed.
func newHost(t *testing.T) *host {
	dir := t.TempDir()
	h := &host{file: filepath.Join(dir, "go-build", "sandbox"), data: filepath.Join(dir, "data"), temp: filepath.Join(dir, "tmp"),
		http: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	if err := os.Mkdir(h.temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", h.file, "../cmd/sandbox").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(t.ArtifactDir(), "sandbox.log"))
	if err != nil {
		t.Fatal(err)
	}
	h.log = &logWatch{outcomes: map[string]int{}, to: log}
	t.Cleanup(func() {
		h.kill()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// start starts a sandbox and returns when it serves.
func (h *host) start(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cmd = exec.Command(h.file, "-addr", "127.0.0.1:0", "-timeout", functionTimeout.String(), "-data", h.data)
	h.cmd.Dir = filepath.Join("..", "..")
	h.cmd.Env = append(os.Environ(), "TMPDIR="+h.temp, "DYNAMODB_ENDPOINT=")
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := h.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := h.cmd.Start(); err != nil {
		return err
	}
	h.read.Go(func() { h.log.watch(stderr) })
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "serving "); ok {
			h.base = strings.Fields(rest)[0]
			h.read.Go(func() { _, _ = io.Copy(io.Discard, stdout) })
			return h.signIn(ctx)
		}
	}
	return errors.New("the sandbox ended before it served; its log says why")
}

// signIn gets the clients' token. It stays good over restarts: the key that signs it is kept.
func (h *host) signIn(ctx context.Context) error {
	if h.token != "" {
		return nil
	}
	token, err := h.call(ctx, h.base, http.MethodGet, "/_sandbox/token?tenant=acme&sub=alice", "")
	h.token = string(token)
	return err
}

// kill kills the sandbox, and with it its functions, and waits until it is gone.
func (h *host) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cmd == nil {
		return
	}
	_ = h.cmd.Process.Kill() // fails where it has gone already
	h.read.Wait()
	_ = h.cmd.Wait() // always an error: it was killed
	h.cmd = nil
}

// url is where the API is served.
func (h *host) url() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.base
}

// restart kills the sandbox, with the database, the provider and all functions in it, and starts it on the same data. A
// process that was being forked when the sandbox died may hold the lock on the data for a moment longer: so it is tried
// again.
func (h *host) restart(ctx context.Context) (err error) {
	h.kill()
	for range 5 {
		if err = h.start(ctx); err == nil || ctx.Err() != nil {
			return err
		}
		h.kill()
		sleep(ctx, time.Second)
	}
	return err
}

// functions lists the processes of functions, where the system tells.
func (h *host) functions() (pids []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cmd == nil {
		return nil
	}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", h.cmd.Process.Pid)) // the pattern is good
	for _, file := range files {
		text, _ := os.ReadFile(file) // a thread may just have ended
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// control calls a route of the sandbox.
func (h *host) control(ctx context.Context, method, path, body string) ([]byte, error) {
	return h.call(ctx, h.url(), method, path, body)
}

func (h *host) call(ctx context.Context, base, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	res, err := h.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %.200s", method, path, res.StatusCode, text)
	}
	return text, err
}

// get reads JSON from the API or a control route.
func (h *host) get(ctx context.Context, path string, into any) error {
	text, err := h.control(ctx, http.MethodGet, path, "")
	return errors.Join(err, json.Unmarshal(text, into))
}

// logWatch keeps the sandboxes' logs and counts what they say about failed invocations.
type logWatch struct {
	mu       sync.Mutex // guards the following
	to       io.Writer
	crashes  int
	timeouts int
	strange  []string       // failures that no kill and no timeout explains
	outcomes map[string]int // what guards report as an operator's business, by outcome
}

func (l *logWatch) watch(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		l.line(line)
		if err != nil {
			return
		}
	}
}

// line reads one line, such as
//
//	[PaymentsFunction] RequestId: 8c5e… the process ended: signal: killed
func (l *logWatch) line(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.to, line) // the log is for people
	_, text, _ := strings.Cut(strings.TrimSpace(line), "] ")
	if rest, ok := strings.CutPrefix(text, "RequestId: "); ok {
		_, what, _ := strings.Cut(rest, " ")
		l.failure(what)
	} else if entry := (struct{ Msg string }{}); json.Unmarshal([]byte(text), &entry) == nil {
		if outcome, ok := strings.CutPrefix(entry.Msg, "idempotency: "); ok {
			l.outcomes[outcome]++
		}
	} else if strings.Contains(text, "panic") {
		l.strange = append(l.strange, text)
	}
}

func (l *logWatch) failure(what string) {
	switch {
	case strings.HasPrefix(what, "Task timed out"), strings.Contains(what, "did not ask for work within"): // frozen in its start
		l.timeouts++
	case strings.HasSuffix(what, "signal: killed"), strings.HasSuffix(what, "killed before it ran"):
		l.crashes++
	default:
		l.strange = append(l.strange, "an invocation failed: "+what)
	}
}
