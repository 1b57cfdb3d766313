package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// shared is the sandbox of testdata/echo that most tests use; its functions are built once.
var shared struct {
	*Sandbox
	output *syncBuffer
	err    error
}

func TestMain(m *testing.M) {
	shared.output = &syncBuffer{}
	shared.Sandbox, shared.err = Start(context.Background(), Config{Template: "testdata/echo/template.yaml", Log: shared.output})
	if shared.err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", shared.err, shared.output)
		os.Exit(1)
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := errors.Join(shared.Close(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// syncBuffer is a log that can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// call is one request to the shared sandbox.
type call struct {
	method string // POST
	path   string // /echo
	do     string // what the function is to do
	token  string // of acme/alice; "-" for none
	header http.Header
	body   string
}

type answer struct {
	status int
	header http.Header
	body   string
}

func send(t *testing.T, c call) answer {
	t.Helper()
	a, err := trySend(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func trySend(c call) (answer, error) {
	if c.method == "" {
		c.method = http.MethodPost
	}
	if c.path == "" {
		c.path = "/echo"
	}
	if c.do != "" {
		c.path += "?do=" + url.QueryEscape(c.do)
	}
	req, err := http.NewRequest(c.method, shared.URL()+c.path, strings.NewReader(c.body))
	if err != nil {
		return answer{}, err
	}
	if c.header != nil {
		req.Header = c.header
	}
	if c.token == "" {
		if c.token, err = shared.Token("acme", "alice"); err != nil {
			return answer{}, err
		}
	}
	if c.token != "-" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(body)}, err
}

// control calls a control route, which must succeed, and decodes its JSON into out where that is not nil.
func controlCall(t *testing.T, method, path, body string, out any) {
	t.Helper()
	req, err := http.NewRequest(method, shared.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// eventually waits for something that another process or goroutine is about to do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestEchoEndToEnd(t *testing.T) {
	a := send(t, call{path: "/echo?a=1&a=2", body: `{"n":1}`, header: http.Header{"Content-Type": {"application/json"}, "X-Two": {"1", "2"}}})
	if a.status != 200 || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("answer %+v", a)
	}
	var e httpEvent
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		t.Fatal(err)
	}
	if e.RouteKey != "POST /echo" || e.Body != `{"n":1}` || e.IsBase64Encoded || e.Headers["x-two"] != "1,2" || e.QueryStringParameters["a"] != "1,2" {
		t.Errorf("event %+v", e)
	}
	claims := e.RequestContext.Authorizer.JWT.Claims
	if claims["tenant_id"] != "acme" || claims["sub"] != "alice" || claims["iss"] != localIssuer {
		t.Errorf("claims %v", claims)
	}
	if got := a.header.Get("Apigw-Requestid"); got == "" || got != e.RequestContext.RequestID {
		t.Errorf("Apigw-Requestid %q, event's requestId %q", got, e.RequestContext.RequestID)
	}
}

// That a closed sandbox leaves no goroutine behind is checked for all of them at the end of TestMain.
func TestCloseWithARequestInFlight(t *testing.T) {
	s, err := Start(t.Context(), Config{Template: "testdata/echo/template.yaml", Timeout: 20 * time.Second, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	waiting := make(chan error)
	go func() {
		res, err := client.Post(s.URL()+"/open?do=sleep+15s", "", nil)
		if err == nil {
			res.Body.Close()
		}
		waiting <- err
	}()
	eventually(t, "the function works", func() bool { return busyInstances(s, "EchoFunction") > 0 })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waiting; err == nil {
		t.Error("the request was answered")
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}
