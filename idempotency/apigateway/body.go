package apigateway

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// How many bytes of JSON a response event may have.
const (
	maxAnswer    = 6 << 20  // of Lambda; docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
	maxALBAnswer = 1 << 20  // of a load balancer; docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
	besides      = 64 << 10 // of these for all but the body: gateways take headers of 10 KB in all
)

// body decodes an event's body. What is marked as base64 and is not stays as it is: the request can still be told
// apart from others, and the handler sees the same event.
func body(s string, isBase64 bool) []byte {
	if isBase64 {
		if b, err := base64.StdEncoding.DecodeString(s); err == nil {
			return b
		}
	}
	return []byte(s)
}

// encodeBody is the body of a response event of at most so many bytes: text as it is, all else in base64. Text whose
// escapes make it too large goes out in base64, too, where that is shorter: the handler can only have sent it so.
func encodeBody(b []byte, most int) (s string, isBase64 bool) {
	if utf8.Valid(b) && (fits(b, most-besides) || textSize(b) <= base64.StdEncoding.EncodedLen(len(b))) {
		return string(b), false
	}
	return base64.StdEncoding.EncodeToString(b), true
}

// fits reports whether a text has at most so many bytes in JSON. An escape has up to six bytes for one.
func fits(text []byte, most int) bool { return len(text) <= most/6 || textSize(text) <= most }

// textSize is how many bytes a text has in JSON, without its quotes, as aws-lambda-go writes it by default.
func textSize(text []byte) int {
	n := len(text)
	for _, c := range text {
		switch {
		case c == '"', c == '\\', '\b' <= c && c <= '\r' && c != '\v':
			n += len(`\n`) - 1
		case c < ' ':
			n += len(`\u0000`) - 1
		}
	}
	for _, separator := range []string{"\u2028", "\u2029"} {
		n += bytes.Count(text, []byte(separator)) * (len(`\u2028`) - len(separator))
	}
	return n
}
