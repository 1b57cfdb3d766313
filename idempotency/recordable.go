package idempotency

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// CheckRecordable says what is wrong with a response that a person wants recorded: everything at once, nil where it can be
// recorded whole. It has a final status (200 to 599), a body only where its status allows one (RFC 9110, section 15), and
// headers that HTTP can carry (RFC 9110, section 5) and that belong to the operation: a handler's Set-Cookie is left out of
// its record in silence, a person's is refused.
func CheckRecordable(r *Response) error {
	var wrong []error
	if r.Status < 200 || r.Status > 599 {
		wrong = append(wrong, fmt.Errorf("idempotency: a recorded response needs a final status, 200 to 599, not %d", r.Status))
	}
	if len(r.Body) > 0 && (r.Status == http.StatusNoContent || r.Status == http.StatusNotModified) {
		wrong = append(wrong, fmt.Errorf("idempotency: a response with status %d has no body", r.Status))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		wrong = append(wrong, checkHeader(name, r.Header[name]))
	}
	return errors.Join(wrong...)
}

func checkHeader(name string, values []string) error {
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	switch {
	case name == "" || strings.ContainsFunc(name, notToken):
		return fmt.Errorf("idempotency: %q is no header's name", name)
	case slices.ContainsFunc(values, notFieldValue):
		return fmt.Errorf("idempotency: header %s: HTTP cannot carry its value: it has control characters, or spaces around it", canonical)
	case !isRecordable(nil, canonical):
		return fmt.Errorf("idempotency: header %s is never recorded: it belongs to one exchange, not to the operation; leave it out", canonical)
	}
	return nil
}

// notFieldValue reports whether a text cannot be a header's value: RFC 9110, section 5.5.
func notFieldValue(s string) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return strings.ContainsFunc(s, control) || strings.Trim(s, " \t") != s
}
