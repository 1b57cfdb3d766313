// Command guarded guards its handlers in every way that is followed.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"

	"example.com/firstwriter/idempotency"
	"example.com/firstwriter/idempotency/apigateway"
	"example.com/firstwriter/idempotency/httpserver"
	"example.com/telemetry"
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

type app struct {
	guard  *idempotency.Guard
	create apigateway.HTTPHandler
}

func v2(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return events.APIGatewayV2HTTPResponse{}, nil
}

// newHandler returns several results.
func newHandler() (apigateway.HTTPHandler, error) {
	g, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return nil, err
	}
	if os.Getenv("STAGE") == "" {
		return nil, errors.New("no stage")
	}
	return apigateway.HTTP(g, v2), nil
}

// route gives some requests to a guarded handler, as a router does.
func (a *app) route(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	if e.RouteKey == "GET /payments" {
		return v2(ctx, e)
	}
	return a.create(ctx, e)
}

// byHand calls the guard itself.
func (a *app) byHand(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	a.guard.Serve(ctx, nil, nil)
	return events.APIGatewayV2HTTPResponse{}, nil
}

// logged wraps a handler.
func logged(next apigateway.HTTPHandler) apigateway.HTTPHandler {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return next(ctx, e)
	}
}

func named(g *idempotency.Guard) (h apigateway.HTTPHandler) {
	h = v2
	h = apigateway.HTTP(g, h)
	return
}

func create(w http.ResponseWriter, r *http.Request) {}

func start(h apigateway.HTTPHandler) { lambda.Start(h) }

func wrapped(g *idempotency.Guard, h apigateway.HTTPHandler) { lambda.Start(apigateway.HTTP(g, h)) }

var global apigateway.HTTPHandler

func main() {
	g, _ := idempotency.New(idempotency.Config{})
	handler, err := newHandler()
	if err != nil {
		panic(err)
	}
	lambda.Start(handler)
	lambda.Start(apigateway.HTTP(g, v2))
	lambda.Start(telemetry.Lambda(handler))
	lambda.StartHandlerFunc(logged(logged(handler)))
	lambda.StartHandler(lambda.NewHandler(handler))
	lambda.Start(named(g))

	h := v2
	h = logged(h)
	h = apigateway.HTTP(g, h)
	lambda.Start(h)

	a := &app{guard: g, create: apigateway.HTTP(g, v2)}
	lambda.Start(a.route)
	lambda.Start(a.byHand)
	lambda.Start(a.create)
	start(handler)
	wrapped(g, v2)

	middleware := httpserver.Middleware(g, httpserver.Options{})
	adapter := telemetry.NewAdapter(middleware(http.HandlerFunc(create)))
	lambda.Start(adapter.Proxy)

	global = apigateway.HTTP(g, v2)
	lambda.Start(func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return global(ctx, e)
	})
}
