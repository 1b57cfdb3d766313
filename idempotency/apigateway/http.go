package apigateway

import (
	"context"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// HTTPHandler handles events of an HTTP API (payload format 2.0).
type HTTPHandler = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

// HTTP guards a handler of an HTTP API whose integration has payload format 2.0.
//
// A repeated response header goes out as one field, its values joined by ", ", but for Set-Cookie: the format has no
// other way. MultiValueHeaders of a response are ignored, as the gateway ignores them.
//
// Source: docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
func HTTP(g *idempotency.Guard, h HTTPHandler) HTTPHandler { return httpCodec.guard(g, h) }

var httpCodec = codec[events.APIGatewayV2HTTPRequest, events.APIGatewayV2HTTPResponse]{
	method: func(e events.APIGatewayV2HTTPRequest) string { return e.RequestContext.HTTP.Method },
	request: func(_ context.Context, e events.APIGatewayV2HTTPRequest) *idempotency.Request {
		r := fromFormat2(e)
		r.Caller = httpCaller(e.RequestContext.Authorizer)
		return r
	},
	response: fromFormat2Response,
	answer: func(_ events.APIGatewayV2HTTPRequest, r *idempotency.Response) events.APIGatewayV2HTTPResponse {
		return toFormat2Response(r)
	},
}

// httpCaller is what an authorizer of an HTTP API has verified.
func httpCaller(a *events.APIGatewayV2HTTPRequestContextAuthorizerDescription) (c idempotency.Caller) {
	if a == nil {
		return c
	}
	if a.JWT != nil {
		c.Claims = a.JWT.Claims
	}
	if a.Lambda != nil {
		c.Authorizer = names(a.Lambda)
	}
	if a.IAM != nil {
		c.IAM = idempotency.IAMIdentity{UserARN: a.IAM.UserARN, AccountID: a.IAM.AccountID,
			CognitoIdentityID: a.IAM.CognitoIdentity.IdentityID}
	}
	return c
}

// fromFormat2 reads an event in payload format 2.0, but for its caller.
func fromFormat2(e events.APIGatewayV2HTTPRequest) *idempotency.Request {
	c := e.RequestContext
	h := header(e.Headers, nil)
	if len(e.Cookies) > 0 {
		h.Set("Cookie", strings.Join(e.Cookies, "; "))
	}
	return &idempotency.Request{Method: c.HTTP.Method, Path: withoutStage(e.RawPath, c.Stage), Route: e.RouteKey,
		RawQuery: e.RawQueryString, Header: h, Body: body(e.Body, e.IsBase64Encoded), RequestID: c.RequestID}
}

// withoutStage is the path that the client asked of the API: an HTTP API puts the stage in front, unless it is the
// default one.
func withoutStage(path, stage string) string {
	if stage == "$default" || stage == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, "/"+stage); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return path
}

// fromFormat2Response reads what the gateway reads.
func fromFormat2Response(r events.APIGatewayV2HTTPResponse) *idempotency.Response {
	h := header(r.Headers, nil)
	if len(r.Cookies) > 0 {
		h["Set-Cookie"] = append(h["Set-Cookie"], r.Cookies...)
	}
	return &idempotency.Response{Status: orOK(r.StatusCode), Header: h, Body: body(r.Body, r.IsBase64Encoded)}
}

func toFormat2Response(r *idempotency.Response) events.APIGatewayV2HTTPResponse {
	e := events.APIGatewayV2HTTPResponse{StatusCode: r.Status, Headers: joined(r.Header), Cookies: r.Header["Set-Cookie"]}
	e.Body, e.IsBase64Encoded = encodeBody(r.Body, maxAnswer)
	return e
}
