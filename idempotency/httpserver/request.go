package httpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"

	"firstwriter/idempotency"
)

// request is the neutral form of a request.
func (h *guarded) request(r *http.Request, body []byte) *idempotency.Request {
	u := asked(r)
	return &idempotency.Request{Method: r.Method, Path: u.EscapedPath(), Route: route(r), RawQuery: u.RawQuery,
		Header: r.Header, Body: body, Caller: h.Caller(r)}
}

// asked is the URL that the client asked for. Routers change r.URL: with http.StripPrefix, /v1/payments and
// /v2/payments would be one request.
func asked(r *http.Request) *url.URL {
	if u, err := url.ParseRequestURI(r.RequestURI); err == nil {
		return u
	}
	return r.URL
}

// route is the method and the pattern by which http.ServeMux has found the handler; the method alone if it has not.
func route(r *http.Request) string {
	switch {
	case r.Pattern == "":
		return r.Method
	case strings.HasPrefix(r.Pattern, r.Method+" "):
		return r.Pattern
	}
	return r.Method + " " + r.Pattern
}

// The answers to bodies that could not be read. Nothing has run.
var (
	bodyTooLarge = idempotency.Problem{Code: "body-too-large", Status: http.StatusRequestEntityTooLarge, NewKey: true,
		Title: "Request body too large", Detail: "This server takes no bodies of this size."}
	bodyIncomplete = idempotency.Problem{Code: "body-incomplete", Status: http.StatusBadRequest, Retryable: true, NewKey: true,
		Title: "Request body incomplete", Detail: "The request ended before its body did. It did not run. Send it again."}
)

// readBody reads a request's body, and at most one byte beyond the limit: that is enough for the guard to refuse it. The
// refusal is for a body that did not arrive.
func readBody(r *http.Request, limit int) (body []byte, refusal *idempotency.Response) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	n := int64(limit)
	if n < math.MaxInt64 {
		n++
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, n))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge): // a limit of a middleware in front
		return nil, bodyTooLarge.Response()
	case err != nil:
		return nil, bodyIncomplete.Response()
	}
	return body, nil
}

// again is the request for the handler: with its body unread, and in the attempt's context.
func again(ctx context.Context, r *http.Request, body []byte) *http.Request {
	unread := r.WithContext(ctx)
	unread.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	return unread
}
