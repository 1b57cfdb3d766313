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
// quotes. An operation that is given an empty one is not sent. Use it to send again what an earlier program began; a key in
// a request's own header does the same. Without either, each operation gets a key of its own, a random UUID (RFC 9562,
// version 4).
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyInContext{}, key)
}

var (
	errTwoKeys  = errors.New("the request's header and its context give different keys")
	errAltered  = errors.New("without quotes around it, the key would be read as another one; leave out spaces and quotes")
	errEmptyKey = errors.New("WithKey was given an empty key; leave it out for a new one")
)

// operationKey is a key in both spellings.
type operationKey struct{ bare, quoted string }

// keyOf is the key of an operation: as given, or a new one. A redirect within the origin keeps it.
func keyOf(req *http.Request) (operationKey, error) {
	header := req.Header
	if first := firstHop(req); first != req {
		if !sameOrigin(req, first) {
			return operationKey{}, ErrOtherOrigin
		}
		header = first.Header // as it was sent, with the key
	}
	given, inContext := req.Context().Value(keyInContext{}).(string)
	_, inHeader := header[idempotency.KeyHeader]
	switch {
	case inContext && given == "":
		return operationKey{}, errEmptyKey
	case !inHeader && !inContext:
		return mint()
	case !inHeader:
		header = http.Header{idempotency.KeyHeader: {quote(given)}}
	}
	key, err := idempotency.ParseKey(header)
	if err == nil && inContext && given != key {
		err = errTwoKeys
	}
	return operationKey{key, quote(key)}, err
}

// mint makes a new key. A UUID needs no escapes, and so both spellings share their memory.
func mint() (operationKey, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return operationKey{}, err
	}
	text, err := id.MarshalText()
	quoted := `"` + string(text) + `"`
	return operationKey{quoted[1 : len(quoted)-1], quoted}, err
}

// spelled is the key as it is sent.
func (k operationKey) spelled(bare bool) (string, error) {
	if !bare {
		return k.quoted, nil
	}
	read, err := idempotency.ParseKey(http.Header{idempotency.KeyHeader: {k.bare}})
	if err == nil && read != k.bare {
		err = errAltered
	}
	if err != nil {
		return "", fmt.Errorf("BareKeys: %w", err)
	}
	return k.bare, nil
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quote writes a structured-field string (RFC 9651, section 3.3.3).
func quote(key string) string { return `"` + escapes.Replace(key) + `"` }
