package apigateway

import (
	"context"
	"maps"
	"net/http"
	"net/url"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// RESTHandler handles events of a REST API (payload format 1.0).
type RESTHandler = func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)

// REST guards a handler of a REST API. Claims of its Cognito authorizer become [idempotency.Caller].Claims.
func REST(g *idempotency.Guard, h RESTHandler) RESTHandler {
	return func(ctx context.Context, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		if !g.Guards(e.HTTPMethod) {
			return h(ctx, e)
		}
		r := g.Serve(ctx, fromREST(e), func(ctx context.Context) (*idempotency.Response, error) {
			r, err := h(ctx, e)
			if err != nil {
				return nil, err
			}
			return &idempotency.Response{Status: orOK(r.StatusCode), Header: header(r.Headers, r.MultiValueHeaders),
				Body: body(r.Body, r.IsBase64Encoded)}, nil
		})
		return toRESTResponse(r), nil
	}
}

func fromREST(e events.APIGatewayProxyRequest) *idempotency.Request {
	r := &idempotency.Request{Method: e.HTTPMethod, Path: e.Path, Route: e.HTTPMethod + " " + e.Resource,
		RawQuery: query(e.QueryStringParameters, e.MultiValueQueryStringParameters),
		Header:   header(e.Headers, e.MultiValueHeaders), Body: body(e.Body, e.IsBase64Encoded),
		RequestID: e.RequestContext.RequestID}
	if claims, ok := e.RequestContext.Authorizer["claims"].(map[string]any); ok {
		r.Caller.Claims = make(map[string]string, len(claims))
		for name, v := range claims {
			r.Caller.Claims[name] = text(v)
		}
	}
	return r
}

// query encodes the parameters of a REST event, which the gateway has decoded. The lists say all that the single values
// say.
func query(single map[string]string, multi map[string][]string) string {
	values := make(map[string][]string, len(single))
	for name, v := range single {
		values[name] = []string{v}
	}
	maps.Copy(values, multi)
	return url.Values(values).Encode()
}

func toRESTResponse(r *idempotency.Response) events.APIGatewayProxyResponse {
	e := events.APIGatewayProxyResponse{StatusCode: r.Status, Headers: map[string]string{}}
	for name, values := range r.Header {
		if len(values) == 1 {
			e.Headers[name] = values[0]
			continue
		}
		if e.MultiValueHeaders == nil {
			e.MultiValueHeaders = http.Header{}
		}
		e.MultiValueHeaders[name] = values
	}
	e.Body, e.IsBase64Encoded = encodeBody(r.Body)
	return e
}
