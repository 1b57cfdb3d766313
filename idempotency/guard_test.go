package idempotency

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFirstThenReplay(t *testing.T) {
	x := newTrial(t, nil)
	first := x.serve(post("k", `{"amount":1}`))
	again := x.serve(post(`"k"`, `{ "amount": 1.0 }`))
	if first.Header.Get(ReplayHeader) != "" || again.Header.Get(ReplayHeader) != "true" {
		t.Errorf("replay headers %q and %q", first.Header.Get(ReplayHeader), again.Header.Get(ReplayHeader))
	}
	again.Header.Del(ReplayHeader)
	if !reflect.DeepEqual(first, again) {
		t.Errorf("replayed %+v, first %+v", again, first)
	}
	if x.runs != 1 || x.store.calls["claim"] != 2 || x.store.calls["complete"] != 1 || len(x.store.calls) != 2 {
		t.Errorf("%d runs, calls %v; a first run is one claim and one completion, a replay one claim", x.runs, x.store.calls)
	}
}

func TestRefusals(t *testing.T) {
	refuse := func(context.Context, *Request) *Response { return &Response{Status: 418, Header: http.Header{}} }
	for _, c := range []struct {
		name   string
		config func(*Config)
		change func(*Request)
		status int
		code   string
	}{
		{"no key", nil, func(r *Request) { r.Header.Del(KeyHeader) }, 400, "key-missing"},
		{"malformed key", nil, func(r *Request) { r.Header.Set(KeyHeader, "a b") }, 400, "key-invalid"},
		{"bare key where quotes are needed", func(c *Config) { c.QuotedKeys = true }, nil, 400, "key-invalid"},
		{"key of another format", func(c *Config) { c.KeyFormat = func(string) bool { return false } }, nil, 400, "key-invalid"},
		{"F42 no scope", nil, func(r *Request) { r.Caller = Caller{} }, 403, "caller-unknown"},
		{"F41 scope from a header", nil, func(r *Request) { r.Caller = Caller{}; r.Header.Set("Tenant", "acme") }, 403, "caller-unknown"},
		{"no principal", func(c *Config) { c.Principal = JWTClaim("nobody") }, nil, 403, "caller-unknown"},
		{"F52 body too large", func(c *Config) { c.MaxBody = 4 }, func(r *Request) { r.Body = []byte("12345") }, 413, "body-too-large"},
		{"F43 not authorized", func(c *Config) { c.Authorize = refuse }, nil, 418, ""},
		{"not valid", func(c *Config) { c.Validate = refuse }, nil, 418, ""},
		{"order: scope before key", nil, func(r *Request) { r.Caller = Caller{}; r.Header.Del(KeyHeader) }, 403, "caller-unknown"},
		{"order: key before size", func(c *Config) { c.MaxBody = 1 }, func(r *Request) { r.Header.Del(KeyHeader) }, 400, "key-missing"},
		{"order: size before authorize", func(c *Config) { c.MaxBody, c.Authorize = 1, refuse }, nil, 413, "body-too-large"},
		{"changed status", func(c *Config) { c.Status = func(string, int) int { return 428 } }, func(r *Request) { r.Header.Del(KeyHeader) }, 428, "key-missing"},
	} {
		x := newTrial(t, c.config)
		r := post("k", `{"amount":1}`)
		if c.change != nil {
			c.change(r)
		}
		x.want(c.name, x.serve(r), c.status, c.code)
		if x.runs != 0 || x.store.calls["claim"] != 0 {
			t.Errorf("%s: %d runs, calls %v", c.name, x.runs, x.store.calls)
		}
		if x.outcome() != OutcomeRejected {
			t.Errorf("%s: outcome %s", c.name, x.outcome())
		}
	}
}

func TestLimitsAreInclusive(t *testing.T) { // F52
	x := newTrial(t, func(c *Config) { c.MaxBody = 4 })
	x.want("body at the limit", x.serve(post("k", "1234")), 201, "")
}

