package httpclient

import (
	"errors"
	"io"
	"net/http"
)

// content is the body of an answer: what was read of it already, then the rest.
type content struct {
	text  []byte
	at    int           // how far text has been handed on
	rest  io.ReadCloser // nil: there is none
	limit bound
}

// take reads an answer's body, up to most bytes, and puts itself in its place. An answer that breaks off before is an
// error, and closed.
func (c *content) take(res *http.Response, most int, limit bound) error {
	if res.Body == nil {
		res.Body = http.NoBody
	}
	text, err := read(res.Body, res.ContentLength, most)
	*c = content{text: text, limit: limit}
	switch {
	case err == io.EOF:
		err = res.Body.Close()
		limit.end()
	case err == nil && limit.lift():
		c.rest = res.Body
	default:
		_ = res.Body.Close() // the other error says more
		return errors.Join(err, errBrokenOff)
	}
	res.Body = c
	return err
}

var errBrokenOff = errors.New("the answer broke off")

// read reads up to most bytes. The error is io.EOF where that was all.
func read(r io.Reader, length int64, most int) (text []byte, err error) {
	size := 512
	if length >= 0 && length < 64<<10 {
		size = int(length) + 1 // so that the end is seen without growing
	}
	text = make([]byte, 0, size)
	for err == nil && len(text) < most {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		var n int
		n, err = r.Read(text[len(text):min(cap(text), most)])
		text = text[:len(text)+n]
	}
	return text, err
}

// Read implements [io.Reader].
func (c *content) Read(p []byte) (n int, err error) {
	if c.at < len(c.text) {
		n = copy(p, c.text[c.at:])
		c.at += n
		return n, nil
	}
	if c.rest == nil {
		return 0, io.EOF
	}
	return c.rest.Read(p)
}

// Close implements [io.Closer].
func (c *content) Close() error {
	c.text = nil
	if c.rest == nil {
		return nil
	}
	defer c.limit.end()
	return c.rest.Close()
}

// discard closes an answer that nobody wants. What has not been read of it is more than a connection is worth.
func discard(res *http.Response) {
	if res != nil {
		_ = res.Body.Close()
	}
}
