package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// psp is a payment provider that keeps its promise about Idempotency-Key and misbehaves where the source asks for it:
// tok_declined always, the others on the first request with a key.
type psp struct {
	url string

	mu       sync.Mutex
	requests int               // guarded by mu
	charges  int               // guarded by mu
	seen     map[string]bool   // keys; guarded by mu
	answers  map[string]string // key to the 201 it got; guarded by mu
	meanly   func()            // called on tok_cut, before the charge
}

func newPSP(t *testing.T) *psp {
	t.Helper()
	p := &psp{}
	p.forget()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// forget makes all keys new, as providers do after a day or so. Charges stay.
func (p *psp) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen, p.answers = map[string]bool{}, map[string]string{}
}

func (p *psp) counts() (requests, charges int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, p.charges
}

func (p *psp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var c struct {
		Amount                      int64
		Currency, Source, Reference string
	}
	key := r.Header.Get("Idempotency-Key")
	if err != nil || json.Unmarshal(body, &c) != nil || key == "" || r.Header.Get("Authorization") != "Bearer "+testSecret {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	first := !p.seen[key]
	p.seen[key] = true
	switch {
	case c.Source == "tok_declined":
		w.WriteHeader(http.StatusPaymentRequired)
		return
	case first && c.Source == "tok_flaky":
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
		p.meanly()
		<-r.Context().Done()
	case first && c.Source == "tok_lost":
		panic(http.ErrAbortHandler) // closes the connection
	}
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, p.answers[key])
}
