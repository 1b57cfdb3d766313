package httpclient

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// ErrBodyOnce is why an operation was not sent again: its body could be read only once.
var ErrBodyOnce = errors.New("the request's body cannot be sent again: it has no GetBody and is longer than MaxBody")

// source gives the body of a request for each attempt, without changing the request.
type source struct {
	first  io.ReadCloser                 // the caller's own, for the first attempt; nil where again gives that, too
	again  func() (io.ReadCloser, error) // nil: the body can be sent once
	length int64                         // as in [http.Request.ContentLength]
}

// sourceOf prepares a body. Where the request cannot give it again it is read, up to limit bytes.
func sourceOf(req *http.Request, limit int) (source, error) {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return source{again: noBody}, nil
	case req.GetBody != nil:
		return source{first: req.Body, again: req.GetBody, length: req.ContentLength}, nil
	}
	text, err := io.ReadAll(io.LimitReader(req.Body, int64(limit)+1))
	if err != nil {
		return source{}, fmt.Errorf("read the request's body: %w", err)
	}
	if len(text) > limit {
		return source{first: joined{io.MultiReader(bytes.NewReader(text), req.Body), req.Body}, length: req.ContentLength}, nil
	}
	if req.ContentLength > 0 && req.ContentLength != int64(len(text)) {
		return source{}, fmt.Errorf("the request's body has %d bytes and not the %d of its ContentLength", len(text), req.ContentLength)
	}
	again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	return source{again: again, length: int64(len(text))}, req.Body.Close()
}

// joined is a body of which the beginning has been read already.
type joined struct {
	io.Reader
	io.Closer
}

func noBody() (io.ReadCloser, error) { return http.NoBody, nil }

// next is the body of the next attempt.
func (s *source) next() (body io.ReadCloser, err error) {
	if s.first != nil {
		body, s.first = s.first, nil
		return body, nil
	}
	if s.again == nil {
		return nil, ErrBodyOnce
	}
	return s.again()
}

// digest reads the body once more for the journal: its SHA-256, and the text if it is to be kept.
func (s *source) digest(keep bool, limit int) (hash, text []byte, err error) {
	if s.again == nil {
		return nil, nil, fmt.Errorf("the journal must know the body before it is sent: %w", ErrBodyOnce)
	}
	body, err := s.again()
	if err != nil {
		return nil, nil, fmt.Errorf("read the request's body: %w", err)
	}
	defer body.Close()
	sum := sha256.New()
	if !keep {
		_, err = io.Copy(sum, body)
		return sum.Sum(nil), nil, err
	}
	text, err = io.ReadAll(io.LimitReader(io.TeeReader(body, sum), int64(limit)+1))
	if err == nil && len(text) > limit {
		err = fmt.Errorf("KeepBodies: the body is longer than MaxBody, %d bytes", limit)
	}
	return sum.Sum(nil), text, err
}
