// Package httpserver stands for this module's package, under another module path.
package httpserver

import (
	"net/http"

	"example.com/firstwriter/idempotency"
)

type Options struct{}

func Middleware(g *idempotency.Guard, o Options) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return next }
}
