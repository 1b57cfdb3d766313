// Package idempotency stands for this module's root package, under another module path.
package idempotency

import "context"

type Config struct{}

type Guard struct{}

type Request struct{}

type Response struct{}

type Attempt struct{}

func New(Config) (*Guard, error) { return &Guard{}, nil }

func AttemptFrom(context.Context) *Attempt { return nil }

func (g *Guard) Serve(ctx context.Context, r *Request, run func(context.Context) (*Response, error)) *Response {
	return nil
}
