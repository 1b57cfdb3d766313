package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

// arrived makes an arrival as the gateway would.
func arrived(method, target, body string, header http.Header) arrival {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header = header
	r.RemoteAddr = "127.0.0.1:54321"
	rt := &route{key: method + " /x"}
	return arrival{
		request: r, body: []byte(body), match: match{route: rt}, requestID: "req", traceID: "Root=1-2-3",
		now: time.Date(2026, 8, 28, 9, 50, 2, 123e6, time.UTC),
	}
}

func TestEventHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		sent http.Header
		want map[string]string // of the event, "" for absent
	}{
		"lower case":      {http.Header{"X-Mixed-Case": {"V"}}, map[string]string{"x-mixed-case": "V", "X-Mixed-Case": ""}},
		"repeated":        {http.Header{"Idempotency-Key": {"a", "b"}}, map[string]string{"idempotency-key": "a,b"}},
		"connection":      {http.Header{"Connection": {"close"}, "Te": {"trailers"}}, map[string]string{"connection": "", "te": ""}},
		"cookies apart":   {http.Header{"Cookie": {"a=1; b=2"}}, map[string]string{"cookie": ""}},
		"gateway's own":   {nil, map[string]string{"host": "api.test:3000", "x-forwarded-proto": "http", "x-forwarded-port": "3000", "x-forwarded-for": "127.0.0.1", "x-amzn-trace-id": "Root=1-2-3", "content-length": "4"}},
		"forwarded again": {http.Header{"X-Forwarded-For": {"203.0.113.7"}}, map[string]string{"x-forwarded-for": "203.0.113.7, 127.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.sent == nil {
				tt.sent = http.Header{}
			}
			got := arrived("POST", "http://api.test:3000/x", "body", tt.sent).event().Headers
			for k, want := range tt.want {
				if got[k] != want {
					t.Errorf("header %s is %q, want %q", k, got[k], want)
				}
			}
		})
	}
}

func TestEventPathAndQuery(t *testing.T) {
	for name, tt := range map[string]struct {
		target, path, raw string
		query             map[string]string
	}{
		"none":       {"/x", "/x", "", nil},
		"joined":     {"/x?a=1&b=2&a=3", "/x", "a=1&b=2&a=3", map[string]string{"a": "1,3", "b": "2"}},
		"decoded":    {"/caf%C3%A9?q=a%20b+c", "/café", "q=a%20b+c", map[string]string{"q": "a b c"}},
		"empty":      {"/x?a=&b", "/x", "a=&b", map[string]string{"a": "", "b": ""}},
		"undecoding": {"/x?a=%zz&b=1", "/x", "a=%zz&b=1", map[string]string{"b": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := arrived("GET", tt.target, "", http.Header{}).event()
			if e.RawPath != tt.path || e.RawQueryString != tt.raw || e.RequestContext.HTTP.Path != tt.path {
				t.Errorf("path %q, query %q", e.RawPath, e.RawQueryString)
			}
			if diff := cmp.Diff(tt.query, e.QueryStringParameters); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEventBody(t *testing.T) {
	const body = `{"a":"ü"}`
	coded := base64.StdEncoding.EncodeToString([]byte(body))
	for contentType, want := range map[string]string{
		"application/json":                  body,
		"application/json; charset=utf-8":   body,
		"Application/JSON;charset=UTF-8":    body,
		"application/xml":                   body,
		"application/javascript":            body,
		"text/plain":                        body,
		"text/html; charset=iso-8859-1":     body,
		"text/csv":                          body,
		"text/xml":                          body,
		"":                                  coded,
		"application/json; charset=utf-16":  coded,
		"application/problem+json":          coded,
		"application/x-www-form-urlencoded": coded,
		"multipart/form-data; boundary=b":   coded,
		"application/octet-stream":          coded,
		"image/png":                         coded,
		"text/unheard-of":                   coded,
		"not a type":                        coded,
	} {
		header := http.Header{}
		if contentType != "" {
			header.Set("Content-Type", contentType)
		}
		e := arrived("POST", "/x", body, header).event()
		if e.Body != want || e.IsBase64Encoded != (want == coded) {
			t.Errorf("%q: body %q, base64 %v", contentType, e.Body, e.IsBase64Encoded)
		}
	}
}

func TestEventLeavesOutWhatIsAbsent(t *testing.T) {
	text, err := arrived("GET", "/x", "", http.Header{}).encode()
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"body", "cookies", "queryStringParameters", "pathParameters", "stageVariables"} {
		if v, ok := members[absent]; ok {
			t.Errorf("%s is %v, want it left out", absent, v)
		}
	}
	if members["isBase64Encoded"] != false {
		t.Errorf("isBase64Encoded is %v", members["isBase64Encoded"])
	}
	if _, ok := members["headers"].(map[string]any)["content-length"]; ok {
		t.Error("a GET without a body has a content-length")
	}
}

func TestEventContext(t *testing.T) {
	a := arrived("POST", "http://api.test:3000/x", "b", http.Header{"User-Agent": {"curl/8"}, "Cookie": {"a=1; b=2", "c=3"}})
	a.match.params = map[string]string{"id": "7"}
	text, err := a.encode()
	if err != nil {
		t.Fatal(err)
	}
	var e events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	c := e.RequestContext
	if c.Time != "28/Aug/2026:09:50:02 +0000" || c.TimeEpoch != 1787910602123 || c.Stage != "$default" || c.RequestID != "req" ||
		c.DomainName != "api.test" || c.DomainPrefix != "api" || c.HTTP.SourceIP != "127.0.0.1" || c.HTTP.UserAgent != "curl/8" ||
		c.HTTP.Protocol != "HTTP/1.1" || c.RouteKey != "POST /x" || c.Authorizer != nil {
		t.Errorf("context %+v", c)
	}
	if diff := cmp.Diff([]string{"a=1", "b=2", "c=3"}, e.Cookies); diff != "" || e.PathParameters["id"] != "7" {
		t.Errorf("cookies %s, path parameters %v", diff, e.PathParameters)
	}
}

// The sample events of this payload format have all members that the sandbox's events have, and no others.
func TestSampleEventsHaveThisForm(t *testing.T) {
	files, err := filepath.Glob("../../events/http-v2-*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no sample events", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var e httpEvent
		var sample, again any
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		ours, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(text, &sample) != nil || json.Unmarshal(ours, &again) != nil {
			t.Fatal("not JSON")
		}
		if diff := cmp.Diff(sample, again); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}
