package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestGatewayAnswers(t *testing.T) {
	admin := sign(t, jwtClaims("admin"), shared.issuer.key, keyID)
	for name, tt := range map[string]struct {
		call call
		want int
		body string // contained
	}{
		"no route":                {call{path: "/nowhere"}, 404, `{"message":"Not Found"}`},
		"no route, no token":      {call{path: "/nowhere", token: "-"}, 404, `{"message":"Not Found"}`},
		"other method":            {call{method: "PUT"}, 404, `{"message":"Not Found"}`},
		"no token":                {call{token: "-"}, 401, `{"message":"Unauthorized"}`},
		"bad token":               {call{token: "x.y.z"}, 401, `{"message":"Unauthorized"}`},
		"no scope":                {call{method: "GET", path: "/scoped"}, 403, `{"message":"Forbidden"}`},
		"scope":                   {call{method: "GET", path: "/scoped", token: admin}, 200, `"scopes":["admin"]`},
		"open route":              {call{method: "PUT", path: "/open", token: "-"}, 200, `"routeKey":"ANY /open"`},
		"path variable":           {call{method: "GET", path: "/echo/a%20b"}, 200, `"pathParameters":{"id":"a b"}`},
		"crash":                   {call{do: "exit"}, 500, `{"message":"Internal Server Error"}`},
		"panic":                   {call{do: "panic"}, 500, `{"message":"Internal Server Error"}`},
		"error":                   {call{do: "fail"}, 500, `{"message":"Internal Server Error"}`},
		"malformed response":      {call{do: `return {"statusCode":"200"}`}, 500, `{"message":"Internal Server Error"}`},
		"response over 6 MB":      {call{do: "big"}, 500, `{"message":"Internal Server Error"}`},
		"timeout":                 {call{path: "/brief", do: "sleep 30s"}, 500, `{"message":"Internal Server Error"}`},
		"event over 6 MB":         {call{body: strings.Repeat("x", 6<<20)}, 413, `{"message":"Request Entity Too Large"}`},
		"body over 10 MB":         {call{body: strings.Repeat("x", maxBody+1)}, 413, `{"message":"Request Entity Too Large"}`},
		"headers over 10,240 B":   {call{header: http.Header{"X-Long": {strings.Repeat("x", maxHeaders)}}}, 431, "message"},
		"response with cookies":   {call{do: `return {"statusCode":201,"cookies":["a=1"],"body":"b"}`}, 201, "b"},
		"response of any value":   {call{do: "return 7"}, 200, "7"},
		"response without a body": {call{do: `return {"statusCode":204}`}, 204, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := send(t, tt.call)
			if a.status != tt.want || !strings.Contains(a.body, tt.body) {
				t.Errorf("%d %.300s, want %d %s", a.status, a.body, tt.want, tt.body)
			}
			if a.header.Get("Apigw-Requestid") == "" || a.header.Get("Date") == "" {
				t.Errorf("headers %v", a.header)
			}
		})
	}
	eventually(t, "the timeout is logged", func() bool {
		return strings.Contains(shared.output.String(), "[BriefFunction] RequestId: ") && strings.Contains(shared.output.String(), "Task timed out after 1.00 seconds")
	})
}

