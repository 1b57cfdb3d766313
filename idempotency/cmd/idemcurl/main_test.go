package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"firstwriter/idempotency"
	"firstwriter/idempotency/httpclient"
)

// counter is a server that keeps what it is sent and answers with the statuses that it was given; the last one stays.
type counter struct {
	mu       sync.Mutex // guards the following
	statuses []int      // 0 drops the connection
	got      []*http.Request
	bodies   []string
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	status := c.statuses[min(len(c.got), len(c.statuses)-1)]
	c.got, c.bodies = append(c.got, r), append(c.bodies, string(text))
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Answer", "yes")
	w.WriteHeader(status)
	fmt.Fprintf(w, "answer %d\n", len(c.got))
}

func newCounter(t *testing.T, statuses ...int) (*counter, string) {
	c := &counter{statuses: statuses}
	s := httptest.NewServer(c)
	s.Config.SetKeepAlivesEnabled(false) // net/http sends again by itself where a kept connection is dropped
	t.Cleanup(s.Close)
	return c, s.URL + "/payments"
}

// curl runs the command with a journal of its own.
func curl(t *testing.T, journal, in string, args ...string) (code int, out, complaints string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), environment{strings.NewReader(in), &o, &e}, append(args, "--journal", journal))
	return code, o.String(), e.String()
}

// TestStatus: the exit status says what a script must know.
func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		statuses []int
		code     int
		sent     int
	}{
		"done":            {[]int{201}, 0, 1},
		"done at last":    {[]int{503, 0, 201}, 0, 3},
		"refused":         {[]int{402}, 1, 1},
		"redirected":      {[]int{307}, 1, 1},
		"unknown":         {[]int{503}, 2, 3},
		"nothing done":    {[]int{429}, 2, 3},
		"no token":        {[]int{401}, 1, 1},
		"lost, no token":  {[]int{0, 401}, 2, 2},
		"lost, then paid": {[]int{0, 200}, 0, 2},
	} {
		s, url := newCounter(t, c.statuses...)
		code, out, complaints := curl(t, t.TempDir(), "", "--max-attempts", "3", "-d", "x", url)
		if code != c.code || len(s.got) != c.sent || strings.Count(complaints, "attempt ") != c.sent {
			t.Errorf("%s: exit %d, sent %d times\n%s", name, code, len(s.got), complaints)
		}
		if last := fmt.Sprintf("answer %d\n", c.sent); c.code < 2 && out != last {
			t.Errorf("%s: printed %q", name, out)
		}
		if (c.code == 2) != strings.Contains(complaints, "idemcurl resume --key ") {
			t.Errorf("%s: no advice how to go on, or a wrong one:\n%s", name, complaints)
		}
	}
}