func TestKeysOfOthers(t *testing.T) {
	x := newTrial(t, func(c *Config) { c.Principal = JWTClaim("sub") })
	x.want("first", x.serve(post("k", `{"amount":1}`)), 201, "")

	r := post("k", `{"amount":2}`)
	x.want("F36 other payload", x.serve(r), 422, "key-reused")
	r = post("k", `{"amount":1}`)
	r.Path = "/refunds"
	x.want("F39 other path", x.serve(r), 422, "key-reused")
	r = post("k", `{"amount":1}`)
	r.Method = "PATCH"
	x.want("F39 other method", x.serve(r), 422, "key-reused")
	r = post("k", `{"amount":1}`)
	r.RawQuery = "dry=1"
	x.want("other query", x.serve(r), 422, "key-reused")
	r = post("k", `{"amount":2}`)
	r.Caller.Claims["sub"] = "bob"
	x.want("F44 other principal, other payload", x.serve(r), 403, "replay-forbidden")
	if x.runs != 1 {
		t.Errorf("%d runs", x.runs)
	}
	r = post("k", `{"amount":2}`)
	r.Caller.Claims["tenant"] = "globex"
	x.want("F39 F45 other tenant", x.serve(r), 201, "")
	if x.runs != 2 {
		t.Errorf("another tenant's key does not look unused: %d runs", x.runs)
	}
}

func TestProblemsTellNothing(t *testing.T) {
	x := newTrial(t, nil)
	x.serve(post("k", `{"amount":1}`))
	for _, r := range []*Response{x.serve(post("k", `{"amount":2}`)), x.serve(post("secret key", ""))} {
		for _, leak := range []string{"/payments/1", `"id":1`, "secret key"} {
			if bytes.Contains(r.Body, []byte(leak)) {
				t.Errorf("%s holds %q", r.Body, leak)
			}
		}
		if r.Header.Get("Location") != "" || r.Header.Get(ReplayHeader) != "" {
			t.Errorf("headers %v", r.Header)
		}
	}
}

func TestUnguarded(t *testing.T) {
	x := newTrial(t, func(c *Config) { c.OptionalKey = true })
	for range 2 {
		x.want("no key, optional", x.serve(post("", `{}`)), 201, "")
		get := post("k", `{}`)
		get.Method = "GET"
		x.want("method not guarded", x.serve(get), 201, "")
		if x.outcome() != OutcomeUnguarded {
			t.Errorf("outcome %s", x.outcome())
		}
	}
	if x.runs != 4 || len(x.store.calls) != 0 {
		t.Errorf("%d runs, calls %v", x.runs, x.store.calls)
	}

	failed := x.guard.Serve(context.Background(), post("", "{}"), func(context.Context) (*Response, error) { return nil, errors.New("half done") })
	x.want("failed", failed, 500, "handler-failed")
	if !bytes.Contains(failed.Body, []byte(`"retryable":false`)) {
		t.Errorf("nothing protects it, and it is told to try again: %s", failed.Body)
	}
	odd := &Response{Status: 201, Header: http.Header{ReplayHeader: {"true"}, "X": {"a\r\nb", "c"}}}
	r := x.guard.Serve(context.Background(), post("", "{}"), func(context.Context) (*Response, error) { return odd, nil })
	if len(r.Header) != 1 || len(r.Header["X"]) != 1 || len(odd.Header) != 2 {
		t.Errorf("headers %v of %v", r.Header, odd.Header)
	}
}

// TestDispositions tells for each kind of response whether a later attempt runs again.
func TestDispositions(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		decide Disposition
		policy OrphanPolicy
		second int // status of the second answer, from a handler that answers 201
	}{
		{"success", 200, 0, Rerun, 200},
		{"redirect", 303, 0, Rerun, 303},
		{"decline", 402, 0, Rerun, 402},
		{"conflict of its own", 409, 0, Rerun, 409},
		{"F27 5xx", 503, 0, Rerun, 201},
		{"F30 429", 429, 0, Rerun, 201},
		{"401", 401, 0, Rerun, 201}, {"403", 403, 0, Rerun, 201}, {"408", 408, 0, Rerun, 201}, {"425", 425, 0, Rerun, 201},
		{"499", 499, 0, Rerun, 499}, {"500", 500, 0, Rerun, 201},
		{"released under Refuse", 503, 0, Refuse, 201},
		{"handler keeps its 5xx", 503, Keep, Rerun, 503},
		{"handler lets go of a 2xx", 200, LetGo, Rerun, 201},
		{"F28 handler doubts its 5xx", 503, Doubt, Refuse, 409},
		{"F28 handler doubts its 5xx, Rerun", 503, Doubt, Rerun, 201},
	} {
		x := newTrial(t, func(c2 *Config) { c2.Orphans = c.policy })
		first := x.guard.Serve(context.Background(), post("k", "{}"), func(ctx context.Context) (*Response, error) {
			if c.decide != 0 {
				AttemptFrom(ctx).Decide(c.decide)
			}
			return &Response{Status: c.status, Header: http.Header{}}, nil
		})
		if first.Status != c.status || first.Header.Get(ReplayHeader) != "" {
			t.Errorf("%s: first answer %d", c.name, first.Status)
		}
		if second := x.serve(post("k", "{}")); second.Status != c.second {
			t.Errorf("%s: second answer %d, want %d", c.name, second.Status, c.second)
		}
		x.want(c.name+": other payload", x.serve(post("k", "[]")), 422, "key-reused")
	}
}