func jwtClaims(scope string) map[string]any {
	now := time.Now()
	return map[string]any{"iss": localIssuer, "aud": localAudience, "scope": scope, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
}

func TestProcessIsUsedAgain(t *testing.T) {
	first := send(t, call{do: "pid"}).body
	controlCall(t, "POST", "/_sandbox/reset", "", nil)
	for range 30 {
		if pid := send(t, call{do: "pid"}).body; pid != first {
			t.Fatalf("process %s after %s", pid, first)
		}
	}
	send(t, call{do: "fail"}) // an error that the function returned leaves its process alone
	if pid := send(t, call{do: "pid"}).body; pid != first {
		t.Errorf("process %s after an error, before it %s", pid, first)
	}
	var stats struct {
		Invocations map[string]int `json:"invocations"`
		ColdStarts  map[string]int `json:"cold_starts"`
	}
	controlCall(t, "GET", "/_sandbox/stats", "", &stats)
	if stats.Invocations["EchoFunction"] != 32 || stats.ColdStarts["EchoFunction"] != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestFiftyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	answers := make([]answer, 50)
	for i := range answers {
		wg.Go(func() {
			a, err := trySend(call{do: "sleep 200ms", body: strconv.Itoa(i)})
			if err != nil {
				t.Error(err)
			}
			answers[i] = a
		})
	}
	wg.Wait()
	for i, a := range answers {
		var e httpEvent
		if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.status != 200 {
			t.Fatalf("answer %d: %+v", i, a)
		}
		if _, body := isBody(e, strconv.Itoa(i)); !body {
			t.Errorf("answer %d is another one's: %q", i, e.Body)
		}
	}
}

// isBody reports whether the event has the body, which came without a content type and so in base64.
func isBody(e httpEvent, want string) (string, bool) {
	text, _ := encodeBody("", []byte(want))
	return text, e.Body == text
}

func TestKill(t *testing.T) {
	before := send(t, call{do: "pid"}).body
	inFlight := make(chan answer, 1)
	go func() {
		a, err := trySend(call{do: "sleep 14s"})
		if err != nil {
			t.Error(err)
		}
		inFlight <- a
	}()
	eventually(t, "a request is in flight", func() bool {
		return strings.Contains(shared.output.String(), "[EchoFunction] sleeping 14s\n")
	})
	controlCall(t, "POST", "/_sandbox/reset", "", nil)
	var killed struct{ Killed int }
	controlCall(t, "POST", "/_sandbox/kill?function=EchoFunction", "", &killed)
	if killed.Killed < 1 {
		t.Errorf("killed %d", killed.Killed)
	}
	if a := <-inFlight; a.status != 500 {
		t.Errorf("in flight: %+v", a)
	}
	after := send(t, call{do: "pid"}).body
	_, coldStarts := shared.pools["EchoFunction"].counts()
	if after == before || coldStarts != 1 {
		t.Errorf("process %s after %s, %d cold starts", after, before, coldStarts)
	}
}

func busyInstances(s *Sandbox, id string) int {
	p := s.pools[id]
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, i := range p.all {
		if i.state == busy {
			n++
		}
	}
	return n
}

func TestClientThatLeavesDoesNotStopTheFunction(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", shared.URL()+"/open?do=late+300ms+after-all", nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			res.Body.Close()
		}
		done <- err
	}()
	eventually(t, "the function works", func() bool { return busyInstances(shared.Sandbox, "EchoFunction") > 0 })
	leave()
	if err := <-done; err == nil {
		t.Skip("the function was faster than the client's leaving")
	}
	eventually(t, "the function went on to its end", func() bool { return strings.Contains(shared.output.String(), "[EchoFunction] after-all\n") })
}

func TestLogLines(t *testing.T) {
	send(t, call{do: "log a line of its own"})
	for _, want := range []string{"[EchoFunction] a line of its own\n", "[EchoFunction] a line of its own again\n"} {
		eventually(t, want, func() bool { return strings.Contains(shared.output.String(), want) })
	}
	for line := range strings.Lines(shared.output.String()) {
		if !strings.HasPrefix(line, "[") {
			t.Errorf("a line without a name: %q", line)
		}
	}
}

// Building may take a minute without a word from the compiler.
func TestBuildIsAnnounced(t *testing.T) {
	l := newLauncher()
	defer l.close()
	out := &syncBuffer{}
	functions := []function{{id: "One", codeDir: t.TempDir()}, {id: "Two", codeDir: t.TempDir()}} // without a Makefile
	if err := build(t.Context(), l, &logger{to: out}, functions, t.TempDir()); err == nil {
		t.Fatal("built")
	}
	const want = "[sandbox] building One, Two (the first time takes a minute) …\n"
	if got := out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("printed %q, want %q first", got, want)
	}
}

func TestNoOrphansOfAKilledProcess(t *testing.T) {
	child, err := strconv.Atoi(send(t, call{path: "/brief", do: "child 600"}).body)
	if err != nil {
		t.Fatal(err)
	}
	controlCall(t, "POST", "/_sandbox/kill?function=BriefFunction", "", nil)
	eventually(t, "the function's own child is gone", func() bool { return syscall.Kill(child, 0) == syscall.ESRCH || isZombie(child) })
}

