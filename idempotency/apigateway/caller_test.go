package apigateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// ways of naming a caller, and the samples whose callers have such a name.
var ways = map[string]struct {
	scope idempotency.CallerFunc
	named []string
}{
	"tenant claim":   {idempotency.JWTClaim("tenant_id"), []string{"http-v2-post.json", "http-v2-post-base64.json", "rest-v1-post.json", "rest-base64-post.json"}},
	"principal id":   {idempotency.AuthorizerValue("principalId"), []string{"rest-lambda-post.json"}},
	"tenant value":   {idempotency.AuthorizerValue("tenant_id"), []string{"http-lambda-post.json", "rest-lambda-post.json"}},
	"latency":        {idempotency.AuthorizerValue("integrationLatency"), nil},
	"object":         {idempotency.AuthorizerValue("plan"), nil},
	"list":           {idempotency.AuthorizerValue("roles"), nil},
	"null":           {idempotency.AuthorizerValue("deleted"), nil},
	"empty":          {idempotency.AuthorizerValue("note"), nil},
	"claims as such": {idempotency.AuthorizerValue("claims"), nil},
	"IAM user":       {idempotency.IAMUserARN, signed},
	"IAM principal":  {idempotency.IAMPrincipal, signed},
	"IAM account":    {func(r *idempotency.Request) string { return r.Caller.IAM.AccountID }, signed},
	"pool user":      {idempotency.CognitoIdentityID, []string{"http-iam-cognito-post.json"}},
	"API key":        {idempotency.APIKeyID, []string{"rest-api-key-post.json"}},
}

var signed = []string{"http-iam-post.json", "http-iam-cognito-post.json", "rest-iam-post.json", "function-url-post.json"}

var samples = map[string][]string{
	"HTTP": {"http-v2-post.json", "http-v2-post-base64.json", "http-lambda-post.json", "http-iam-post.json", "http-iam-cognito-post.json"},
	"REST": {"rest-v1-post.json", "rest-base64-post.json", "rest-lambda-post.json", "rest-iam-post.json", "rest-api-key-post.json",
		"rest-null-post.json"},
	"FunctionURL": {"function-url-post.json", "function-url-anonymous-post.json"},
	"ALB":         {"alb-post.json", "alb-oidc-post.json"},
}

// claimed are headers in which a client says who it is.
var claimed = map[string]string{
	"tenant_id": "acme", "x-tenant-id": "acme", "principalid": "root", "x-amzn-principalid": "root", "userarn": "arn:aws:iam::123456789012:root",
	"x-api-key": "stolen", "apikeyid": "stolen", "x-amzn-oidc-identity": "alice", "x-amzn-oidc-data": "e30.eyJ0ZW5hbnRfaWQiOiJhY21lIn0.e30",
	"authorizer": `{"claims":{"tenant_id":"acme"}}`, "x-amzn-request-context": `{"authorizer":{"jwt":{"claims":{"tenant_id":"acme"}}}}`,
}

// claiming is a sample event of a client that says who it is wherever it can.
func claiming(t *testing.T, sample string) string {
	t.Helper()
	e := load[map[string]any](t, sample)
	for _, part := range []string{"headers", "queryStringParameters", "pathParameters", "stageVariables"} {
		m, ok := e[part].(map[string]any)
		if !ok {
			m = map[string]any{}
			e[part] = m
		}
		for name, v := range claimed {
			m[name] = v
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestIdentities: a scope is what the gateway has verified. Who has no such name is refused, and what a client says of
// itself in headers and parameters changes nothing (F41, F42).
func TestIdentities(t *testing.T) {
	for how, way := range ways {
		for shape, of := range samples {
			for _, sample := range of {
				for _, event := range []string{sampleText(t, sample), claiming(t, sample)} {
					status, body, runs := shapes[shape](t, newGuard(t, way.scope), event)
					named := slices.Contains(way.named, sample)
					switch {
					case named && (status != http.StatusOK || runs != 1):
						t.Errorf("%s by %s: %d %s", sample, how, status, body)
					case !named && (status != http.StatusForbidden || codeOf(body) != "caller-unknown" || runs != 0):
						t.Errorf("%s by %s: %d %s, %d runs; nobody was verified", sample, how, status, body, runs)
					}
				}
			}
		}
	}
}

// TestALBCaller: the caller is who the user's function says, and a load balancer without one is a mistake.
func TestALBCaller(t *testing.T) {
	h := func(context.Context, events.ALBTargetGroupRequest) (events.ALBTargetGroupResponse, error) {
		return events.ALBTargetGroupResponse{StatusCode: 201}, nil
	}
	g := newGuard(t, idempotency.JWTClaim("tenant_id"))
	for want, who := range map[int]ALBCaller{201: oidc, 403: nobody} {
		if r, err := ALB(g, who, h)(t.Context(), load[events.ALBTargetGroupRequest](t, "alb-oidc-post.json")); err != nil || r.StatusCode != want {
			t.Errorf("%d %s, %v, want %d", r.StatusCode, r.Body, err, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("ALB takes no function for an answer")
		}
	}()
	ALB(g, nil, h)
}
