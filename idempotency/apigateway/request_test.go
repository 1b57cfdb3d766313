package apigateway

import (
	"context"
	"math"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"firstwriter/idempotency"
)

const order = `{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"order-42","metadata":{"basket":["sku-1","sku-2"],"note":"gift wrap"}}`

var binary = []byte{0, 255, 254, 10, 13}

// request reads a sample event by a codec.
func request[E, R any](c codec[E, R]) func(*testing.T, string) *idempotency.Request {
	return func(t *testing.T, sample string) *idempotency.Request {
		ctx := lambdacontext.NewContext(context.Background(), &lambdacontext.LambdaContext{AwsRequestID: "invocation-1"})
		return c.request(ctx, load[E](t, sample))
	}
}

// payments is the request that most samples are, with a difference.
func payments(change func(*idempotency.Request)) idempotency.Request {
	r := idempotency.Request{Method: "POST", Path: "/payments", Route: "POST /payments", Body: []byte(order)}
	change(&r)
	return r
}

func iamCaller(arn, pool string) idempotency.Caller {
	return idempotency.Caller{IAM: idempotency.IAMIdentity{UserARN: arn, AccountID: "123456789012", CognitoIdentityID: pool}}
}

var (
	jwtCaller = idempotency.Caller{Claims: map[string]string{"aud": "payments", "exp": "1787953802", "iat": "1787910602",
		"iss": "https://issuer.example.com", "sub": "alice", "tenant_id": "acme", "roles": "[payer viewer]"}}
	cognitoCaller = idempotency.Caller{Claims: map[string]string{"aud": "payments", "exp": "1787953802", "iat": "1787910602",
		"iss": "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_EXAMPLE", "sub": "alice", "tenant_id": "acme"}}

	fromHTTP, fromREST, fromURL, fromALB = request(httpCodec), request(restCodec), request(functionURLCodec), request(albCodec)
)

// requests are what the samples say, as differences from payments.
var requests = []struct {
	sample string
	read   func(*testing.T, string) *idempotency.Request
	change func(*idempotency.Request)
}{
	{"http-v2-post.json", fromHTTP, func(r *idempotency.Request) { r.Caller = jwtCaller }},
	{"http-v2-post-base64.json", fromHTTP, func(r *idempotency.Request) { r.Caller = jwtCaller }},
	{"http-v2-get.json", fromHTTP, func(r *idempotency.Request) {
		r.Method, r.Route, r.RawQuery, r.Body, r.Caller = "GET", "GET /payments", "reference=order-42", nil, jwtCaller
	}},
	{"http-v2-get-by-id.json", fromHTTP, func(r *idempotency.Request) {
		r.Method, r.Path, r.Route, r.Body, r.Caller = "GET", "/payments/pay_01J6ZQ4N8Q", "GET /payments/{id}", nil, jwtCaller
	}},
	{"http-lambda-post.json", fromHTTP, func(r *idempotency.Request) {
		r.Caller.Authorizer = map[string]string{"tenant_id": "acme", "sub": "alice", "seats": "7", "beta": "true"}
	}},
	{"http-iam-post.json", fromHTTP, func(r *idempotency.Request) {
		r.Caller = iamCaller("arn:aws:sts::123456789012:assumed-role/payer/task-7", "")
	}},
	{"http-iam-cognito-post.json", fromHTTP, func(r *idempotency.Request) {
		r.Caller = iamCaller("arn:aws:sts::123456789012:assumed-role/pool-users/CognitoIdentityCredentials",
			"eu-central-1:7f3e1a52-6f6c-4a4e-9a44-2f0f5c6f2d11")
	}},
	{"rest-v1-post.json", fromREST, func(r *idempotency.Request) { r.Caller = cognitoCaller }},
	{"rest-v1-get.json", fromREST, func(r *idempotency.Request) {
		r.Method, r.Route, r.RawQuery, r.Body, r.Caller = "GET", "GET /payments", "reference=order-42", nil, cognitoCaller
	}},
	{"rest-lambda-post.json", fromREST, func(r *idempotency.Request) {
		r.Caller.Authorizer = map[string]string{"principalId": "alice", "tenant_id": "acme", "seats": "7", "beta": "true"}
	}},
	{"rest-iam-post.json", fromREST, func(r *idempotency.Request) { r.Caller = iamCaller("arn:aws:iam::123456789012:user/alice", "") }},
	{"rest-api-key-post.json", fromREST, func(r *idempotency.Request) { r.Caller.APIKeyID = "a1b2c3d4e5" }},
	{"rest-null-post.json", fromREST, func(r *idempotency.Request) { r.Body = nil }},
	{"rest-base64-post.json", fromREST, func(r *idempotency.Request) {
		r.RawQuery, r.Body, r.Caller = "source=web+shop&tag=a&tag=b", binary, cognitoCaller
	}},
	{"function-url-post.json", fromURL, func(r *idempotency.Request) {
		r.Route, r.Caller = "POST", iamCaller("arn:aws:iam::111122223333:user/alice", "")
		r.Caller.IAM.AccountID = "111122223333" // the caller's, not the function's
	}},
	{"function-url-anonymous-post.json", fromURL, func(r *idempotency.Request) {
		r.Route, r.RawQuery, r.Body = "POST", "tag=a&tag=b%20c", []byte("amount=1299&currency=EUR")
	}},
	{"alb-post.json", fromALB, func(r *idempotency.Request) { r.Route, r.RawQuery = "POST", "source=web%20shop" }},
	{"alb-post-multi-value.json", fromALB, func(r *idempotency.Request) { r.Route, r.RawQuery = "POST", "tag=a&tag=b%20c" }},
	{"alb-oidc-post.json", fromALB, func(r *idempotency.Request) { r.Route, r.Body = "POST", binary }},
}

