package idempotency

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// ReplayHeader is set to "true" on every replayed response, and on no other.
const ReplayHeader = "Idempotent-Replayed"

// notRecorded are the headers that belong to one exchange, one session or one origin, not to the operation: hop-by-hop
// fields (RFC 9110, section 7.6.1), and what the server or the gateway writes anew each time.
var notRecorded = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Content-Length", "Date", "Server", "Set-Cookie", ReplayHeader,
}

var notRecordedPrefixes = []string{"Access-Control-", "X-Amzn-", "X-Amz-Apigw-", "Apigw-"}

// sendable returns the headers with canonical names, without the replay header, which is the guard's to set, and without
// the values that hold CR or LF, and how many of those it dropped: such a value could start a header of its own. Headers
// that need no change are returned as they are; others are copied. A header without values stays one: it says that what
// others have set under its name does not go out.
func sendable(h http.Header) (clean http.Header, dropped int) {
	if isSendable(h) {
		return h, 0
	}
	clean = make(http.Header, len(h))
	for name, values := range h {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if name == ReplayHeader {
			continue
		}
		kept := clean[name]
		for _, v := range values {
			if splits(name) || splits(v) {
				dropped++
				continue
			}
			kept = append(kept, v)
		}
		if len(kept) > 0 || len(values) == 0 && !splits(name) {
			clean[name] = kept
		}
	}
	return clean, dropped
}

func isSendable(h http.Header) bool {
	for name, values := range h {
		if name == ReplayHeader || name != textproto.CanonicalMIMEHeaderKey(name) || splits(name) || slices.ContainsFunc(values, splits) {
			return false
		}
	}
	return h != nil
}

// splits reports whether a text would end its line.
func splits(s string) bool { return strings.ContainsAny(s, "\r\n") }

// recordable returns the headers that are kept for replays.
func recordable(h http.Header) http.Header {
	dropped := 0
	for name := range h {
		if !isRecordable(h, name) {
			dropped++
		}
	}
	if dropped == 0 {
		return h
	}
	kept := make(http.Header, len(h)-dropped)
	for name, values := range h {
		if isRecordable(h, name) {
			kept[name] = values
		}
	}
	return kept
}

func isRecordable(h http.Header, name string) bool {
	return !slices.Contains(notRecorded, name) && !hasPrefix(name, notRecordedPrefixes) && !namedBy(h["Connection"], name)
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// namedBy reports whether a Connection header names a field as hop-by-hop.
func namedBy(connection []string, name string) bool {
	for _, value := range connection {
		for token := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(token), name) {
				return true
			}
		}
	}
	return false
}
