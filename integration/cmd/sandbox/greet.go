package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"slices"

	"firstwriter/integration/sandbox"
)

// examplePayment is the body of the payment that the greeting shows.
const examplePayment = `{"amount":1299,"currency":"EUR","source":"tok_ok","reference":"order-42"}`

// greet prints the URL and lines that work as pasted: a write, a read, the events that came of it, and a shell function
// idemctl for its table, where the API has the payments route.
func greet(w io.Writer, s *sandbox.Sandbox) error {
	token, err := s.Token("acme", "alice")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nserving %s (Ctrl-C stops it)\n\n", s.URL())
	auth := fmt.Sprintf("-H 'Authorization: Bearer %s'", token)
	if slices.Contains(s.Routes(), "POST /payments") {
		fmt.Fprintf(w, "curl -i %s/payments %s -H 'Idempotency-Key: %s' -H 'Content-Type: application/json' -d '%s'\n\n",
			s.URL(), auth, rand.Text(), examplePayment)
		fmt.Fprintf(w, "curl -i '%s/payments?reference=order-42' %s\n\n", s.URL(), auth)
		fmt.Fprintf(w, "curl -i '%s/_sandbox/events?reference=order-42'\n\n", s.URL())
		fmt.Fprintf(w, "idemctl() { go run ./idempotency/cmd/idemctl \"$@\" --endpoint %s --table %s; }\n\n", s.DatabaseURL(), s.Table("IdempotencyTable"))
		return nil
	}
	fmt.Fprintf(w, "curl -i %s %s\n\n", s.URL(), auth)
	return nil
}
