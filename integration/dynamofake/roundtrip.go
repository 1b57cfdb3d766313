package dynamofake

import (
	"bytes"
	"io"
	"net/http"
)

// RoundTripper returns a transport that leads every request straight into the
// server, whatever its address: no socket, and inside a testing/synctest bubble
// nothing that the bubble does not see, if the server was opened there too.
func (s *Server) RoundTripper() http.RoundTripper { return transport{s} }

// transport leads to one server.
type transport struct{ server *Server }

// RoundTrip does the call in a goroutine of its own, so that a caller that
// gives up does not stop it, as over a network.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	done := make(chan answer, 1)
	go func() { done <- t.server.call(r.Header.Get("X-Amz-Target"), body) }()
	select {
	case a := <-done:
		if a.dropped {
			return nil, io.ErrUnexpectedEOF
		}
		return a.response(r), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// response is the answer as a client of net/http sees it.
func (a answer) response(r *http.Request) *http.Response {
	return &http.Response{
		Status:        http.StatusText(a.status),
		StatusCode:    a.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        a.header(),
		Body:          io.NopCloser(bytes.NewReader(a.body)),
		ContentLength: int64(len(a.body)),
		Request:       r,
	}
}
