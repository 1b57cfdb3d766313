package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"firstwriter/idempotency"
)

// ErrOtherOrigin is the error of an operation that was redirected to another origin: neither it nor its key goes there.
// Send it to that URL as an operation of its own, if that is meant.
var ErrOtherOrigin = errors.New("the server redirects the operation to another origin, and the key does not go there")

type keyInContext struct{}

// WithKey gives the operations that are sent with the context their key: 1 to 255 characters of printable ASCII, without
// quotes. Use it to send again what an earlier program began; a key in a request's own header does the same. Without
// either, each operation gets a key of its own, a random UUID (RFC 9562, version 4).
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyInContext{}, key)
}

var errTwoKeys = errors.New("the request's header and its context give different keys")

// keyOf is the key of an operation: as given, or a new one. A redirect within the origin keeps it.
func keyOf(req *http.Request) (string, error) {
	header := req.Header
	if first := firstHop(req); first != req {
		if !sameOrigin(req, first) {
			return "", ErrOtherOrigin
		}
		header = first.Header // as it was sent, with the key
	}
	given, _ := req.Context().Value(keyInContext{}).(string)
	if _, ok := header[idempotency.KeyHeader]; ok {
		key, err := idempotency.ParseKey(header)
		if err == nil && given != "" && given != key {
			err = errTwoKeys
		}
		return key, err
	}
	if given != "" {
		return idempotency.ParseKey(http.Header{idempotency.KeyHeader: {quote(given)}})
	}
	id, err := uuid.NewRandom()
	return id.String(), err
}

// spell writes a key as it is sent.
func spell(key string, bare bool) (string, error) {
	if !bare {
		return quote(key), nil
	}
	if _, err := idempotency.ParseKey(http.Header{idempotency.KeyHeader: {key}}); err != nil {
		return "", fmt.Errorf("BareKeys: %w", err)
	}
	return key, nil
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quote writes a structured-field string (RFC 9651, section 3.3.3).
func quote(key string) string { return `"` + escapes.Replace(key) + `"` }
