package apigateway

import (
	"net/http"
	"testing"

	"firstwriter/idempotency"
)

// TestBadEvents: what is missing or malformed in an event is answered, and never runs unguarded.
func TestBadEvents(t *testing.T) {
	const v2 = `{"version":"2.0","rawPath":"/x","requestContext":{"http":{"method":"POST"}},`
	const key = `"headers":{"idempotency-key":"k1"}`
	for _, c := range []struct {
		name, shape, event string
		scope              idempotency.CallerFunc
		status             int
		code               string
		runs               int
	}{
		{"no caller", "HTTP", v2 + key + `}`, idempotency.JWTClaim("sub"), 403, "caller-unknown", 0},
		{"null authorizer", "HTTP", `{"requestContext":{"http":{"method":"POST"},"authorizer":null},` + key + `}`, idempotency.JWTClaim("sub"), 403, "caller-unknown", 0},
		{"null claims", "HTTP", `{"requestContext":{"http":{"method":"POST"},"authorizer":{"jwt":{"claims":null}}},` + key + `}`, idempotency.JWTClaim("sub"), 403, "caller-unknown", 0},
		{"null headers", "HTTP", v2 + `"headers":null,"cookies":null}`, nil, 400, "key-missing", 0},
		{"two keys in one", "HTTP", v2 + `"headers":{"idempotency-key":"a,b"}}`, nil, 400, "key-invalid", 0},
		{"no base64", "HTTP", v2 + key + `,"body":"no base64!","isBase64Encoded":true}`, nil, 200, "", 1},
		{"empty event", "HTTP", `{}`, nil, 500, "handler-failed", 0},
		{"format 1.0", "HTTP", `{"version":"1.0","httpMethod":"POST","path":"/x","requestContext":{"httpMethod":"POST"},` + key + `}`, nil, 500, "handler-failed", 0},

		{"no caller", "FunctionURL", v2 + key + `}`, idempotency.IAMUserARN, 403, "caller-unknown", 0},
		{"null identity", "FunctionURL", `{"requestContext":{"http":{"method":"POST"},"authorizer":{"iam":null}},` + key + `}`, idempotency.IAMUserARN, 403, "caller-unknown", 0},
		{"null headers", "FunctionURL", v2 + `"headers":null}`, nil, 400, "key-missing", 0},
		{"no base64", "FunctionURL", v2 + key + `,"body":"=","isBase64Encoded":true}`, nil, 200, "", 1},
		{"empty event", "FunctionURL", `{}`, nil, 500, "handler-failed", 0},

		{"no context", "REST", `{"httpMethod":"POST","path":"/x",` + key + `}`, idempotency.JWTClaim("sub"), 403, "caller-unknown", 0},
		{"null context", "REST", `{"httpMethod":"POST","path":"/x","requestContext":null,` + key + `}`, idempotency.AuthorizerValue("principalId"), 403, "caller-unknown", 0},
		{"null authorizer", "REST", `{"httpMethod":"POST","requestContext":{"authorizer":null,"identity":null},` + key + `}`, idempotency.APIKeyID, 403, "caller-unknown", 0},
		{"claims are text", "REST", `{"httpMethod":"POST","requestContext":{"authorizer":{"claims":"sub=root"}},` + key + `}`, idempotency.JWTClaim("sub"), 403, "caller-unknown", 0},
		{"claims are a list", "REST", `{"httpMethod":"POST","requestContext":{"authorizer":{"claims":["sub"]}},` + key + `}`, idempotency.JWTClaim("sub"), 403, "caller-unknown", 0},
		{"rounded number", "REST", `{"httpMethod":"POST","requestContext":{"authorizer":{"tenant":9007199254740993}},` + key + `}`, idempotency.AuthorizerValue("tenant"), 403, "caller-unknown", 0},
		{"null maps", "REST", `{"httpMethod":"POST","headers":null,"multiValueHeaders":null,"queryStringParameters":null,"multiValueQueryStringParameters":null,"body":null}`, nil, 400, "key-missing", 0},
		{"empty list", "REST", `{"httpMethod":"POST","multiValueHeaders":{"Idempotency-Key":[]}}`, nil, 400, "key-missing", 0},
		{"null list", "REST", `{"httpMethod":"POST","multiValueHeaders":{"Idempotency-Key":null}}`, nil, 400, "key-missing", 0},
		{"two keys", "REST", `{"httpMethod":"POST","headers":{"Idempotency-Key":"b"},"multiValueHeaders":{"Idempotency-Key":["a","b"]}}`, nil, 400, "key-invalid", 0},
		{"two spellings", "REST", `{"httpMethod":"POST","headers":{"Idempotency-Key":"a","idempotency-key":"b"}}`, nil, 400, "key-invalid", 0},
		{"no base64", "REST", `{"httpMethod":"POST",` + key + `,"body":"=","isBase64Encoded":true}`, nil, 200, "", 1},
		{"empty event", "REST", `{}`, nil, 500, "handler-failed", 0},
		{"format 2.0", "REST", v2 + key + `}`, nil, 500, "handler-failed", 0},

		{"nobody", "ALB", `{"httpMethod":"POST","path":"/x",` + key + `}`, idempotency.JWTClaim("sub"), 403, "caller-unknown", 0},
		{"null maps", "ALB", `{"httpMethod":"POST","headers":null,"multiValueHeaders":null,"queryStringParameters":null}`, nil, 400, "key-missing", 0},
		{"null context", "ALB", `{"httpMethod":"POST","requestContext":null,` + key + `}`, nil, 200, "", 1},
		{"two keys", "ALB", `{"httpMethod":"POST","multiValueHeaders":{"idempotency-key":["a","b"]}}`, nil, 400, "key-invalid", 0},
		{"no base64", "ALB", `{"httpMethod":"POST",` + key + `,"body":"=","isBase64Encoded":true}`, nil, 200, "", 1},
		{"empty event", "ALB", `{}`, nil, 500, "handler-failed", 0},
	} {
		status, body, runs := shapes[c.shape](t, newGuard(t, c.scope), c.event)
		if status != c.status || codeOf(body) != c.code || runs != c.runs {
			t.Errorf("%s, %s: %d %s, %d runs, want %d %s, %d runs", c.shape, c.name, status, body, runs, c.status, c.code, c.runs)
		}
	}
}

// TestBase64Flag: the same bytes are the same request, in base64 or not (F54).
func TestBase64Flag(t *testing.T) {
	const head = `{"version":"2.0","rawPath":"/x","requestContext":{"http":{"method":"POST"}},"headers":{"idempotency-key":"k1","content-type":"text/plain"},`
	g := newGuard(t, nil)
	if status, body, _ := shapes["HTTP"](t, g, head+`"body":"hello"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if status, body, runs := shapes["HTTP"](t, g, head+`"body":"aGVsbG8=","isBase64Encoded":true}`); status != http.StatusOK || runs != 0 {
		t.Errorf("in base64: %d %s, %d runs", status, body, runs)
	}
	if status, body, _ := shapes["HTTP"](t, g, head+`"body":"aGVsbG8="}`); status != http.StatusUnprocessableEntity {
		t.Errorf("other text: %d %s", status, body)
	}
}
