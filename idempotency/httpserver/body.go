package httpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"

	"firstwriter/idempotency"
)

// errNotWhole is told to the operator, with what to do.
var errNotWhole = fmt.Errorf("httpserver: %w, or changed: r.FormValue and r.ParseForm read it; put the guard outside of what does, "+
	"or let that hand the body on, all of it in r.Body and its size in r.ContentLength (-1 if it is not known and no form was parsed)", idempotency.ErrBodyRead)

// readBody reads a request's body, and at most one byte beyond the limit: that is enough for the guard to refuse it. The
// error says why what was read is not the whole body.
func readBody(r *http.Request, limit int) ([]byte, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	most := int64(limit)
	if most < math.MaxInt64 {
		most++
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most))
	if errors.Is(err, http.ErrBodyReadAfterClose) || err == nil && readInFront(r, int64(len(body)), most) {
		err = errNotWhole
	}
	return body, err
}

// readInFront reports whether something in front of the guard has, or may have, taken from a body of which n bytes were
// left, of the most that were asked for. Of a body of unknown length it is known only where a form was parsed: what the
// parser left may be nothing, or what follows the form.
func readInFront(r *http.Request, n, most int64) bool {
	if r.ContentLength >= 0 {
		return n < min(r.ContentLength, most)
	}
	return r.MultipartForm != nil || r.PostForm != nil && isForm(r.Header)
}

// isForm reports whether r.ParseForm reads a body: that of another type it leaves alone, and sets r.PostForm all the same.
func isForm(h http.Header) bool {
	mediaType, _, _ := mime.ParseMediaType(h.Get("Content-Type")) // with bad parameters it is a form, too
	return mediaType == "application/x-www-form-urlencoded"
}

// again is the request for the handler: in the attempt's context, with its body unread. What broke the body breaks it for
// the handler too, where that runs unguarded: a second read could find a plain end. What something in front has taken is
// left as it is.
func again(ctx context.Context, r *http.Request, body []byte, broken error) *http.Request {
	rest := io.Reader(r.Body)
	if broken != nil && broken != errNotWhole {
		rest = failing{broken}
	}
	unread := r.WithContext(ctx)
	unread.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), rest), r.Body}
	return unread
}

// failing is a reader that has failed.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }
