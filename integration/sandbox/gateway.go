package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	maxBody          = 10 << 20         // API Gateway's limit for a request's payload
	maxHeaders       = 10_240           // API Gateway's limit for request line and headers, in bytes
	integrationLimit = 30 * time.Second // an HTTP API's limit for a function
)

// gateway is an API Gateway HTTP API in front of the functions.
type gateway struct {
	routes  []route
	issuer  *issuer // nil: no route is guarded
	pools   map[string]*pool
	log     *logger
	limit   time.Duration // integrationLimit, but in tests
	timings *timings
}

// ServeHTTP answers one request as an HTTP API would.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	a := arrival{request: r, requestID: newRequestID(), traceID: traceID(r, start), now: start}
	out, function := g.answer(a)
	w.Header().Set("Apigw-Requestid", a.requestID)
	out.send(w)
	if function > 0 {
		g.timings.add(timing{Total: time.Since(start), Function: function})
	}
}

// answer decides on a request, and says how long the function had it, if it got that far and answered.
func (g *gateway) answer(a arrival) (reply, time.Duration) {
	r := a.request
	if headerBytes(r) > maxHeaders {
		return gatewayReply(http.StatusRequestHeaderFieldsTooLarge, "Request Header Fields Too Large"), 0
	}
	var err error
	if a.body, err = readAll(r.Body, r.ContentLength, maxBody); errors.Is(err, errTooLong) {
		return tooLargeReply, 0
	} else if err != nil {
		return gatewayReply(http.StatusBadRequest, "Bad Request"), 0
	}
	var ok bool
	if a.match, ok = findRoute(g.routes, r.Method, r.URL.EscapedPath()); !ok {
		return gatewayReply(http.StatusNotFound, "Not Found"), 0
	}
	if a.match.route.auth {
		var no *refusal
		if a.authorizer, no = g.issuer.authorize(r.Header.Get("Authorization"), a.match.route.scopes); no != nil {
			return no.reply(), 0
		}
	}
	return g.invoke(a)
}

var tooLargeReply = gatewayReply(http.StatusRequestEntityTooLarge, "Request Entity Too Large")

// invoke runs the function. Neither a client that goes away nor the gateway's own limit stops it.
func (g *gateway) invoke(a arrival) (reply, time.Duration) {
	payload, err := a.encode()
	if err != nil || len(payload) > maxPayload {
		return tooLargeReply, 0
	}
	function := g.pools[a.match.route.function]
	inv := &invocation{id: newUUID(), traceID: a.traceID, payload: payload, done: make(chan outcome, 1)}
	result := make(chan outcome, 1)
	go func() { result <- function.invoke(inv) }()
	limit := time.NewTimer(g.limit)
	defer limit.Stop()
	select {
	case out := <-result:
		rep, err := functionReply(out)
		if err != nil {
			g.log.printf(function.fn.id, "RequestId: %s %v", inv.id, err)
		}
		return rep, out.function
	case <-limit.C:
		return gatewayReply(http.StatusServiceUnavailable, "Service Unavailable"), 0
	}
}

// headerBytes is the size of the request line and the headers as they were sent, nearly.
func headerBytes(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len(r.Proto) + len("Host: \r\n") + len(r.Host) + 4
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v) + len(": \r\n")
		}
	}
	return n
}

// newRequestID makes an id in the gateway's manner, such as JKJaXmPLvHcESHA=.
func newRequestID() string {
	var b [11]byte
	rand.Read(b[:])
	return base64.URLEncoding.EncodeToString(b[:])
}

// newUUID makes a random one (RFC 9562, version 4), as Lambda's request ids are.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// traceID is the request's own, or a new one in X-Ray's form.
func traceID(r *http.Request, now time.Time) string {
	if id := r.Header.Get("X-Amzn-Trace-Id"); id != "" {
		return id
	}
	var b [12]byte
	rand.Read(b[:])
	return fmt.Sprintf("Root=1-%08x-%x", now.Unix(), b)
}