// TestRequests: each sample event becomes the request that the client sent, with the caller that was verified.
func TestRequests(t *testing.T) {
	for _, c := range requests {
		got := *c.read(t, c.sample)
		if got.RequestID == "" {
			t.Errorf("%s: no request id", c.sample)
		}
		if key := got.Header.Get("Idempotency-Key"); got.Method == "POST" && len(got.Header) > 0 && key != `"8e03978e-40d5-43dd-bc93-6894a57f9324"` {
			t.Errorf("%s: key %q", c.sample, key)
		}
		got.Header, got.RequestID = nil, ""
		if diff := cmp.Diff(payments(c.change), got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", c.sample, diff)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		name   string
		single map[string]string
		multi  map[string][]string
		want   http.Header
	}{
		{"null maps", nil, nil, http.Header{}},
		{"single", map[string]string{"x-a": "1"}, nil, http.Header{"X-A": {"1"}}},
		{"lists say more", map[string]string{"x-a": "2"}, map[string][]string{"x-a": {"1", "2"}}, http.Header{"X-A": {"1", "2"}}},
		{"both are merged", map[string]string{"Set-Cookie": "a=1", "x-b": "1"}, map[string][]string{"set-cookie": {"b=2"}},
			http.Header{"Set-Cookie": {"b=2", "a=1"}, "X-B": {"1"}}},
		{"three spellings", map[string]string{"idempotency-key": "a", "Idempotency-Key": "b", "IDEMPOTENCY-KEY": "c"}, nil,
			http.Header{"Idempotency-Key": {"c", "b", "a"}}},
		{"two spellings of one value", map[string]string{"x-a": "1", "X-A": "1"}, nil, http.Header{"X-A": {"1", "1"}}},
		{"two spellings in lists", nil, map[string][]string{"idempotency-key": {"a"}, "Idempotency-Key": {"b"}},
			http.Header{"Idempotency-Key": {"b", "a"}}},
		{"empty list", nil, map[string][]string{"x-a": {}}, http.Header{"X-A": nil}},
	} {
		if diff := cmp.Diff(c.want, header(c.single, c.multi)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	cookies := fromFormat2(events.APIGatewayV2HTTPRequest{Cookies: []string{"a=1", "b=2"}}).Header
	if diff := cmp.Diff(http.Header{"Cookie": {"a=1; b=2"}}, cookies); diff != "" {
		t.Errorf("cookies of format 2.0: %s", diff)
	}
}

func TestQueries(t *testing.T) {
	single := map[string]string{"z": "1", "a": "last", "e": "%2F", "d": "", "c": "1+1", "b": "%zz"}
	multi := map[string][]string{"a": {"first", "last"}}
	if got := asSent(parameters(single, multi)); got != "a=first&a=last&b=%zz&c=1+1&d=&e=%2F&z=1" {
		t.Errorf("%s", got)
	}
	if got := asSent(parameters(nil, nil)); got != "" {
		t.Errorf("of null maps: %s", got)
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ path, stage, want string }{
		{"/payments", "$default", "/payments"}, {"/dev/payments", "dev", "/payments"}, {"/dev", "dev", ""},
		{"/development", "dev", "/development"}, {"/payments", "", "/payments"}, {"", "dev", ""},
	} {
		if got := withoutStage(c.path, c.stage); got != c.want {
			t.Errorf("%s at stage %s is %q, want %q", c.path, c.stage, got, c.want)
		}
	}
}

// TestText: what cannot name one caller exactly names nobody.
func TestText(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{"acme", "acme"}, {"", ""}, {nil, ""}, {[]any{"acme"}, ""}, {map[string]any{"id": "acme"}, ""}, {true, "true"}, {false, "false"},
		{0.0, "0"}, {7.0, "7"}, {-7.0, "-7"}, {9007199254740991.0, "9007199254740991"}, {9007199254740992.0, ""}, {-9007199254740992.0, ""},
		{0.1, ""}, {1e300, ""}, {math.Inf(1), ""}, {math.NaN(), ""}, {7, ""},
	} {
		if got := text(c.v); got != c.want {
			t.Errorf("%v is %q, want %q", c.v, got, c.want)
		}
	}
}

func TestSpellings(t *testing.T) {
	seen := map[string]bool{}
	for n := range 512 {
		s := spelling("Set-Cookie", n)
		if http.CanonicalHeaderKey(s) != "Set-Cookie" || seen[s] {
			t.Fatalf("spelling %d is %q, seen: %t", n, s, seen[s])
		}
		seen[s] = true
	}
	if spelling("Set-Cookie", 0) != "Set-Cookie" {
		t.Error("the first spelling is not the usual one")
	}
}
