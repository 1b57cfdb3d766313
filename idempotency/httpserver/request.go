package httpserver

import (
	"net/http"
	"net/url"
	"strings"

	"firstwriter/idempotency"
)

// request is the neutral form of a request. broken says why the body is not whole, if it is not.
func (h *guarded) request(r *http.Request, body []byte, broken error) *idempotency.Request {
	u := asked(r)
	return &idempotency.Request{Method: r.Method, Path: u.EscapedPath(), Route: route(r), RawQuery: u.RawQuery,
		Header: r.Header, Body: body, BodyErr: broken, Caller: h.Caller(r)}
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
