// Package apigateway guards AWS Lambda handlers behind Amazon API Gateway, function URLs and Application Load Balancers.
// It only translates: events into the neutral request that the guard knows, and responses back. Handlers stay as they
// are:
//
//	lambda.Start(apigateway.HTTP(guard, createPayment))
//
// Who the caller is comes from what the gateway has verified, and from nothing else:
//
//	             verified by               idempotency.Caller
//	HTTP         JWT authorizer            Claims
//	             Lambda authorizer         Authorizer
//	             IAM                       IAM
//	REST         Cognito authorizer        Claims
//	             Lambda authorizer         Authorizer; its principal is "principalId"
//	             IAM                       IAM
//	             API key, where required   APIKeyID
//	FunctionURL  IAM                       IAM
//	ALB          nobody                    as a function of yours says
//
// A value that is empty, null or structured, or a number that is not exact, names nobody.
//
// Requests with a method that the guard does not guard go to the handler untouched, and so do their responses. An event
// that names no method is not of the adapter's shape (an HTTP API that sends format 1.0, say): the handler does not run,
// and the answer is 500 handler-failed.
package apigateway

import (
	"context"
	"errors"

	"firstwriter/idempotency"
)

// codec translates one shape of events: E is the event, R the response event.
type codec[E, R any] struct {
	method   func(E) string
	request  func(context.Context, E) *idempotency.Request
	response func(R) *idempotency.Response    // reads what the handler returned, as the gateway would
	answer   func(E, *idempotency.Response) R // writes the answer to an event
}

var errNoMethod = errors.New("apigateway: the event names no method, so it is not of the shape that this adapter reads " +
	"(HTTP and FunctionURL read payload format 2.0, REST reads format 1.0)")

// guard is the way of every event, whatever its shape.
func (c codec[E, R]) guard(g *idempotency.Guard, h func(context.Context, E) (R, error)) func(context.Context, E) (R, error) {
	return func(ctx context.Context, e E) (R, error) {
		method := c.method(e)
		if method != "" && !g.Guards(method) {
			return h(ctx, e)
		}
		answer := g.Serve(ctx, c.request(ctx, e), func(ctx context.Context) (*idempotency.Response, error) {
			if method == "" {
				return nil, errNoMethod
			}
			r, err := h(ctx, e)
			if err != nil {
				return nil, err
			}
			return c.response(r), nil
		})
		return c.answer(e, answer), nil
	}
}
