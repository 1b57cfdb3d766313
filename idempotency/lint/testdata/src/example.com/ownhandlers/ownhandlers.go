// Package ownhandlers makes guarded handlers for another package.
package ownhandlers

import (
	"context"

	"example.com/firstwriter/idempotency"
	"example.com/firstwriter/idempotency/apigateway"
	"github.com/aws/aws-lambda-go/events"
)

func New(g *idempotency.Guard) func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return apigateway.HTTP(g, nil)
}

type API struct{ inner apigateway.HTTPHandler }

func (a API) Handle(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return a.inner(ctx, e)
}
