package idempotency

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

var sink *Response

// BenchmarkGuard measures what the guard adds to a handler that does nothing, on the memory store: a first run and a
// replay of a request with a JSON body of 500 bytes.
func BenchmarkGuard(b *testing.B) {
	body := []byte(`{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"order-42","metadata":{"note":"` + strings.Repeat("x", 400) + `"}}`)
	request := func(key string) *Request {
		return &Request{Method: "POST", Path: "/payments", Route: "POST /payments", Body: body,
			Header: http.Header{"Content-Type": {"application/json"}, KeyHeader: {key}},
			Caller: Caller{Claims: map[string]string{"tenant": "acme", "sub": "alice"}}}
	}
	run := func(context.Context) (*Response, error) {
		return &Response{Status: 201, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"id":1}`)}, nil
	}
	var keys [1024]string
	for i := range keys {
		keys[i] = fmt.Sprint("key-", i)
	}
	guard := func() *Guard {
		g, err := New(Config{Store: &Memory{}, Scope: JWTClaim("tenant"), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		return g
	}
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			request(keys[0])
			sink, _ = run(b.Context())
		}
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		var g *Guard
		for i := range b.N {
			if i%len(keys) == 0 {
				g = guard() // with an empty store
			}
			sink = g.Serve(b.Context(), request(keys[i%len(keys)]), run)
		}
	})
	b.Run("replay", func(b *testing.B) {
		g := guard()
		g.Serve(b.Context(), request("k"), run)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			sink = g.Serve(b.Context(), request("k"), run)
		}
	})
}
