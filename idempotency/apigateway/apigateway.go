// Package apigateway guards AWS Lambda handlers behind Amazon API Gateway. It only translates: events into the neutral
// request that the guard knows, and responses back. Handlers stay as they are:
//
//	lambda.Start(apigateway.HTTP(guard, createPayment))
//
// Requests with a method that the guard does not guard go to the handler untouched, and so do their responses.
package apigateway

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"unicode/utf8"
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

// encodeBody is the body of a response event: text as it is, all else in base64.
func encodeBody(b []byte) (s string, isBase64 bool) {
	if utf8.Valid(b) {
		return string(b), false
	}
	return base64.StdEncoding.EncodeToString(b), true
}

// header collects the headers of an event, in which a field stands once, as a list, or as both (the list says more).
func header(single map[string]string, multi map[string][]string) http.Header {
	h := make(http.Header, len(single)+len(multi))
	for name, value := range single {
		h.Set(name, value)
	}
	for name, values := range multi {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// orOK is the status of a response event that names none.
func orOK(status int) int {
	if status == 0 {
		return http.StatusOK
	}
	return status
}

// text is an authorizer's value as a string; lists and objects, which name nobody, become "".
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
