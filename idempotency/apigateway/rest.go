package apigateway

import (
	"context"
	"net/http"
	"net/url"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// RESTHandler handles events of a REST API (payload format 1.0).
type RESTHandler = func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)

// REST guards a handler of a REST API.
//
// A binary response body needs the API's BinaryMediaTypes, as it does without the guard. One that is text goes out as text,
// unless it would be too large so.
//
// Source: docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
func REST(g *idempotency.Guard, h RESTHandler) RESTHandler { return restCodec.guard(g, h) }

var restCodec = codec[events.APIGatewayProxyRequest, events.APIGatewayProxyResponse]{
	method: func(e events.APIGatewayProxyRequest) string { return e.HTTPMethod },
	request: func(_ context.Context, e events.APIGatewayProxyRequest) *idempotency.Request {
		query := parameters(e.QueryStringParameters, e.MultiValueQueryStringParameters) // which the gateway has decoded
		return &idempotency.Request{Method: e.HTTPMethod, Path: e.Path, Route: e.HTTPMethod + " " + e.Resource,
			RawQuery: url.Values(query).Encode(), Header: header(e.Headers, e.MultiValueHeaders),
			Body: body(e.Body, e.IsBase64Encoded), Caller: restCaller(e.RequestContext), RequestID: e.RequestContext.RequestID}
	},
	response: func(r events.APIGatewayProxyResponse) *idempotency.Response {
		return &idempotency.Response{Status: orOK(r.StatusCode), Header: header(r.Headers, r.MultiValueHeaders),
			Body: body(r.Body, r.IsBase64Encoded)}
	},
	answer: func(_ events.APIGatewayProxyRequest, r *idempotency.Response) events.APIGatewayProxyResponse {
		e := events.APIGatewayProxyResponse{StatusCode: r.Status}
		e.Headers, e.MultiValueHeaders = split(r.Header)
		e.Body, e.IsBase64Encoded = encodeBody(r.Body, maxAnswer)
		return e
	},
}

// restCaller is what has been verified of a REST API's caller. The authorizer's object holds the values of a Lambda
// authorizer's context, the claims of a Cognito one, and the gateway's integrationLatency, another number each time.
func restCaller(c events.APIGatewayProxyRequestContext) idempotency.Caller {
	caller := idempotency.Caller{Authorizer: names(c.Authorizer), APIKeyID: c.Identity.APIKeyID,
		IAM: idempotency.IAMIdentity{UserARN: c.Identity.UserArn, AccountID: c.Identity.AccountID,
			CognitoIdentityID: c.Identity.CognitoIdentityID}}
	delete(caller.Authorizer, "integrationLatency")
	if claims, ok := c.Authorizer["claims"].(map[string]any); ok {
		caller.Claims = names(claims)
	}
	return caller
}

// split writes fields with one value apart from those with several.
func split(h http.Header) (single map[string]string, multi map[string][]string) {
	single = make(map[string]string, len(h))
	for name, values := range filled(h) {
		if len(values) == 1 {
			single[name] = values[0]
			continue
		}
		if multi == nil {
			multi = map[string][]string{}
		}
		multi[name] = values
	}
	return single, multi
}