// TestFailures: a handler that does not return a response leaves an orphan, which the policy decides on.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		run  RunHandler
	}{
		{"F26 error", func(context.Context) (*Response, error) { return nil, errors.New("boom: k") }},
		{"F26 neither", func(context.Context) (*Response, error) { return nil, nil }},
		{"F25 panic", func(context.Context) (*Response, error) { panic("boom") }},
		{"F26 Goexit", func(context.Context) (*Response, error) { runtime.Goexit(); return nil, nil }},
	} {
		for policy, second := range map[OrphanPolicy]string{Rerun: "", Refuse: "outcome-unknown"} {
			x := newTrial(t, func(c *Config) { c.Orphans = policy })
			var first *Response
			done := make(chan any)
			go func() {
				defer func() { p := recover(); done <- p }()
				first = x.guard.Serve(context.Background(), post("k", "{}"), c.run)
			}()
			panicked := <-done
			if first != nil {
				x.want(c.name, first, 500, "handler-failed")
				if bytes.Contains(first.Body, []byte("boom")) {
					t.Errorf("%s: the error leaks: %s", c.name, first.Body)
				}
			} else if (panicked != nil) != strings.Contains(c.name, "panic") {
				t.Errorf("%s: panicked with %v", c.name, panicked)
			}
			if x.outcome() != OutcomeOrphaned || x.store.calls["orphan"] != 1 {
				t.Errorf("%s: outcome %s, calls %v", c.name, x.outcome(), x.store.calls)
			}
			if got := codeOf(x.serve(post("k", "{}"))); got != second {
				t.Errorf("%s: then %q, want %q", c.name, got, second)
			}
		}
	}
}

func TestCutOff(t *testing.T) { // F13, F26
	for _, c := range []struct {
		name   string
		status int
		want   int
		code   string
	}{
		{"a result after the end is not told", 201, 503, "outcome-unknown"},
		{"a failure is told", 502, 502, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newTrial(t, nil)
			start := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 9*time.Second)
			defer cancel()
			r := x.guard.Serve(ctx, post("k", "{}"), func(ctx context.Context) (*Response, error) {
				<-ctx.Done()
				return &Response{Status: c.status}, nil
			})
			if cut := time.Since(start); cut != 7*time.Second {
				t.Errorf("%s: cut off after %v of 9 s, want 2 s before the end", c.name, cut)
			}
			x.want(c.name, r, c.want, c.code)
			x.want(c.name+": the next one runs at once", x.serve(post("k", "{}")), 201, "")
		})
	}
}

func TestNoTimeLeft(t *testing.T) { // F17
	for _, left := range []time.Duration{0, -time.Second} {
		x := newTrial(t, nil)
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(left))
		x.want("no time", x.guard.Serve(ctx, post("k", "{}"), x.created), 503, "store-unavailable")
		cancel()
		if x.runs != 0 || len(x.store.calls) != 0 {
			t.Errorf("%v left: %d runs, calls %v", left, x.runs, x.store.calls)
		}
	}
}

