// Package routes registers handlers with net/http.
package routes

import (
	"fmt"
	"net/http"

	"example.com/firstwriter/idempotency"
	"example.com/firstwriter/idempotency/httpserver"
	"example.com/telemetry"
)

type server struct {
	guarded func(http.Handler) http.Handler
	mux     *http.ServeMux
}

func (s *server) create(w http.ResponseWriter, r *http.Request) {}

// ServeHTTP makes a server a handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) }

func authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			next.ServeHTTP(w, r)
		}
	})
}

func limited(n int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
	}
}

func (s *server) guard(next http.HandlerFunc) http.Handler { return s.guarded(next) }

func (s *server) post(path string, h http.HandlerFunc) { s.mux.Handle("POST "+path, h) } // want `the handler of POST … runs without a guard`

func routes(g *idempotency.Guard, wrap func(http.Handler) http.Handler, given http.Handler) *http.ServeMux {
	guarded := httpserver.Middleware(g, httpserver.Options{})
	mux := http.NewServeMux()
	s := &server{guarded: guarded, mux: mux}

	mux.HandleFunc("POST /payments", s.create)                                  // want `unguarded: the handler of POST /payments runs without a guard`
	mux.Handle("PATCH /payments/{id}", http.HandlerFunc(s.create))              // want `PATCH /payments/{id}`
	mux.Handle(http.MethodPost+" /a", authenticate(http.HandlerFunc(s.create))) // want `POST /a`
	mux.Handle("POST\t/b", telemetry.HTTP(http.HandlerFunc(s.create)))          // want `POST\t/b`
	mux.Handle(fmt.Sprintf("POST %s", "/c"), &server{})                         // want `POST …`
	mux.Handle("POST /d", limited(3)(http.HandlerFunc(s.create)))               // want `POST /d`
	mux.Handle("POST /e", http.StripPrefix("/e", http.HandlerFunc(s.create)))   // want `POST /e`
	http.HandleFunc("POST /f", func(w http.ResponseWriter, r *http.Request) {}) // want `POST /f`
	http.Handle("POST /g", &server{})                                           // want `POST /g`
	s.post("/h", s.create)

	mux.HandleFunc("GET /payments", s.create)
	mux.HandleFunc("/any", s.create) // a pattern without a method says nothing
	mux.Handle("POST /payments/1", guarded(http.HandlerFunc(s.create)))
	mux.Handle("POST /payments/2", authenticate(guarded(http.HandlerFunc(s.create))))
	mux.Handle("POST /payments/3", limited(3)(authenticate(s.guard(s.create))))
	mux.Handle("POST /payments/4", telemetry.New(authenticate, guarded).Then(http.HandlerFunc(s.create)))
	mux.Handle("POST /payments/5", http.StripPrefix("/x", s.guarded(http.HandlerFunc(s.create))))
	mux.Handle("POST /payments/6", httpserver.Middleware(g, httpserver.Options{})(http.HandlerFunc(s.create)))
	mux.Handle("POST /payments/7", wrap(http.HandlerFunc(s.create))) // what wrap does is not known
	mux.Handle("POST /payments/8", given)
	mux.Handle("POST /payments/9", http.NotFoundHandler())
	mux.Handle("POST /sub/", http.StripPrefix("/sub", http.NewServeMux()))
	return mux
}
