// Command elsewhere has handlers that come from where the analysis does not follow: it says nothing.
package main

import (
	"context"
	"net/http"

	"example.com/firstwriter/idempotency"
	"example.com/ownhandlers"
	"example.com/telemetry"
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

type handler func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

func v2(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return events.APIGatewayV2HTTPResponse{}, nil
}

var registry = map[string]func(handler) handler{}

func start(h handler) { lambda.Start(h) }

func main() {
	g, _ := idempotency.New(idempotency.Config{})
	lambda.Start(ownhandlers.New(g))
	lambda.Start(ownhandlers.API{}.Handle)
	lambda.Start(registry["guard"](v2))

	lambda.Start(telemetry.NewAdapter(http.NewServeMux()).Proxy) // judged by its routes

	c := make(chan handler, 1)
	lambda.Start(<-c)

	h := handler(v2)
	change(&h)
	lambda.Start(h)

	run := start
	run(v2)
}

func change(*handler) {}
