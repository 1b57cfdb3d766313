package httpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firstwriter/idempotency"
)

// TestBodyLimit: a body over the limit is refused in its turn: after the scope and the key, before it is hashed (F52).
func TestBodyLimit(t *testing.T) {
	for _, c := range []struct {
		name    string
		known   bool
		key     string
		length  int
		outer   int64 // limit of a middleware in front; 0: none
		status  int
		code    string
		arrived int // bytes that the handler reads
	}{
		{"empty", true, "k", 0, 0, 200, "", 0},
		{"at the limit", true, "k", 100, 0, 200, "", 100},
		{"over it", true, "k", 101, 0, 413, "body-too-large", 0},
		{"far over it", true, "k", 1 << 20, 0, 413, "body-too-large", 0},
		{"over it, nobody", false, "k", 101, 0, 403, "caller-unknown", 0},
		{"over it, a bad key", true, "k k", 101, 0, 400, "key-invalid", 0},
		{"over it, without a key and unguarded", true, "", 1 << 20, 0, 200, "", 1 << 20},
		{"over another limit", true, "k", 60, 50, 413, "body-too-large", 0},
		{"over another limit, nobody", false, "k", 60, 50, 403, "caller-unknown", 0},
		{"over another limit, a bad key", true, "k k", 60, 50, 400, "key-invalid", 0},
	} {
		g := newGuard(t, func(g *idempotency.Config) {
			g.MaxBody, g.OptionalKey, g.Scope = 100, true, idempotency.JWTClaim("sub")
		})
		arrived := 0
		h := Middleware(g, Options{Caller: func(*http.Request) (who idempotency.Caller) {
			if c.known {
				who.Claims = map[string]string{"sub": "alice"}
			}
			return who
		}})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if arrived = len(b); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}))
		if c.outer > 0 {
			h = http.MaxBytesHandler(h, c.outer)
		}
		r := post(t, start(t, h), "/payments", c.key, strings.Repeat("x", c.length))
		if r.status != c.status || r.code() != c.code || arrived != c.arrived {
			t.Errorf("%s: %d %s, %d bytes arrived, want %d %s, %d", c.name, r.status, r.body, arrived, c.status, c.code, c.arrived)
		}
	}
}

// TestNoLimit: the greatest limit that there is reads all of a body, not nothing of it.
func TestNoLimit(t *testing.T) {
	r := httptest.NewRequest("POST", "/payments", strings.NewReader("hello"))
	if b, err := readBody(r, math.MaxInt); string(b) != "hello" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	r = httptest.NewRequest("POST", "/payments", nil)
	r.Body = nil
	if b, err := readBody(r, 1); len(b) != 0 || err != nil {
		t.Errorf("no body: %q, %v", b, err)
	}
}

// TestIncompleteBody: half a request never runs, and is answered and observed as the endpoint is configured.
func TestIncompleteBody(t *testing.T) {
	for _, c := range []struct {
		key, code string
		status    int
	}{{"k1", "body-incomplete", 418}, {"k k", "key-invalid", 400}} {
		var seen []idempotency.Event
		g := newGuard(t, func(g *idempotency.Config) {
			g.ProblemType, g.Observe = "https://example.com/", func(_ context.Context, e idempotency.Event) { seen = append(seen, e) }
			g.Status = func(code string, status int) int {
				if code == "body-incomplete" {
					return http.StatusTeapot
				}
				return status
			}
		})
		s := serve(t, g, Options{}, func(http.ResponseWriter, *http.Request) { t.Error("half a request runs") })
		r := cutOff(t, s, "Idempotency-Key: "+c.key)
		if r.status != c.status || r.code() != c.code || !strings.Contains(r.body, `"type":"https://example.com/`+c.code) {
			t.Errorf("%s: %d %s", c.key, r.status, r.body)
		}
		if len(seen) != 1 || seen[0].Outcome != idempotency.OutcomeRejected || seen[0].Status != c.status {
			t.Errorf("%s: events %+v", c.key, seen)
		}
	}
}

