package apigateway

import (
	"context"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// HTTPHandler handles events of an HTTP API (payload format 2.0).
type HTTPHandler = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

// HTTP guards a handler of an HTTP API. Claims of its JWT authorizer become [idempotency.Caller].Claims.
func HTTP(g *idempotency.Guard, h HTTPHandler) HTTPHandler {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		if !g.Guards(e.RequestContext.HTTP.Method) {
			return h(ctx, e)
		}
		r := g.Serve(ctx, fromHTTP(e), func(ctx context.Context) (*idempotency.Response, error) {
			r, err := h(ctx, e)
			if err != nil {
				return nil, err
			}
			return fromHTTPResponse(r), nil
		})
		return toHTTPResponse(r), nil
	}
}

func fromHTTP(e events.APIGatewayV2HTTPRequest) *idempotency.Request {
	c := e.RequestContext
	h := header(e.Headers, nil)
	if len(e.Cookies) > 0 {
		h.Set("Cookie", strings.Join(e.Cookies, "; "))
	}
	r := &idempotency.Request{Method: c.HTTP.Method, Path: withoutStage(e.RawPath, c.Stage), Route: e.RouteKey,
		RawQuery: e.RawQueryString, Header: h, Body: body(e.Body, e.IsBase64Encoded), RequestID: c.RequestID}
	if c.Authorizer != nil && c.Authorizer.JWT != nil {
		r.Caller.Claims = c.Authorizer.JWT.Claims
	}
	return r
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

// fromHTTPResponse reads what the gateway reads: it ignores multiValueHeaders in format 2.0.
func fromHTTPResponse(r events.APIGatewayV2HTTPResponse) *idempotency.Response {
	h := header(r.Headers, nil)
	if len(r.Cookies) > 0 {
		h["Set-Cookie"] = append(h["Set-Cookie"], r.Cookies...)
	}
	return &idempotency.Response{Status: orOK(r.StatusCode), Header: h, Body: body(r.Body, r.IsBase64Encoded)}
}

// toHTTPResponse joins repeated fields in one, as RFC 9110, section 5.3, allows for all but Set-Cookie.
func toHTTPResponse(r *idempotency.Response) events.APIGatewayV2HTTPResponse {
	headers := make(map[string]string, len(r.Header))
	for name, values := range r.Header {
		headers[name] = strings.Join(values, ", ")
	}
	delete(headers, "Set-Cookie")
	e := events.APIGatewayV2HTTPResponse{StatusCode: r.Status, Headers: headers, Cookies: r.Header["Set-Cookie"]}
	e.Body, e.IsBase64Encoded = encodeBody(r.Body)
	return e
}
