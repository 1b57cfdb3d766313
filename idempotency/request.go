package idempotency

import (
	"bytes"
	"net/http"
)

// Request is one HTTP request, whichever way it came in. Adapters make it from their events; the guard knows only this.
type Request struct {
	Method    string      // "POST"
	Path      string      // path the client asked for, without the stage of a gateway
	Route     string      // method and path template, "PATCH /payments/{id}"; the method alone where no template is known; for people, audits and metrics
	RawQuery  string      // query string, encoded
	Header    http.Header // canonical names, repeated values apart where the event keeps them apart
	Body      []byte      // decoded; must not be changed
	BodyErr   error       // why Body is not the whole body, nil where it is: refuses the request in its turn, see [ErrBodyRead]
	Caller    Caller      // who asks, as verified in front of the guard
	RequestID string      // for people and audits
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
