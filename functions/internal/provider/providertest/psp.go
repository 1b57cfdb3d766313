// Package providertest has a payment provider and a Secrets Manager for tests.
package providertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// PSP is a payment provider that keeps its promise about Idempotency-Key and misbehaves where the source asks for it:
// tok_declined always, the others on the first request with a key; tok_flaky_declined is declined after that.
type PSP struct {
	URL string
	Cut func() // called on tok_cut, before the answer that never comes

	mu       sync.Mutex
	requests int               // guarded by mu
	charges  int               // guarded by mu
	seen     map[string]bool   // keys; guarded by mu
	answers  map[string]string // key to the 201 it got; guarded by mu
}

// NewPSP starts a provider for the time of the test.
func NewPSP(t testing.TB) *PSP {
	t.Helper()
	p := &PSP{}
	p.Forget()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Forget makes all keys new, as providers do after a day or so. Charges stay.
func (p *PSP) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen, p.answers = map[string]bool{}, map[string]string{}
}

// Counts tells how often a charge was asked for, and how many were made.
func (p *PSP) Counts() (requests, charges int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, p.charges
}

// ServeHTTP implements [http.Handler].
func (p *PSP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var c struct {
		Amount                      int64
		Currency, Source, Reference string
	}
	key := r.Header.Get("Idempotency-Key")
	if err != nil || json.Unmarshal(body, &c) != nil || key == "" || r.Header.Get("Authorization") != "Bearer "+Secret {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	first := !p.seen[key]
	p.seen[key] = true
	switch {
	case c.Source == "tok_declined", !first && c.Source == "tok_flaky_declined":
		w.WriteHeader(http.StatusPaymentRequired)
		return
	case first && strings.HasPrefix(c.Source, "tok_flaky"):
		w.WriteHeader(http.StatusInternalServerError)
		return
	case first && c.Source == "tok_busy":
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case first && c.Source == "tok_reused":
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	if p.answers[key] == "" {
		p.charges++
		p.answers[key] = fmt.Sprintf(`{"id":"ch_%d","status":"captured","amount":%d,"currency":%q,"reference":%q}`,
			p.charges, c.Amount, c.Currency, c.Reference)
	}
	switch {
	case first && c.Source == "tok_cut":
		p.Cut()
		<-r.Context().Done()
	case first && c.Source == "tok_lost":
		panic(http.ErrAbortHandler) // closes the connection
	}
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, p.answers[key])
}
