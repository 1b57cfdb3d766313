package httpserver

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
)

// capture is the [http.ResponseWriter] of a guarded handler: it keeps what the handler writes. It has no Unwrap, since
// nothing may reach the connection before the outcome is recorded.
type capture struct {
	outer  http.Header // as middlewares in front have set it
	header http.Header // as the handler sees and changes it
	sent   http.Header // header when the status was written: later changes do not count
	status int         // 0: not written yet
	body   spool
	failed error // of a write
}

func newCapture(outer http.Header, limit int) *capture {
	return &capture{outer: outer.Clone(), header: outer.Clone(), body: spool{limit: limit}}
}

// Header implements [http.ResponseWriter].
func (c *capture) Header() http.Header { return c.header }

// WriteHeader implements [http.ResponseWriter]. Informational responses are dropped. It panics on a status that
// net/http panics on.
func (c *capture) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("httpserver: invalid WriteHeader code %d", status))
	}
	if c.status != 0 || status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	c.status, c.sent = status, c.header.Clone()
}

// Write implements [http.ResponseWriter].
func (c *capture) Write(p []byte) (n int, err error) {
	c.WriteHeader(http.StatusOK) // unless there is a status already
	if !bodyAllowed(c.status) {
		return 0, http.ErrBodyNotAllowed
	}
	n, err = c.body.Write(p)
	if err != nil {
		c.failed = fmt.Errorf("httpserver: keep the response: %w", err)
	}
	return n, err
}

// Flush implements [http.Flusher] and does nothing: the response leaves when its outcome is recorded.
func (c *capture) Flush() {}

// Hijack implements [http.Hijacker] and always fails: what a handler says to a connection cannot be recorded.
func (c *capture) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return nil, nil, http.ErrNotSupported
}

// bodyAllowed reports whether responses with a status have a body (RFC 9110, sections 15.2, 15.3.5 and 15.4.5).
func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}