func TestInvocationContext(t *testing.T) {
	var got struct {
		LeftMS int    `json:"left_ms"`
		ARN    string `json:"arn"`
		ID     string `json:"id"`
	}
	if err := json.Unmarshal([]byte(send(t, call{do: "deadline"}).body), &got); err != nil {
		t.Fatal(err)
	}
	if got.LeftMS <= 0 || got.LeftMS > 20_000 || got.ARN != "arn:aws:lambda:us-east-1:000000000000:function:EchoFunction" || len(got.ID) != 36 {
		t.Errorf("%+v", got)
	}
}

func TestGatewayDoesNotWaitForEver(t *testing.T) {
	g := &gateway{pools: shared.pools, log: shared.log, limit: time.Millisecond, timings: &timings{}}
	a := arrived("POST", "/open?do=sleep+300ms", "", http.Header{})
	a.match.route.function = "EchoFunction"
	if out, _ := g.invoke(a); out.status != 503 || string(out.body) != `{"message":"Service Unavailable"}` {
		t.Errorf("%d %s", out.status, out.body)
	}
}

func TestThrottling(t *testing.T) {
	p := &pool{all: make([]*instance, 3), log: shared.log, fn: function{concurrency: 3}}
	for i := range p.all {
		p.all[i] = &instance{state: busy}
	}
	if out := p.invoke(&invocation{id: "x"}); out.failure != throttled {
		t.Errorf("%+v", out)
	}
}

// A process that has answered and does not poll again must not keep a request waiting for it.
func TestRequestDoesNotWaitForALingeringProcess(t *testing.T) {
	l := newLauncher()
	defer l.close()
	lingering := &instance{state: returning, since: time.Now()}
	p := &pool{all: []*instance{lingering}, log: shared.log, launcher: l, fn: function{concurrency: 2}, artifacts: t.TempDir()}
	out := p.invoke(&invocation{id: "x"}) // there is no bootstrap, so the new process fails
	if out.failure != notStarted || !strings.Contains(out.detail, "bootstrap") {
		t.Errorf("%+v", out)
	}
}

func TestIdleProcessesEnd(t *testing.T) {
	send(t, call{path: "/brief"})
	p := shared.pools["BriefFunction"]
	eventually(t, "the process is idle", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.idle) > 0 })
	p.reap(time.Now().Add(idleLimit - time.Minute))
	p.mu.Lock()
	kept := len(p.idle)
	p.mu.Unlock()
	p.reap(time.Now().Add(idleLimit + time.Minute))
	eventually(t, "it has ended", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.all) == 0 })
	if kept == 0 {
		t.Error("ended before its time")
	}
	if a := send(t, call{path: "/brief"}); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
}

func TestTimings(t *testing.T) {
	shared.timings.take()
	send(t, call{do: "sleep 20ms"})
	eventually(t, "the request is noted", func() bool {
		got := shared.timings.take()
		if len(got) != 1 {
			return false
		}
		if got[0].Function < 20*time.Millisecond || got[0].Total < got[0].Function {
			t.Errorf("%+v", got)
		}
		return true
	})
	ring := &timings{}
	for i := range maxTimings + 5 {
		ring.add(timing{Total: time.Duration(i)})
	}
	if got := ring.take(); len(got) != maxTimings || got[0].Total != maxTimings {
		t.Errorf("%d kept, the first is %v", len(got), got[0])
	}
}

func TestFunctionSeesTheServices(t *testing.T) {
	for name, want := range map[string]string{
		"AWS_LAMBDA_FUNCTION_NAME":         "EchoFunction",
		"AWS_ENDPOINT_URL_DYNAMODB":        shared.services.database,
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": shared.services.secrets,
		"PROVIDER_SECRET_ARN":              secretARN(localRegion),
		"TABLE":                            "sandbox-Items",
	} {
		if got := send(t, call{do: "env " + name}).body; got != fmt.Sprintf("%q", want) {
			t.Errorf("%s is %s, want %q", name, got, want)
		}
	}
}
