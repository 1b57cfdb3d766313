package dynamofake

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// childDir makes the test binary a server of that directory, so that a test
// can kill it.
const childDir = "DYNAMOFAKE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		serveChild(dir)
	}
	os.Exit(m.Run())
}

func serveChild(dir string) {
	s, err := Open(Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", l.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(l, s))
	os.Exit(1)
}

// startChild starts such a server and returns its URL and a function that
// kills it.
func startChild(t *testing.T, dir string) (url string, kill func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // "signal: killed" is what we want
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the child did not start: %v", err)
	}
	return strings.TrimSpace(line), kill
}

// TestKill kills a server with SIGKILL in the middle of writes, several times
// over: every acknowledged write is there afterwards, and every transaction is
// there as a whole or not at all.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	url, kill := startChild(t, dir)
	send := func(op, body string) (string, bool) {
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return "", false
		}
		r.Header.Set("X-Amz-Target", serviceDynamo+"."+op)
		out, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", false
		}
		defer out.Body.Close()
		text, err := bufio.NewReader(out.Body).ReadString(0)
		return text, out.StatusCode == http.StatusOK && (err == nil || text != "")
	}
	if text, ok := send("CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`); !ok {
		t.Fatal(text)
	}
	var mu sync.Mutex
	acked, tried := map[string]bool{}, map[string]bool{}
	for round := range 5 {
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					key := fmt.Sprintf("%d-%d-%d", round, g, i)
					mu.Lock()
					tried[key] = true
					mu.Unlock()
					_, ok := send("TransactWriteItems", fmt.Sprintf(`{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"%s"}}}},{"Put":{"TableName":"tab","Item":{"pk":{"S":"%s'"}}}}]}`, key, key))
					if !ok {
						return
					}
					mu.Lock()
					acked[key] = true
					enough := len(acked) == 60*(round+1)
					mu.Unlock()
					if enough {
						kill()
					}
				}
			})
		}
		wg.Wait()
		url, kill = startChild(t, dir)
		for key := range tried {
			one, ok := send("GetItem", fmt.Sprintf(`{"TableName":"tab","Key":{"pk":{"S":"%s"}}}`, key))
			other, ok2 := send("GetItem", fmt.Sprintf(`{"TableName":"tab","Key":{"pk":{"S":"%s'"}}}`, key))
			if !ok || !ok2 {
				t.Fatalf("round %d: no answer after the restart: %s", round, one)
			}
			if acked[key] && one == "{}" || (one == "{}") != (other == "{}") {
				t.Fatalf("round %d: %s acknowledged %v, there %s and %s", round, key, acked[key], one, other)
			}
		}
	}
}