// TestIncompleteBodyUnguarded: without a key, where it is optional, the handler sees to it itself.
func TestIncompleteBodyUnguarded(t *testing.T) {
	s := serve(t, newGuard(t, func(c *idempotency.Config) { c.OptionalKey = true }), Options{}, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s, %v", b, err)
	})
	if r := cutOff(t, s, "X-A: 1"); r.body != "{}, unexpected EOF" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// cutOff sends a request of which eight bytes do not come.
func cutOff(t *testing.T, s *httptest.Server, header string) reply {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /payments HTTP/1.1\r\nHost: test\r\n%s\r\nContent-Length: 10\r\n\r\n{}", header)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{r.StatusCode, r.Header, string(b)}
}

// TestRequests: a request is what the client has asked for, whatever routers make of its URL.
func TestRequests(t *testing.T) {
	for _, c := range []struct {
		name, url string
		change    func(*http.Request)
		want      idempotency.Request
	}{
		{"plain", "/payments", nil, idempotency.Request{Path: "/payments", Route: "POST"}},
		{"escaped", "/a%2Fb/c%20d?q=%2F&q=2", nil, idempotency.Request{Path: "/a%2Fb/c%20d", RawQuery: "q=%2F&q=2", Route: "POST"}},
		{"absolute", "http://api.example.com/payments?q=1", nil, idempotency.Request{Path: "/payments", RawQuery: "q=1", Route: "POST"}},
		{"two slashes", "//payments", nil, idempotency.Request{Path: "//payments", Route: "POST"}},
		{"stripped", "/v1/payments", func(r *http.Request) { r.URL.Path = "/payments" }, idempotency.Request{Path: "/v1/payments", Route: "POST"}},
		{"made by hand", "/payments?q=1", func(r *http.Request) { r.RequestURI = "" }, idempotency.Request{Path: "/payments", RawQuery: "q=1", Route: "POST"}},
		{"routed", "/payments/1", func(r *http.Request) { r.Pattern = "POST /payments/{id}" }, idempotency.Request{Path: "/payments/1", Route: "POST /payments/{id}"}},
		{"routed by path", "/payments/1", func(r *http.Request) { r.Pattern = "/payments/" }, idempotency.Request{Path: "/payments/1", Route: "POST /payments/"}},
	} {
		r := httptest.NewRequest("POST", c.url, nil)
		if c.change != nil {
			c.change(r)
		}
		c.want.Method, c.want.Body, c.want.Header = "POST", []byte("{}"), r.Header
		c.want.Caller.APIKeyID = "key-1"
		h := &guarded{Options: Options{Caller: func(*http.Request) idempotency.Caller { return idempotency.Caller{APIKeyID: "key-1"} }}}
		if diff := cmp.Diff(c.want, *h.request(r, []byte("{}"), nil)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestCallers: the caller is who an authentication in front has found, and what a client says of itself changes nothing
// (F41, F42).
func TestCallers(t *testing.T) {
	type userKey struct{}
	g := newGuard(t, func(c *idempotency.Config) { c.Scope = idempotency.JWTClaim("tenant_id") })
	h := Middleware(g, Options{Caller: func(r *http.Request) idempotency.Caller {
		tenant, _ := r.Context().Value(userKey{}).(string)
		return idempotency.Caller{Claims: map[string]string{"tenant_id": tenant}}
	}})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	unasked := Middleware(g, Options{})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		name   string
		h      http.Handler
		tenant any
		status int
	}{{"known", h, "acme", 200}, {"empty", h, "", 403}, {"nobody", h, nil, 403}, {"nobody is asked", unasked, "acme", 403}} {
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), userKey{}, c.tenant), "POST", "/payments?tenant_id=acme", nil)
		r.Header.Set("Idempotency-Key", "k1")
		for _, name := range []string{"Tenant_id", "X-Tenant-Id", "X-Forwarded-User", "X-Api-Key", "Claims"} {
			r.Header.Set(name, "acme")
		}
		w := httptest.NewRecorder()
		if c.h.ServeHTTP(w, r); w.Code != c.status {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
}
