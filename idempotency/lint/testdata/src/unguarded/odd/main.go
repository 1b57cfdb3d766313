// Command odd has code that goes in circles, or is deep.
package main

import (
	"context"
	"net/http"

	"example.com/firstwriter/idempotency"
	"example.com/firstwriter/idempotency/apigateway"
	"example.com/firstwriter/idempotency/httpserver"
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

type handler = apigateway.HTTPHandler

type circle []circle

type ring struct {
	next *ring
	m    map[string]ring
}

func v2(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return v2(ctx, e)
}

func wrap(a, b handler) handler { return pick(a, b) }

func pick(a, b handler) handler {
	if a == nil {
		return pick(b, a)
	}
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return a(ctx, e)
	}
}

func left(n int) *http.ServeMux {
	if n == 0 {
		return right(n)
	}
	return right(n - 1)
}

func right(n int) *http.ServeMux {
	if n == 0 {
		return left(n)
	}
	return left(n - 1)
}

func logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
}

func create(w http.ResponseWriter, r *http.Request) {}

func take(circle, ring) handler { return v2 }

func main() {
	g, _ := idempotency.New(idempotency.Config{})
	guarded := httpserver.Middleware(g, httpserver.Options{})

	h := handler(v2)
	for range 3 {
		h = wrap(h, wrap(h, wrap(h, wrap(h, wrap(h, h)))))
	}
	lambda.Start(h) // too many ways to follow
	var any1 any = v2
	for range 3 {
		any1 = []any{any1, any1, any1}
	}
	lambda.Start(any1)              // want `unguarded`
	lambda.Start(take(nil, ring{})) // want `unguarded`

	mux := left(3)
	mux.HandleFunc("POST /a", create) // want `POST /a`
	http.ListenAndServe(":1", logged(left(2)))
	deep := logged(logged(logged(logged(logged(logged(logged(logged(logged(logged(logged(logged(http.HandlerFunc(create)))))))))))))
	mux.Handle("POST /b", deep)          // want `POST /b`
	mux.Handle("POST /c", guarded(deep)) // the guard is outside
	go func() { h = nil }()
}
