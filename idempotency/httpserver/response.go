package httpserver

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"firstwriter/idempotency"
)

// result is the handler's response, for the guard, after it has returned. attempt is nil where it ran unguarded.
func (c *capture) result(attempt *idempotency.Attempt) (*idempotency.Response, error) {
	c.WriteHeader(http.StatusOK) // unless there is a status already
	if c.failed != nil {
		return nil, c.failed
	}
	if announced := c.sent.Get("Content-Length"); announced != "" && bodyAllowed(c.status) && announced != strconv.FormatInt(c.body.size, 10) {
		return nil, fmt.Errorf("httpserver: the handler announced a body of %q bytes and wrote %d", announced, c.body.size)
	}
	if c.large() && attempt != nil {
		attempt.Withhold()
	}
	return &idempotency.Response{Status: c.status, Header: c.own(), Body: c.body.head.Bytes()}, nil
}

// large reports whether the body is too large to be recorded.
func (c *capture) large() bool { return c.body.tail != nil }

// isLarge reports whether an answer of the guard's is the handler's own large response, whose first part is in memory:
// its body is in the same memory.
func (c *capture) isLarge(answer *idempotency.Response) bool {
	return c.large() && len(answer.Body) > 0 && &answer.Body[0] == &c.body.head.Bytes()[0]
}

// own are the headers that the handler has set: neither those of middlewares in front that it left alone, nor what
// belongs to the connection. One that it has deleted of theirs has no values.
func (c *capture) own() http.Header {
	own := make(http.Header, len(c.sent))
	for name, values := range c.sent {
		if before, set := c.outer[name]; !ofConnection(name) && !(set && slices.Equal(values, before)) {
			own[name] = values
		}
	}
	for name := range c.outer {
		if _, kept := c.sent[name]; !kept {
			own[name] = nil
		}
	}
	if _, typed := c.sent["Content-Type"]; !typed && c.body.size > 0 && c.sent.Get("Content-Encoding") == "" {
		own.Set("Content-Type", http.DetectContentType(c.body.head.Bytes())) // as net/http would
	}
	return own
}

// ofConnection reports whether a header is about how a response is sent, which is not the handler's to say.
func ofConnection(name string) bool {
	switch name {
	case "Content-Length", "Trailer", "Transfer-Encoding":
		return true
	}
	return strings.HasPrefix(name, http.TrailerPrefix)
}

// sendLarge writes an answer whose body is the handler's own large one.
func (c *capture) sendLarge(w http.ResponseWriter, answer *idempotency.Response) {
	sendHeader(w, answer, c.body.size)
	_ = c.body.copyTo(w) // fails if the client has gone; the outcome is recorded
}

// send writes an answer.
func send(w http.ResponseWriter, answer *idempotency.Response) {
	sendHeader(w, answer, int64(len(answer.Body)))
	_, _ = w.Write(answer.Body) // fails if the client has gone; the outcome is recorded
}

func sendHeader(w http.ResponseWriter, r *idempotency.Response, size int64) {
	h := w.Header()
	delete(h, idempotency.ReplayHeader) // of a middleware in front: it would make every answer a replay
	for name, values := range r.Header {
		h[name] = values
	}
	if _, typed := h["Content-Type"]; !typed {
		h["Content-Type"] = nil // the handler wanted none: net/http is not to guess one
	}
	if bodyAllowed(r.Status) {
		h.Set("Content-Length", strconv.FormatInt(size, 10))
	}
	w.WriteHeader(r.Status)
}
