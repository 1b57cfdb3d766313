package apigateway

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// FunctionURLHandler handles events of a Lambda function URL.
type FunctionURLHandler = func(context.Context, events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error)

// FunctionURL guards a handler behind a function URL whose invoke mode is BUFFERED. Its events and responses have
// payload format 2.0, as those of [HTTP].
//
// Who signed the request is known with the auth type AWS_IAM alone. With NONE, everybody on the internet is the same
// nobody (the event's account is "anonymous"), and a scope has to come from a function that verifies a credential itself.
//
// Source: docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
func FunctionURL(g *idempotency.Guard, h FunctionURLHandler) FunctionURLHandler {
	return functionURLCodec.guard(g, h)
}

var functionURLCodec = codec[events.LambdaFunctionURLRequest, events.LambdaFunctionURLResponse]{
	method: func(e events.LambdaFunctionURLRequest) string { return e.RequestContext.HTTP.Method },
	request: func(_ context.Context, e events.LambdaFunctionURLRequest) *idempotency.Request {
		c := e.RequestContext
		r := fromFormat2(events.APIGatewayV2HTTPRequest{RawPath: e.RawPath, RawQueryString: e.RawQueryString,
			Cookies: e.Cookies, Headers: e.Headers, Body: e.Body, IsBase64Encoded: e.IsBase64Encoded,
			RouteKey: c.HTTP.Method, // there are no routes
			RequestContext: events.APIGatewayV2HTTPRequestContext{RequestID: c.RequestID,
				HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: c.HTTP.Method}}})
		if c.Authorizer != nil && c.Authorizer.IAM != nil {
			r.Caller.IAM = idempotency.IAMIdentity{UserARN: c.Authorizer.IAM.UserARN, AccountID: c.Authorizer.IAM.AccountID}
		}
		return r
	},
	response: func(r events.LambdaFunctionURLResponse) *idempotency.Response {
		return fromFormat2Response(events.APIGatewayV2HTTPResponse{StatusCode: r.StatusCode, Headers: r.Headers,
			Cookies: r.Cookies, Body: r.Body, IsBase64Encoded: r.IsBase64Encoded})
	},
	answer: func(_ events.LambdaFunctionURLRequest, r *idempotency.Response) events.LambdaFunctionURLResponse {
		e := toFormat2Response(r)
		return events.LambdaFunctionURLResponse{StatusCode: e.StatusCode, Headers: e.Headers, Cookies: e.Cookies,
			Body: e.Body, IsBase64Encoded: e.IsBase64Encoded}
	},
}
