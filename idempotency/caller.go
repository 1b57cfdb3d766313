package idempotency

import "strings"

// Caller is what has been verified of the caller in front of the guard: by the gateway, its authorizer, or a middleware.
// Nothing in it comes from the client unchecked. What nobody has verified is empty.
type Caller struct {
	Claims     map[string]string // claims of a JWT whose signature was checked
	Authorizer map[string]string // what a Lambda authorizer has said of the caller
	IAM        IAMIdentity       // who signed the request, where it was signed for AWS
	APIKeyID   string            // id of the API key, never the key itself
}

// IAMIdentity is who signed a request with AWS Signature Version 4.
type IAMIdentity struct {
	UserARN           string // of an IAM user, or of a session of a role
	AccountID         string // the AWS account of the user or role
	CognitoIdentityID string // of a user of a Cognito identity pool
}

// CallerFunc names the caller of a request, for a scope or a principal; "" says that the caller has no such name, and the
// request is refused with 403 caller-unknown. It must use verified facts only, such as [Request].Caller, never a header
// that a client can set. The name must be the same on every retry of a request, or the retry is taken for a new request.
type CallerFunc func(*Request) string

// JWTClaim names callers by a claim of the JWT that was verified. It should be a claim with one value: HTTP APIs write a
// list as the text "[a b]".
func JWTClaim(name string) CallerFunc {
	return func(r *Request) string { return r.Caller.Claims[name] }
}

// AuthorizerValue names callers by a value that a Lambda authorizer has put into its context. For REST APIs, the
// authorizer's principal is the value of "principalId".
func AuthorizerValue(name string) CallerFunc {
	return func(r *Request) string { return r.Caller.Authorizer[name] }
}

// IAMUserARN names callers by the ARN of the IAM user, or of the role's session, that signed the request. Where sessions
// are named anew (by ECS for each task, by EC2 for each instance), a retry from another session has another name: use
// [IAMPrincipal] there.
func IAMUserARN(r *Request) string { return r.Caller.IAM.UserARN }

// IAMPrincipal names callers by the ARN of the IAM user or role that signed the request, whatever the role's session:
// "arn:aws:sts::123456789012:assumed-role/payer/task-7" is "arn:aws:sts::123456789012:assumed-role/payer". All users of
// a Cognito identity pool have one role: use [CognitoIdentityID] for them.
func IAMPrincipal(r *Request) string {
	const kind = ":assumed-role/" // followed by the role's name, a slash and the session's name
	account, session, ok := strings.Cut(r.Caller.IAM.UserARN, kind)
	if !ok {
		return r.Caller.IAM.UserARN
	}
	role, _, _ := strings.Cut(session, "/")
	return account + kind + role
}

// CognitoIdentityID names callers by their identity in a Cognito identity pool.
func CognitoIdentityID(r *Request) string { return r.Caller.IAM.CognitoIdentityID }

// APIKeyID names callers by the id of the API key that a REST API has asked for. API keys are sent with every request and
// handed out for metering: they tell tenants apart, but do not authenticate them.
func APIKeyID(r *Request) string { return r.Caller.APIKeyID }

// SharedScope puts all callers into one scope. It is for endpoints with a single trusted caller: with several, they
// could meet each other's keys.
func SharedScope(*Request) string { return "shared" }
