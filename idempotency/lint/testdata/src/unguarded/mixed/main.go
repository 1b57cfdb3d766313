// Command mixed imports a guard, and does not use it everywhere.
package main

import (
	"context"
	"net/http"
	"os"

	"example.com/firstwriter/idempotency"
	"example.com/firstwriter/idempotency/apigateway"
	"example.com/telemetry"
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func v2(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return events.APIGatewayV2HTTPResponse{}, nil
}

func logged(next apigateway.HTTPHandler) apigateway.HTTPHandler {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return next(ctx, e)
	}
}

func newHandler(g *idempotency.Guard) (apigateway.HTTPHandler, error) {
	if os.Getenv("DEBUG") != "" {
		return v2, nil
	}
	return apigateway.HTTP(g, v2), nil
}

func create(w http.ResponseWriter, r *http.Request) {}

func start(h apigateway.HTTPHandler) {
	lambda.Start(h) // want `unguarded: lambda.Start`
}

func main() {
	g, _ := idempotency.New(idempotency.Config{})
	lambda.Start(v2)                    // want `unguarded: lambda.Start`
	lambda.Start(logged(v2))            // want `unguarded: lambda.Start`
	lambda.Start(telemetry.Lambda(v2))  // want `unguarded: lambda.Start`
	lambda.StartHandlerFunc(logged(v2)) // want `unguarded: lambda.StartHandlerFunc`

	adapter := telemetry.NewAdapter(http.HandlerFunc(create))
	lambda.Start(adapter.Proxy) // want `unguarded: lambda.Start`

	h := apigateway.HTTP(g, v2)
	if os.Getenv("DEBUG") != "" {
		h = v2
	}
	lambda.Start(h) // want `unguarded: lambda.Start`

	h, _ = newHandler(g)
	lambda.Start(h) // want `unguarded: lambda.Start`
	start(v2)
}
