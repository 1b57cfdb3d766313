// Package wholemux guards one mux as a whole, and forgets the other.
package wholemux

import (
	"net/http"

	"example.com/firstwriter/idempotency"
	"example.com/firstwriter/idempotency/httpserver"
)

func create(w http.ResponseWriter, r *http.Request) {}

func routes() http.Handler {
	mux := http.NewServeMux()
	add(mux)
	return logged(mux)
}

func add(mux *http.ServeMux) { mux.HandleFunc("POST /payments", create) }

func logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
}

func serve(g *idempotency.Guard) {
	guarded := httpserver.Middleware(g, httpserver.Options{})
	other := http.NewServeMux()
	other.HandleFunc("POST /orders", create) // want `POST /orders`
	go http.ListenAndServe(":1", other)
	http.ListenAndServe(":2", guarded(routes()))
}
