package idempotency

import (
	"net/http"
	"testing"
)

func TestCallerFuncs(t *testing.T) {
	session := "arn:aws:sts::123456789012:assumed-role/payer/task-7"
	known := Caller{
		Claims:     map[string]string{"tenant_id": "acme", "empty": ""},
		Authorizer: map[string]string{"principalId": "alice"},
		IAM:        IAMIdentity{UserARN: session, AccountID: "123456789012", CognitoIdentityID: "eu-central-1:7f"},
		APIKeyID:   "k1",
	}
	user := Caller{IAM: IAMIdentity{UserARN: "arn:aws:iam::123456789012:user/ops/alice"}}
	for _, c := range []struct {
		name   string
		by     CallerFunc
		caller Caller
		want   string
	}{
		{"claim", JWTClaim("tenant_id"), known, "acme"},
		{"empty claim", JWTClaim("empty"), known, ""},
		{"absent claim", JWTClaim("sub"), known, ""},
		{"authorizer", AuthorizerValue("principalId"), known, "alice"},
		{"absent in the authorizer's context", AuthorizerValue("tenant_id"), known, ""},
		{"session", IAMUserARN, known, session},
		{"role", IAMPrincipal, known, "arn:aws:sts::123456789012:assumed-role/payer"},
		{"user", IAMPrincipal, user, "arn:aws:iam::123456789012:user/ops/alice"},
		{"pool user", CognitoIdentityID, known, "eu-central-1:7f"},
		{"API key", APIKeyID, known, "k1"},
		{"nobody: claim", JWTClaim("tenant_id"), Caller{}, ""},
		{"nobody: authorizer", AuthorizerValue("principalId"), Caller{}, ""},
		{"nobody: session", IAMUserARN, Caller{}, ""},
		{"nobody: role", IAMPrincipal, Caller{}, ""},
		{"nobody: pool user", CognitoIdentityID, Caller{}, ""},
		{"nobody: API key", APIKeyID, Caller{}, ""},
		{"shared", SharedScope, Caller{}, "shared"},
	} {
		if got := c.by(&Request{Caller: c.caller}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNobody: a caller without a name is refused before any lookup, and what the client says of itself changes nothing
// (F41, F42).
func TestNobody(t *testing.T) {
	for name, by := range map[string]CallerFunc{"claim": JWTClaim("tenant_id"), "authorizer": AuthorizerValue("tenant_id"),
		"session": IAMUserARN, "role": IAMPrincipal, "pool user": CognitoIdentityID, "API key": APIKeyID} {
		for _, as := range []string{"scope", "principal"} {
			x := newTrial(t, func(c *Config) {
				if c.Scope = by; as == "principal" {
					c.Scope, c.Principal = SharedScope, by
				}
			})
			r := post("k1", `{}`)
			r.Caller = Caller{Claims: map[string]string{"tenant_id": ""}}
			for _, h := range []string{"Tenant_id", "X-Tenant-Id", "Principalid", "X-Api-Key", "Apikeyid", "Userarn", "X-Amzn-Oidc-Identity"} {
				r.Header[http.CanonicalHeaderKey(h)] = []string{"acme"}
			}
			x.want(name+" as "+as, x.serve(r), http.StatusForbidden, "caller-unknown")
			if x.runs != 0 || len(x.store.calls) != 0 {
				t.Errorf("%s as %s: %d runs, store calls %v", name, as, x.runs, x.store.calls)
			}
		}
	}
}