func TestValidationAndRecords(t *testing.T) { // F29
	valid := true
	refuse := func(context.Context, *Request) *Response {
		if valid {
			return nil
		}
		return &Response{Status: 400, Header: http.Header{}}
	}
	x := newTrial(t, func(c *Config) { c.Validate, c.Orphans = refuse, Refuse })
	x.serve(post("completed", "{}"))
	x.guard.Serve(context.Background(), post("released", "{}"), func(context.Context) (*Response, error) { return &Response{Status: 503}, nil })
	x.guard.Serve(context.Background(), post("orphan", "{}"), func(context.Context) (*Response, error) { return nil, errors.New("x") })
	valid = false
	x.want("no record", x.serve(post("new", "{}")), 400, "")
	x.want("completed", x.serve(post("completed", "{}")), 201, "")
	x.want("completed, other payload", x.serve(post("completed", "[]")), 422, "key-reused")
	x.want("released", x.serve(post("released", "{}")), 400, "")
	x.want("orphan", x.serve(post("orphan", "{}")), 409, "outcome-unknown")
	if x.runs != 1 || x.store.calls["claim"] != 3 || x.store.calls["takeover"] != 0 {
		t.Errorf("%d runs, calls %v", x.runs, x.store.calls)
	}
	x = newTrial(t, func(c *Config) { c.Validate = refuse })
	x.store.fault = on("get", 0, failed)
	x.want("store down", x.serve(post("k", "{}")), 503, "store-unavailable")
}

func TestConfig(t *testing.T) {
	sound := Config{Store: &Memory{}, Scope: SharedScope}
	for _, c := range []struct {
		change func(*Config)
		says   string // "": sound
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Store = nil }, "Store is missing"},
		{func(c *Config) { c.Scope = nil }, "Scope is missing"},
		{func(c *Config) { c.Secret = make([]byte, 15) }, "Secret"},
		{func(c *Config) { c.Secret = make([]byte, 16) }, ""},
		{func(c *Config) { c.Methods = []string{} }, "Methods"},
		{func(c *Config) { c.Methods = []string{"post"} }, "Methods"},
		{func(c *Config) { c.MaxBody = -1 }, "MaxBody"},
		{func(c *Config) { c.Lease = -1 }, "Lease"},
		{func(c *Config) { c.Skew = -1 }, "Skew"},
		{func(c *Config) { c.Wait = -1 }, "Wait"},
		{func(c *Config) { c.MaxRun = time.Second }, "MaxRun"},
		{func(c *Config) { c.Retention = 34 * time.Second }, "Retention"}, // F82
		{func(c *Config) { c.Retention = 34*time.Second + 1 }, ""},
		{func(c *Config) { c.Fingerprint = Selection{Version: 1, Exclude: []string{"no pointer"}} }, "Exclude"},
		{func(c *Config) { c.Orphans = 7 }, "Orphans"},
		{func(c *Config) { c.Orphans = Recover }, "Recover"},
		{func(c *Config) { c.Recover = func(context.Context) (*Response, error) { return nil, nil } }, "Recover"},
	} {
		config := sound
		c.change(&config)
		switch _, err := New(config); {
		case c.says == "" && err != nil:
			t.Errorf("a sound config is refused: %v", err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("error %v does not name %s", err, c.says)
		}
	}
}

func TestDerivedKeys(t *testing.T) {
	x := newTrial(t, nil)
	derive := func(key, body, step string) (got string) {
		x.guard.Serve(context.Background(), post(key, body), func(ctx context.Context) (*Response, error) {
			got = AttemptFrom(ctx).DeriveKey(step)
			return &Response{Status: 503}, nil
		})
		return got
	}
	first := derive("k", "{}", "charge")
	if len(first) != 43 || derive("k", "{}", "charge") != first {
		t.Errorf("another attempt derives another key than %q", first)
	}
	for what, other := range map[string]string{"step": derive("k", "{}", "refund"), "key": derive("l", "{}", "charge"), "F93 request": derive("m", "[]", "charge")} {
		if other == first {
			t.Errorf("another %s derives the same key", what)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("F81 a step without a name derives a key")
		}
	}()
	(&Attempt{}).DeriveKey("")
}

