// Package apigateway stands for this module's package, under another module path.
package apigateway

import (
	"context"

	"example.com/firstwriter/idempotency"
	"github.com/aws/aws-lambda-go/events"
)

type HTTPHandler = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

type RESTHandler = func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)

func HTTP(g *idempotency.Guard, h HTTPHandler) HTTPHandler { return h }

func REST(g *idempotency.Guard, h RESTHandler) RESTHandler { return h }