// TestRequest: method, headers and body are sent as in curl, and the key as it was given.
func TestRequest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const form, json = "application/x-www-form-urlencoded", "application/json"
	for _, c := range []struct {
		args                    []string
		method, body, kind, key string
	}{
		{[]string{"-d", "a=1"}, "POST", "a=1", form, ""},
		{[]string{"-d", "a=1", "-d", "b=2"}, "POST", "a=1&b=2", form, ""},
		{[]string{"-XPUT", "-da=1"}, "PUT", "a=1", form, ""},
		{[]string{"-d", "-Hello"}, "POST", "-Hello", form, ""},
		{[]string{"-H", "-Xtra: 1", "--json", "-dash"}, "POST", "-dash", json, ""},
		{[]string{"--key", "-Xk", "-d-Hello"}, "POST", "-Hello", form, `"-Xk"`},
		{[]string{"-X", "DELETE"}, "DELETE", "", "", ""},
		{[]string{"--json", `{"a":1}`, "--key", "order-42"}, "POST", `{"a":1}`, json, `"order-42"`},
		{[]string{"--json", `{}`, "--key", "order-42", "--bare"}, "POST", `{}`, json, `order-42`},
		{[]string{"-d", "@" + file}, "POST", "from a file\n", form, ""},
		{[]string{"-d", "@-", "-HContent-Type: text/plain"}, "POST", "from the input", "text/plain", ""},
	} {
		s, url := newCounter(t, 201)
		args := append(c.args, "-H", "Authorization: Bearer secret", "-H", "X-Two: 1", "-H", "X-Two: 2", url, "-i")
		code, out, complaints := curl(t, t.TempDir(), "from the input", args...)
		if code != 0 {
			t.Fatalf("%v: exit %d\n%s", c.args, code, complaints)
		}
		r := s.got[0]
		if r.Method != c.method || s.bodies[0] != c.body || r.Header.Get("Content-Type") != c.kind ||
			r.Header.Get("Authorization") != "Bearer secret" || len(r.Header["X-Two"]) != 2 {
			t.Errorf("%v: %s %q %v", c.args, r.Method, s.bodies[0], r.Header)
		}
		if key := r.Header.Get(idempotency.KeyHeader); c.key != "" && key != c.key || key == "" {
			t.Errorf("%v: key %s", c.args, key)
		}
		if !strings.HasPrefix(out, "HTTP/1.1 201 Created\n") || !strings.Contains(out, "X-Answer: yes\r\n") {
			t.Errorf("%v: -i printed %q", c.args, out)
		}
	}
}

// TestResume: what was left without an answer is finished with the same key, its body given again or kept.
func TestResume(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s, url := newCounter(t, 0, 0, 201)
		journal := t.TempDir()
		args := []string{"--max-attempts", "2", "--json", `{"a":1}`, "-H", "Authorization: Bearer old", url}
		if keep {
			args = append(args, "--keep-body")
		}
		if code, _, complaints := curl(t, journal, "", args...); code != 2 {
			t.Fatalf("exit %d\n%s", code, complaints)
		}
		if code, out, _ := curl(t, journal, "", "resume", "--list"); code != 0 || !strings.Contains(out, "POST "+url) {
			t.Errorf("listed: exit %d, %s", code, out)
		}
		if !keep {
			if code, _, complaints := curl(t, journal, "", "resume"); code != 2 || !strings.Contains(complaints, "with -d") {
				t.Errorf("without a body: exit %d\n%s", code, complaints)
			}
			if code, _, complaints := curl(t, journal, "", "resume", "-d", "other"); code != 2 || !strings.Contains(complaints, httpclient.ErrKeyUsed.Error()) {
				t.Errorf("with another body: exit %d\n%s", code, complaints)
			}
		}
		resume := []string{"resume", "-H", "Authorization: Bearer new"}
		if !keep {
			resume = append(resume, "-d", `{"a":1}`)
		}
		code, out, complaints := curl(t, journal, "", resume...)
		if code != 0 || out != "answer 3\n" || len(s.got) != 3 {
			t.Fatalf("keep %v: exit %d, sent %d times, %q\n%s", keep, code, len(s.got), out, complaints)
		}
		first, last := s.got[0].Header, s.got[2].Header
		if first.Get(idempotency.KeyHeader) != last.Get(idempotency.KeyHeader) || last.Get("Authorization") != "Bearer new" ||
			last.Get("Content-Type") != "application/json" || s.bodies[2] != `{"a":1}` {
			t.Errorf("keep %v: resumed with %v %q", keep, last, s.bodies[2])
		}
		if code, out, _ := curl(t, journal, "", "resume", "--list"); code != 0 || out != "" {
			t.Errorf("still unfinished: exit %d, %s", code, out)
		}
	}
}

