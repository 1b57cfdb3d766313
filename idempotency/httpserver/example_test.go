package httpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"firstwriter/idempotency"
	"firstwriter/idempotency/httpserver"
)

type tenantKey struct{}

// authenticate stands for a middleware that has verified a token and leaves what it says in the context.
func authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, "acme")))
	})
}

// callerOf is what the middleware has verified.
func callerOf(r *http.Request) idempotency.Caller {
	tenant, _ := r.Context().Value(tenantKey{}).(string)
	return idempotency.Caller{Claims: map[string]string{"tenant_id": tenant}}
}

func createPayment(w http.ResponseWriter, r *http.Request) {
	order, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	attempt := idempotency.AttemptFrom(r.Context())
	fmt.Printf("charging for %s, rerun: %t\n", order, attempt.Rerun()) // with attempt.DeriveKey("charge")
	w.Header().Set("Location", "/payments/1")
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, `{"id":1}`)
}

func ExampleMiddleware() {
	guard, err := idempotency.New(idempotency.Config{
		Store: &idempotency.Memory{},
		Scope: idempotency.JWTClaim("tenant_id"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	guarded := httpserver.Middleware(guard, httpserver.Options{Caller: callerOf})
	mux := http.NewServeMux()
	mux.Handle("POST /payments", authenticate(guarded(http.HandlerFunc(createPayment))))
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, body := range []string{`{"amount":1299}`, `{ "amount": 12.99e2 }`, `{"amount":1300}`} {
		r, _ := http.NewRequest(http.MethodPost, server.URL+"/payments", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", `"8e03978e-40d5-43dd-bc93-6894a57f9324"`)
		answer, err := server.Client().Do(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer.Body.Close()
		fmt.Printf("%s %q replayed=%t\n", answer.Status, answer.Header.Get("Location"), answer.Header.Get("Idempotent-Replayed") == "true")
	}
	// Output:
	// charging for {"amount":1299}, rerun: false
	// 201 Created "/payments/1" replayed=false
	// 201 Created "/payments/1" replayed=true
	// 422 Unprocessable Entity "" replayed=false
}

// A response over the limit reaches the first caller, but is not kept for others.
func ExampleMiddleware_large() {
	guard, _ := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.SharedScope})
	export := httpserver.Middleware(guard, httpserver.Options{MaxResponse: 1 << 10})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 1000 {
			fmt.Fprintln(w, "a line of the export")
		}
	}))
	for range 2 {
		r := httptest.NewRequest(http.MethodPost, "/exports", nil)
		r.Header.Set("Idempotency-Key", "k1")
		w := httptest.NewRecorder()
		export.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Content-Type"), w.Body.Len() > 1<<10)
	}
	// Output:
	// 200 text/plain; charset=utf-8 true
	// 409 application/problem+json false
}
