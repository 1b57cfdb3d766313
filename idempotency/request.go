package idempotency

import (
	"bytes"
	"net/http"
)

// Request is one HTTP request, whichever way it came in. Adapters make it from their events; the guard knows only this.
type Request struct {
	Method    string      // "POST"
	Path      string      // path the client asked for, without the stage of a gateway
	Route     string      // method and path template, "PATCH /payments/{id}"; for people and audits
	RawQuery  string      // query string, encoded
	Header    http.Header // canonical names, repeated values apart where the event keeps them apart
	Body      []byte      // decoded; must not be changed
	Caller    Caller      // who asks, as verified in front of this code
	RequestID string      // for people and audits
}

// Caller is what an authorizer has verified of the caller. Nothing in it comes from the client unchecked.
type Caller struct {
	Claims map[string]string // claims of a JWT that the gateway has verified
}

// Response is the answer to a [Request].
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// clone returns a copy that shares nothing with r.
func (r *Response) clone() *Response {
	if r == nil {
		return nil
	}
	return &Response{Status: r.Status, Header: r.Header.Clone(), Body: bytes.Clone(r.Body)}
}

// CallerFunc names the caller of a request, for a scope or a principal; "" says that the caller has no such name. It
// must use verified facts only, such as [Request].Caller, never a header that a client can set.
type CallerFunc func(*Request) string

// JWTClaim names callers by a claim of the JWT that the gateway has verified.
func JWTClaim(name string) CallerFunc {
	return func(r *Request) string { return r.Caller.Claims[name] }
}

// SharedScope puts all callers into one scope. It is for endpoints with a single trusted caller: with several, they
// could meet each other's keys.
func SharedScope(*Request) string { return "shared" }
