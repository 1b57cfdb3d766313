// Command bare has no guard at all.
package main

import (
	"context"
	"net/http"

	"example.com/telemetry"
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdaurl"
)

type api struct{ db string }

func (a *api) handle(ctx context.Context, e *events.APIGatewayProxyRequest) (*events.APIGatewayProxyResponse, error) {
	return nil, nil
}

func v2(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return events.APIGatewayV2HTTPResponse{}, nil
}

func main() {
	a := &api{}
	lambda.Start(a.handle) // want `unguarded: lambda.Start runs a handler of API requests without a guard`
	lambda.Start(v2)       // want `unguarded: lambda.Start`
	handler := telemetry.Lambda(v2)
	lambda.StartWithOptions(handler, nil)                                      // want `unguarded: lambda.StartWithOptions`
	lambda.StartWithContext(context.Background(), v2)                          // want `unguarded: lambda.StartWithContext`
	lambda.StartHandler(lambda.NewHandler(v2))                                 // want `unguarded: lambda.NewHandler`
	lambda.StartHandlerFunc(v2)                                                // want `unguarded: lambda.StartHandlerFunc`
	lambda.Start(func(e events.LambdaFunctionURLRequest) error { return nil }) // want `unguarded: lambda.Start`
	lambda.Start(func(e events.ALBTargetGroupRequest) error { return nil })    // want `unguarded: lambda.Start`
	lambdaurl.Start(http.HandlerFunc(serve))                                   // want `unguarded: lambdaurl.Start`

	lambda.Start(func(e events.SQSEvent) error { return nil }) // no client waits for the answer
	lambda.Start(func(ctx context.Context) error { return nil })
	lambdaurl.Start(http.NewServeMux()) // judged by its routes
}

func serve(w http.ResponseWriter, r *http.Request) {}
