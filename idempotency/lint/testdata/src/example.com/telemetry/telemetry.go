// Package telemetry is a package of somebody else that wraps handlers.
package telemetry

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
)

func Lambda(handler any) any { return handler }

func HTTP(next http.Handler) http.Handler { return next }

type Chain struct {
	list []func(http.Handler) http.Handler
}

func New(list ...func(http.Handler) http.Handler) Chain { return Chain{list} }

func (c Chain) Then(h http.Handler) http.Handler { return h }

// Adapter serves events by a handler of net/http.
type Adapter struct{ handler http.Handler }

func NewAdapter(h http.Handler) *Adapter { return &Adapter{h} }

func (a *Adapter) Proxy(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return events.APIGatewayV2HTTPResponse{}, nil
}
