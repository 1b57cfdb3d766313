package apigateway

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"firstwriter/idempotency"
)

// ALBHandler handles events of an Application Load Balancer that has the function as its target.
type ALBHandler = func(context.Context, events.ALBTargetGroupRequest) (events.ALBTargetGroupResponse, error)

// ALBCaller tells who sent an event. It returns only what it has verified itself; of somebody unknown it returns the zero
// Caller, and the request is refused with 403 caller-unknown.
//
// A load balancer verifies nobody on the function's behalf. The header x-amzn-oidc-data, which it sets after its own
// authentication action, must be verified before it is believed: a client can send it too, wherever a rule without that
// action, another load balancer, or an invocation of the function leads here. Verify its ES256 signature by the Region's
// public key for the token's "kid", that the "signer" in its header is the ARN of your load balancer, and "exp".
//
// Source: docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html
type ALBCaller = func(context.Context, events.ALBTargetGroupRequest) idempotency.Caller

// ALB guards a handler behind an Application Load Balancer. It panics if there is no function that tells who calls: no
// request could be told apart from another caller's.
//
// The target group says whether header values come and go singly or in lists ("lambda.multi_value_headers.enabled").
// Answers have the form of their event; of a handler's response both maps are read, so that it need not know. Turn the
// lists on: without them, the load balancer passes on only the last of several Idempotency-Key headers, and a second one
// cannot be refused. Query parameters come as the client sent them, not decoded.
//
// Source: docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
func ALB(g *idempotency.Guard, who ALBCaller, h ALBHandler) ALBHandler {
	if who == nil {
		panic("apigateway: ALB needs a function that tells who calls: a load balancer verifies nobody")
	}
	c := albCodec
	c.request = func(ctx context.Context, e events.ALBTargetGroupRequest) *idempotency.Request {
		r := albCodec.request(ctx, e)
		r.Caller = who(ctx, e)
		return r
	}
	return c.guard(g, h)
}

var albCodec = codec[events.ALBTargetGroupRequest, events.ALBTargetGroupResponse]{
	method: func(e events.ALBTargetGroupRequest) string { return e.HTTPMethod },
	request: func(ctx context.Context, e events.ALBTargetGroupRequest) *idempotency.Request {
		r := &idempotency.Request{Method: e.HTTPMethod, Path: e.Path, Route: e.HTTPMethod, // there are no routes
			RawQuery: asSent(parameters(e.QueryStringParameters, e.MultiValueQueryStringParameters)),
			Header:   header(e.Headers, e.MultiValueHeaders), Body: body(e.Body, e.IsBase64Encoded)}
		if lc, ok := lambdacontext.FromContext(ctx); ok {
			r.RequestID = lc.AwsRequestID // the event has none of its own
		}
		return r
	},
	response: func(r events.ALBTargetGroupResponse) *idempotency.Response {
		return &idempotency.Response{Status: orOK(r.StatusCode), Header: header(r.Headers, r.MultiValueHeaders),
			Body: body(r.Body, r.IsBase64Encoded)}
	},
	answer: func(e events.ALBTargetGroupRequest, r *idempotency.Response) events.ALBTargetGroupResponse {
		a := events.ALBTargetGroupResponse{StatusCode: r.Status,
			StatusDescription: strings.TrimSpace(strconv.Itoa(r.Status) + " " + http.StatusText(r.Status))}
		if e.MultiValueHeaders != nil {
			a.MultiValueHeaders = filled(r.Header)
		} else {
			a.Headers = joined(r.Header)
			for i, cookie := range r.Header["Set-Cookie"] {
				a.Headers[spelling("Set-Cookie", i)] = cookie
			}
		}
		a.Body, a.IsBase64Encoded = encodeBody(r.Body, maxALBAnswer)
		return a
	},
}

// asSent is the query of an ALB event, sorted by name. Its parameters are still encoded.
func asSent(parameters map[string][]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		for _, v := range parameters[name] {
			pairs = append(pairs, name+"="+v)
		}
	}
	return strings.Join(pairs, "&")
}

// spelling is the n-th spelling of a header's name in upper and lower case, from 0. Where a name can stand only once,
// several cookies need several names; on the way to the client they are one name again.
func spelling(name string, n int) string {
	b := []byte(name)
	for i, c := range b {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			continue
		}
		if n&1 == 1 {
			b[i] = c ^ 0x20
		}
		n >>= 1
	}
	return string(b)
}
