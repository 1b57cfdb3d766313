package idempotency

import (
	"errors"
	"net/http"
	"strings"

	"github.com/dunglas/httpsfv"
)

// KeyHeader is the header that carries the key, from draft-ietf-httpapi-idempotency-key-header-07.
const KeyHeader = "Idempotency-Key"

const maxKey = 255 // characters, the quotes of the quoted form not counted

var errKeyMissing = errors.New("the " + KeyHeader + " header is missing")

// Reasons for a malformed key. They go into the answer and so never carry the key itself.
var (
	errKeyTwice      = errors.New("more than one key was sent; send one " + KeyHeader + " header with one value")
	errKeyLength     = errors.New("a key has 1 to 255 characters")
	errKeyQuoted     = errors.New(`a quoted key is a structured-field string (RFC 9651): printable ASCII between double quotes, " and \ escaped`)
	errKeyBehind     = errors.New("text follows the closing quote of a quoted key; nothing but parameters (;name=value) may")
	errKeyParameters = errors.New("what follows a quoted key is no structured-field parameter (RFC 9651): ;name=value, the name in lower case; leave it out (a comma in it also comes from sending two keys)")
	errKeyStrict     = errors.New("this endpoint takes keys between double quotes only")
	errKeyFormat     = errors.New("the key does not have the format that this endpoint asks for")
	errKeyBare       = errors.New("a key without quotes is printable ASCII without space, comma, semicolon, quote or backslash; quote it to use these (a comma also comes from sending two keys)")
)

// ParseKey reads the idempotency key of a request: a structured-field string (RFC 9651, section 3.3.3), or the same
// characters bare, as most clients send it. Both spellings are one key. Parameters after a quoted key are ignored.
func ParseKey(h http.Header) (string, error) {
	values := h.Values(KeyHeader)
	switch {
	case len(values) == 0:
		return "", errKeyMissing
	case len(values) > 1:
		return "", errKeyTwice
	}
	value := strings.Trim(values[0], " \t")
	key, err := value, error(nil)
	if strings.HasPrefix(value, `"`) {
		key, err = parseQuoted(value)
	} else if strings.IndexFunc(value, notBare) >= 0 {
		err = errKeyBare
	}
	switch {
	case err != nil:
		return "", err
	case len(key) == 0 || len(key) > maxKey:
		return "", errKeyLength
	}
	return key, nil
}

// parseKey reads a key as the endpoint wants it.
func (g *Guard) parseKey(h http.Header) (string, error) {
	key, err := ParseKey(h)
	switch {
	case err != nil:
		return "", err
	case g.cfg.QuotedKeys && !strings.HasPrefix(strings.TrimLeft(h.Get(KeyHeader), " \t"), `"`):
		return "", errKeyStrict
	case g.cfg.KeyFormat != nil && !g.cfg.KeyFormat(key):
		return "", errKeyFormat
	}
	return key, nil
}

// parseQuoted reads a key between quotes.
func parseQuoted(value string) (string, error) {
	item, err := httpsfv.UnmarshalItem([]string{value})
	if key, ok := item.Value.(string); ok && err == nil {
		return key, nil
	}
	quoted, behind := cutQuoted(value)
	_, err = httpsfv.UnmarshalItem([]string{quoted})
	behind = strings.TrimLeft(behind, " \t")
	switch {
	case err != nil:
		return "", errKeyQuoted
	case strings.HasPrefix(behind, ","):
		return "", errKeyTwice
	case strings.HasPrefix(behind, ";"):
		return "", errKeyParameters
	}
	return "", errKeyBehind
}

// cutQuoted cuts a text behind its closing quote, if it has one.
func cutQuoted(value string) (quoted, behind string) {
	for i := 1; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case '"':
			return value[:i+1], value[i+1:]
		}
	}
	return value, ""
}

// notBare reports whether a character needs the quoted form, or is not allowed in keys at all.
func notBare(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`,;"\`, r)
}
