package apigateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// load reads a sample event.
func load[E any](t *testing.T, name string) (e E) {
	t.Helper()
	b, err := os.ReadFile("../../events/" + name)
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const order = `{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"order-42","metadata":{"basket":["sku-1","sku-2"],"note":"gift wrap"}}`

func TestRequests(t *testing.T) {
	for _, c := range []struct {
		name string
		got  *idempotency.Request
		want idempotency.Request // Header is compared by the fields below
		key  string
	}{
		{"http-v2-post.json", fromHTTP(load[events.APIGatewayV2HTTPRequest](t, "http-v2-post.json")),
			idempotency.Request{Method: "POST", Path: "/payments", Route: "POST /payments", Body: []byte(order)}, `"8e03978e-40d5-43dd-bc93-6894a57f9324"`},
		{"http-v2-post-base64.json", fromHTTP(load[events.APIGatewayV2HTTPRequest](t, "http-v2-post-base64.json")),
			idempotency.Request{Method: "POST", Path: "/payments", Route: "POST /payments", Body: []byte(order)}, ""},
		{"http-v2-get.json", fromHTTP(load[events.APIGatewayV2HTTPRequest](t, "http-v2-get.json")),
			idempotency.Request{Method: "GET", Path: "/payments", Route: "GET /payments", RawQuery: "reference=order-42", Body: []byte{}}, ""},
		{"rest-v1-post.json", fromREST(load[events.APIGatewayProxyRequest](t, "rest-v1-post.json")),
			idempotency.Request{Method: "POST", Path: "/payments", Route: "POST /payments", Body: []byte(order)}, `"8e03978e-40d5-43dd-bc93-6894a57f9324"`},
		{"rest-v1-get.json", fromREST(load[events.APIGatewayProxyRequest](t, "rest-v1-get.json")),
			idempotency.Request{Method: "GET", Path: "/payments", Route: "GET /payments", RawQuery: "reference=order-42", Body: []byte{}}, ""},
	} {
		got := *c.got
		if claims := got.Caller.Claims; claims["tenant_id"] != "acme" || claims["sub"] != "alice" {
			t.Errorf("%s: claims %v", c.name, claims)
		}
		if got.RequestID == "" || c.key != "" && got.Header.Get("Idempotency-Key") != c.key {
			t.Errorf("%s: request id %q, headers %v", c.name, got.RequestID, got.Header)
		}
		got.Header, got.Caller, got.RequestID = nil, idempotency.Caller{}, ""
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n%+v, want\n%+v", c.name, got, c.want)
		}
	}
}

func TestOddRequests(t *testing.T) {
	http2 := func(change func(*events.APIGatewayV2HTTPRequest)) *idempotency.Request {
		e := events.APIGatewayV2HTTPRequest{RawPath: "/payments"}
		change(&e)
		return fromHTTP(e)
	}
	if r := http2(func(e *events.APIGatewayV2HTTPRequest) { e.Body, e.IsBase64Encoded = "no base64!", true }); string(r.Body) != "no base64!" {
		t.Errorf("bad base64 is read as %q", r.Body)
	}
	for _, c := range []struct{ path, stage, want string }{
		{"/payments", "$default", "/payments"}, {"/dev/payments", "dev", "/payments"}, {"/dev", "dev", ""},
		{"/development", "dev", "/development"}, {"/payments", "", "/payments"},
	} {
		r := http2(func(e *events.APIGatewayV2HTTPRequest) { e.RawPath, e.RequestContext.Stage = c.path, c.stage })
		if r.Path != c.want {
			t.Errorf("%s at stage %s is %q", c.path, c.stage, r.Path)
		}
	}
	r := http2(func(e *events.APIGatewayV2HTTPRequest) {
		e.Cookies, e.Headers = []string{"a=1", "b=2"}, map[string]string{"idempotency-key": "a,b"}
	})
	if r.Header.Get("Cookie") != "a=1; b=2" {
		t.Errorf("cookies are %q", r.Header.Get("Cookie"))
	}
	if _, err := idempotency.ParseKey(r.Header); err == nil {
		t.Error("two keys, joined by the gateway, are one")
	}

	v1 := fromREST(events.APIGatewayProxyRequest{ // null maps, as the gateway sends them
		HTTPMethod: "POST", Resource: "/payments", Path: "/payments",
		Headers:           map[string]string{"IDEMPOTENCY-KEY": "b"},
		MultiValueHeaders: map[string][]string{"idempotency-KEY": {"a", "b"}},
		RequestContext:    events.APIGatewayProxyRequestContext{Authorizer: map[string]any{"claims": map[string]any{"n": 7.0, "b": true, "l": []any{"x"}}}},
	})
	if got := v1.Header["Idempotency-Key"]; !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("repeated header is %q", got)
	}
	if want := map[string]string{"n": "7", "b": "true", "l": ""}; !reflect.DeepEqual(v1.Caller.Claims, want) {
		t.Errorf("claims %v, want %v", v1.Caller.Claims, want)
	}
	q := query(map[string]string{"a": "2", "only": "x y"}, map[string][]string{"a": {"1", "2"}})
	if q != "a=1&a=2&only=x+y" {
		t.Errorf("query %q", q)
	}
}

