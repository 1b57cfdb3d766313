// Package telemetry is a package of somebody else that wraps handlers.
package telemetry

import "net/http"

func Lambda(handler any) any { return handler }

func HTTP(next http.Handler) http.Handler { return next }

type Chain struct {
	list []func(http.Handler) http.Handler
}

func New(list ...func(http.Handler) http.Handler) Chain { return Chain{list} }

func (c Chain) Then(h http.Handler) http.Handler { return h }