// TestResumeSome: one operation can be picked; its neighbours and a damaged file are told of and stay.
func TestResumeSome(t *testing.T) {
	_, url := newCounter(t, 0, 0, 201)
	journal := t.TempDir()
	for _, key := range []string{"one", "it's two"} {
		if code, _, _ := curl(t, journal, "", "--max-attempts", "1", "--key", key, url); code != 2 {
			t.Fatalf("exit %d", code)
		}
	}
	if code, _, complaints := curl(t, journal, "", "resume", "--key", "it's two"); code != 0 {
		t.Errorf("exit %d\n%s", code, complaints)
	}
	if code, out, _ := curl(t, journal, "", "resume", "--list"); code != 0 || !strings.Contains(out, "key 'one'") || strings.Contains(out, "two") {
		t.Errorf("left: exit %d, %s", code, out)
	}
	if err := os.WriteFile(filepath.Join(journal, "foreign"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, complaints := curl(t, journal, "", "resume")
	if code != 2 || !strings.HasPrefix(out, "answer ") || !strings.Contains(complaints, "foreign") {
		t.Errorf("with a foreign file: exit %d, %q\n%s", code, out, complaints)
	}
}

// TestForgotten: what is past the retention is not sent again, and the user is told once.
func TestForgotten(t *testing.T) {
	s, url := newCounter(t, 0)
	journal := t.TempDir()
	if code, _, _ := curl(t, journal, "", "--max-attempts", "1", "--retention", "1ns", "--max-time", "1ns", url); code != 64 {
		t.Fatalf("exit %d", code)
	}
	dir, err := httpclient.OpenDir(journal)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-48 * time.Hour)
	sum := [32]byte{}
	if _, err := dir.Begin(httpclient.Entry{Key: "old", Method: "POST", URL: url, BodyHash: sum[:], At: at, Until: at.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if code, _, complaints := curl(t, journal, "", "resume"); code != 2 || !strings.Contains(complaints, "dropped POST "+url+", key 'old'") {
		t.Errorf("exit %d\n%s", code, complaints)
	}
	if code, _, complaints := curl(t, journal, "", "resume"); code != 0 || complaints != "" || len(s.got) != 0 {
		t.Errorf("exit %d, sent %d times\n%s", code, len(s.got), complaints)
	}
}

// TestNoJournal: without one the advice is to give the key again.
func TestNoJournal(t *testing.T) {
	_, url := newCounter(t, 0)
	code, _, complaints := curl(t, "none", "", "--max-attempts", "1", "-s", "--key", "k1", url)
	if code != 2 || !strings.Contains(complaints, "again with --key 'k1'") || strings.Contains(complaints, "attempt 1") {
		t.Errorf("exit %d\n%s", code, complaints)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"ftp://server/"}, {"/payments"}, {"http://a/", "http://b/"}, {"--nonsense", "http://a/"}, {"-H", "nothing", "http://a/"},
		{"-H", "A: b\r\nC: d", "http://a/"}, {"-H", "Idempotency-Key: k", "http://a/"}, {"-d", "@/missing", "http://a/"},
		{"--max-attempts", "-1", "http://a/"}, {"--max-time", "48h", "http://a/"}, {"-X", "PO ST", "http://a/"},
		{"resume", "http://a/"}, {"resume", "-X", "PUT"},
		{"--key", "", "http://127.0.0.1:1/"}, {"--key=", "http://127.0.0.1:1/"}, {"resume", "--key", ""}, {"--key", "a", "--key", "b", "http://127.0.0.1:1/"},
	} {
		if code, out, complaints := curl(t, t.TempDir(), "", args...); code != 64 || out != "" || !strings.HasPrefix(complaints, "idemcurl: ") {
			t.Errorf("%q: exit %d\n%s%s", args, code, out, complaints)
		}
	}
	if code, _, _ := curl(t, "none", "", "resume"); code != 64 {
		t.Errorf("resume without a journal: exit %d", code)
	}
	if code, out, _ := curl(t, "none", "", "--help"); code != 0 || !strings.Contains(out, "-keep-body") {
		t.Errorf("help: exit %d\n%s", code, out)
	}
}