func newGuard(t *testing.T) *idempotency.Guard {
	t.Helper()
	g, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.JWTClaim("tenant_id")})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestHTTP(t *testing.T) {
	for _, c := range []struct {
		name        string
		sent        events.APIGatewayV2HTTPResponse
		first, next events.APIGatewayV2HTTPResponse
	}{
		{"text, headers and cookies",
			events.APIGatewayV2HTTPResponse{StatusCode: 201, Headers: map[string]string{"content-type": "application/json", "location": "/x"}, Cookies: []string{"s=1"}, Body: "{}"},
			events.APIGatewayV2HTTPResponse{StatusCode: 201, Headers: map[string]string{"Content-Type": "application/json", "Location": "/x"}, Cookies: []string{"s=1"}, Body: "{}"},
			events.APIGatewayV2HTTPResponse{StatusCode: 201, Headers: map[string]string{"Content-Type": "application/json", "Location": "/x", "Idempotent-Replayed": "true"}, Body: "{}"}},
		{"binary body",
			events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: "AP8=", IsBase64Encoded: true},
			events.APIGatewayV2HTTPResponse{StatusCode: 200, Headers: map[string]string{}, Body: "AP8=", IsBase64Encoded: true},
			events.APIGatewayV2HTTPResponse{StatusCode: 200, Headers: map[string]string{"Idempotent-Replayed": "true"}, Body: "AP8=", IsBase64Encoded: true}},
		{"nothing at all",
			events.APIGatewayV2HTTPResponse{},
			events.APIGatewayV2HTTPResponse{StatusCode: 200, Headers: map[string]string{}},
			events.APIGatewayV2HTTPResponse{StatusCode: 200, Headers: map[string]string{"Idempotent-Replayed": "true"}}},
	} {
		runs := 0
		event := load[events.APIGatewayV2HTTPRequest](t, "http-v2-post.json")
		h := HTTP(newGuard(t), func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
			if runs++; !reflect.DeepEqual(e, event) || idempotency.AttemptFrom(ctx) == nil {
				t.Errorf("%s: the handler sees another event, or no attempt", c.name)
			}
			return c.sent, nil
		})
		for _, want := range []events.APIGatewayV2HTTPResponse{c.first, c.next} {
			if got, err := h(t.Context(), event); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\n%+v, %v, want\n%+v", c.name, got, err, want)
			}
		}
		if runs != 1 {
			t.Errorf("%s: %d runs", c.name, runs)
		}
	}
}

func TestREST(t *testing.T) {
	event := load[events.APIGatewayProxyRequest](t, "rest-v1-post.json")
	h := REST(newGuard(t), func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		return events.APIGatewayProxyResponse{StatusCode: 201, Headers: map[string]string{"location": "/x"},
			MultiValueHeaders: map[string][]string{"Set-Cookie": {"a=1", "b=2"}, "X-Many": {"1", "2"}}, Body: "{}"}, nil
	})
	first, err := h(t.Context(), event)
	want := events.APIGatewayProxyResponse{StatusCode: 201, Headers: map[string]string{"Location": "/x"},
		MultiValueHeaders: map[string][]string{"Set-Cookie": {"a=1", "b=2"}, "X-Many": {"1", "2"}}, Body: "{}"}
	if err != nil || !reflect.DeepEqual(first, want) {
		t.Errorf("first\n%+v, %v, want\n%+v", first, err, want)
	}
	again, err := h(t.Context(), event)
	want.Headers["Idempotent-Replayed"] = "true"
	delete(want.MultiValueHeaders, "Set-Cookie")
	if err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("again\n%+v, %v, want\n%+v", again, err, want)
	}
}

// TestUntouched: other methods go to the handler as they are, and an error stays one.
func TestUntouched(t *testing.T) {
	boom := errors.New("boom")
	get := load[events.APIGatewayV2HTTPRequest](t, "http-v2-get.json")
	sent := events.APIGatewayV2HTTPResponse{StatusCode: 204, Headers: map[string]string{"x-lower": "1"}}
	h := HTTP(newGuard(t), func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		if idempotency.AttemptFrom(ctx) != nil {
			t.Error("an unguarded request has an attempt")
		}
		return sent, boom
	})
	if got, err := h(t.Context(), get); err != boom || !reflect.DeepEqual(got, sent) {
		t.Errorf("%+v, %v", got, err)
	}
	post := load[events.APIGatewayV2HTTPRequest](t, "http-v2-post.json")
	got, err := HTTP(newGuard(t), func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return sent, boom
	})(t.Context(), post)
	if err != nil || got.StatusCode != http.StatusInternalServerError {
		t.Errorf("a guarded handler's error is answered %d, %v", got.StatusCode, err)
	}
}
