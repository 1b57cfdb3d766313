package httpclient

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"firstwriter/idempotency"
)

// Transport is an [http.RoundTripper] that sends an operation under one key until it has a final answer. Use it as the
// Transport of an [http.Client], or by [Transport.Do]. It is safe for concurrent use.
type Transport struct {
	cfg    Config
	traced bool // the base is net/http's own, which tells of every connection that it uses
}

// RoundTrip implements [http.RoundTripper]. The caller's request is not changed, and its body is closed.
//
// A response is a final answer; [OutcomeOf] tells more, also of the one exception: a 425 or 429 to an operation that was
// given up and had no effect. An error is an [*OutcomeUnknown], a [*NotDone], or says why nothing was sent at all.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.keeps(req) {
		return t.pass(req)
	}
	o, err := t.begin(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as RoundTrip must; the other error says more
		}
		return nil, err
	}
	return o.run()
}

// keeps reports whether a request is an operation: by its method, or because it was given a key. What a client makes of a
// redirect has the headers and the context of the operation that was redirected, and is one by its method only.
func (t *Transport) keeps(req *http.Request) bool {
	_, inHeader := req.Header[idempotency.KeyHeader]
	given := inHeader || req.Context().Value(keyInContext{}) != nil
	return slices.Contains(t.cfg.Methods, req.Method) || given && req.Response == nil
}

// Do sends one operation and follows no redirect. The outcome is known for what [*OutcomeUnknown] and [*NotDone] say,
// too; it is zero where nothing was sent, and for methods that get no key.
func (t *Transport) Do(req *http.Request) (*http.Response, Outcome, error) {
	client := http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		var unknown *OutcomeUnknown
		var undone *NotDone
		switch {
		case errors.As(err, &unknown):
			return nil, unknown.Outcome, err
		case errors.As(err, &undone):
			return nil, undone.Outcome, err
		}
		return nil, Outcome{}, err
	}
	outcome, _ := OutcomeOf(res)
	return res, outcome, nil
}

// CloseIdleConnections closes those of the base, where it can: [http.Client.CloseIdleConnections] calls it.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.cfg.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// pass sends a request that gets no key. A key that was meant for the origin which redirected it stays behind.
func (t *Transport) pass(req *http.Request) (*http.Response, error) {
	if _, ok := req.Header[idempotency.KeyHeader]; ok && !sameOrigin(req, firstHop(req)) {
		req = req.Clone(req.Context())
		req.Header.Del(idempotency.KeyHeader)
	}
	return t.cfg.Base.RoundTrip(req)
}

// firstHop is the request that a client made before it was redirected. http.Client copies its headers to every hop.
func firstHop(req *http.Request) *http.Request {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return req
}

// sameOrigin compares scheme, host and port (RFC 6454).
func sameOrigin(a, b *http.Request) bool {
	return a.URL.Scheme == b.URL.Scheme && strings.EqualFold(a.URL.Hostname(), b.URL.Hostname()) && port(a) == port(b)
}

func port(r *http.Request) string {
	if p := r.URL.Port(); p != "" || r.URL.Scheme != "https" && r.URL.Scheme != "http" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[r.URL.Scheme]
}
