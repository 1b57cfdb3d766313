// Package lambda has the names of aws-lambda-go's package that the fixtures need.
package lambda

import "context"

type Handler interface {
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

type Option any

func Start(handler any)                                                                   {}
func StartWithOptions(handler any, options ...Option)                                     {}
func StartWithContext(ctx context.Context, handler any)                                   {}
func StartHandler(handler Handler)                                                        {}
func StartHandlerFunc[In, Out any](h func(context.Context, In) (Out, error), o ...Option) {}
func NewHandler(handler any) Handler                                                      { return nil }
