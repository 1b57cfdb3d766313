package main

import (
	"net/http"
	"strings"

	"firstwriter/idempotency"
)

// created is the answer to a payment that was made.
func created(p payment) response { return respond(createdResponse(p)) }

func createdResponse(p payment) *idempotency.Response {
	return &idempotency.Response{
		Status: http.StatusCreated,
		Header: http.Header{"Content-Type": {"application/json"}, "Location": {"/payments/" + p.ID}},
		Body:   p.appendJSON(nil),
	}
}

// ok is the answer to a read.
func ok(json []byte) response {
	return respond(&idempotency.Response{
		Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   json,
	})
}

func problem(p idempotency.Problem) response { return respond(p.Response()) }

// respond writes a neutral response as the gateway takes it. Bodies here are JSON, and so text.
func respond(r *idempotency.Response) response {
	headers := make(map[string]string, len(r.Header))
	for name, values := range r.Header {
		headers[name] = strings.Join(values, ", ")
	}
	return response{StatusCode: r.Status, Headers: headers, Body: string(r.Body)}
}