func TestHeaders(t *testing.T) { // F46, F47, F48, F97
	x := newTrial(t, nil)
	sent := http.Header{"Location": {"/x"}, "X-Many": {"a, b", "c"}, "Set-Cookie": {"s=1"}, "Date": {"now"}, "Connection": {"close, X-Hop"},
		"X-Hop": {"1"}, "Access-Control-Allow-Origin": {"https://a"}, "X-Amzn-Trace-Id": {"1"}, "Apigw-Requestid": {"1"},
		"X-Split": {"a\r\nSet-Cookie: evil=1", "kept"}, "Bad\nName": {"x"}, ReplayHeader: {"true"}, "content-type": {"text/plain"}}
	first := x.guard.Serve(context.Background(), post("k", "{}"), func(context.Context) (*Response, error) {
		return &Response{Status: 201, Header: sent, Body: []byte{0, 0xff}}, nil
	})
	if len(first.Header["Set-Cookie"]) != 1 || first.Header.Get("Date") == "" || first.Header.Get(ReplayHeader) != "" {
		t.Errorf("first answer's headers %v", first.Header)
	}
	again := x.serve(post("k", "{}"))
	want := http.Header{"Location": {"/x"}, "X-Many": {"a, b", "c"}, "X-Split": {"kept"}, "Content-Type": {"text/plain"}, ReplayHeader: {"true"}}
	if !reflect.DeepEqual(again.Header, want) {
		t.Errorf("replayed headers %v, want %v", again.Header, want)
	}
	if again.Status != 201 || !bytes.Equal(again.Body, []byte{0, 0xff}) {
		t.Errorf("replayed %d %v", again.Status, again.Body)
	}
}

func TestReplaysAreCopies(t *testing.T) { // F79
	x := newTrial(t, nil)
	x.serve(post("k", "{}"))
	r := x.serve(post("k", "{}"))
	r.Body[0], r.Header["Location"][0] = 'X', "changed"
	if again := x.serve(post("k", "{}")); again.Body[0] == 'X' || again.Header.Get("Location") == "changed" {
		t.Error("a caller's change shows in a later replay")
	}
}

func TestKeyForms(t *testing.T) {
	x := newTrial(t, func(c *Config) {
		c.QuotedKeys = true
		c.KeyFormat = func(key string) bool { return strings.HasPrefix(key, "order-") }
	})
	x.want("quoted, of the format", x.serve(post(`"order-1"`, "{}")), 201, "")
	x.want("quoted, of another", x.serve(post(`"1"`, "{}")), 400, "key-invalid")
	x.want("missing", x.serve(post("", "{}")), 400, "key-missing")
}

func TestSelectedFingerprints(t *testing.T) { // F94
	former := Selection{Version: 1, Exclude: []string{"/requestedAt"}}
	x := newTrial(t, func(c *Config) { c.Fingerprint = former })
	x.want("first", x.serve(post("k", `{"amount":1,"requestedAt":1}`)), 201, "")
	x.want("another time", x.serve(post("k", `{"amount":1,"requestedAt":2}`)), 201, "")
	x.want("another amount", x.serve(post("k", `{"amount":2,"requestedAt":1}`)), 422, "key-reused")

	memory := x.store.Store
	deployed := newTrial(t, func(c *Config) {
		c.Store, c.Fingerprint, c.FormerFingerprints = memory, Selection{Version: 2, Include: []string{"/amount"}}, []Selection{former}
	})
	deployed.want("a retry across the deploy", deployed.serve(post("k", `{"amount":1,"requestedAt":3}`)), 201, "")
	deployed.want("another request across the deploy", deployed.serve(post("k", `{"amount":1,"note":"x"}`)), 422, "key-reused")
	forgetful := newTrial(t, func(c *Config) { c.Store, c.Fingerprint = memory, Selection{Version: 2, Include: []string{"/amount"}} })
	forgetful.want("the former selection is not known", forgetful.serve(post("k", `{"amount":1}`)), 503, "store-unavailable")
	if deployed.runs+forgetful.runs != 0 {
		t.Errorf("%d and %d runs", deployed.runs, forgetful.runs)
	}
}

func TestOnReplay(t *testing.T) {
	x := newTrial(t, func(c *Config) { c.OnReplay = func(_ *Request, r *Response) { r.Header.Set("Fresh", "1") } })
	if r := x.serve(post("k", "{}")); r.Header.Get("Fresh") != "" {
		t.Errorf("first answer's headers %v", r.Header)
	}
	if r := x.serve(post("k", "{}")); r.Header.Get("Fresh") != "1" || r.Header.Get(ReplayHeader) != "true" {
		t.Errorf("replay's headers %v", r.Header)
	}
}
