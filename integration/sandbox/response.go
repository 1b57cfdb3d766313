package sandbox

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// reply is an HTTP response, whole.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// gatewayReply is a response of the gateway itself.
func gatewayReply(status int, message string) reply {
	return reply{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: fmt.Appendf(nil, `{"message":%q}`, message)}
}

// functionReply is what the gateway makes of an outcome. A function that failed in any way is a 500 without a word
// about why.
func functionReply(out outcome) (reply, error) {
	switch out.failure {
	case noFailure:
	case throttled:
		return gatewayReply(http.StatusServiceUnavailable, "Service Unavailable"), nil
	default:
		return gatewayReply(http.StatusInternalServerError, "Internal Server Error"), nil
	}
	r, err := convertResponse(out.payload)
	if err != nil {
		return gatewayReply(http.StatusInternalServerError, "Internal Server Error"), err
	}
	return r, nil
}

// functionResponse is a response in payload format 2.0. multiValueHeaders belongs to format 1.0 and is ignored.
type functionResponse struct {
	statusCode json.RawMessage
	headers    map[string]json.RawMessage
	cookies    []string
	body       *string
	isBase64   bool
}

// convertResponse turns a function's response into an HTTP one; an error is a malformed response.
//
// A value that is not an object with a statusCode is taken for the body of a 200.
// Source: docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
func convertResponse(payload []byte) (reply, error) {
	if !json.Valid(payload) {
		return reply{}, errors.New("malformed response: not JSON")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(payload, &members); err != nil || members["statusCode"] == nil {
		return reply{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: payload}, nil
	}
	f := functionResponse{statusCode: members["statusCode"]}
	for name, to := range map[string]any{"headers": &f.headers, "cookies": &f.cookies, "body": &f.body, "isBase64Encoded": &f.isBase64} {
		if members[name] == nil {
			continue
		}
		if err := json.Unmarshal(members[name], to); err != nil {
			return reply{}, fmt.Errorf("malformed response: %s: %w", name, err)
		}
	}
	return f.reply()
}

func (f functionResponse) reply() (reply, error) {
	status, err := strconv.Atoi(string(f.statusCode))
	if err != nil || status < 200 || status > 599 {
		return reply{}, fmt.Errorf("malformed response: statusCode %.20s", f.statusCode)
	}
	out := reply{status: status, header: http.Header{}}
	for name, raw := range f.headers {
		value, err := headerValue(raw)
		if err != nil {
			return reply{}, fmt.Errorf("malformed response: header %s: %w", name, err)
		}
		if !managed[http.CanonicalHeaderKey(name)] {
			out.header.Set(name, value)
		}
	}
	for _, c := range f.cookies {
		out.header.Add("Set-Cookie", c)
	}
	if out.header.Get("Content-Type") == "" {
		out.header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	out.body, err = f.bytes()
	return out, err
}

func (f functionResponse) bytes() ([]byte, error) {
	if f.body == nil {
		return nil, nil
	}
	if !f.isBase64 {
		return []byte(*f.body), nil
	}
	body, err := base64.StdEncoding.DecodeString(*f.body)
	if err != nil {
		return nil, errors.New("malformed response: the body is not base64")
	}
	return body, nil
}

// managed are the headers that the gateway sets itself, whatever a function says.
var managed = map[string]bool{
	"Apigw-Requestid": true, "Connection": true, "Content-Length": true, "Date": true, "Keep-Alive": true,
	"Transfer-Encoding": true, "Upgrade": true,
}

// headerValue reads a string, number or boolean.
func headerValue(raw json.RawMessage) (string, error) {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	if bytes.ContainsAny(raw, "{[") || bytes.Equal(raw, []byte("null")) {
		return "", errors.New("not a string")
	}
	return string(raw), nil
}

// send writes the response. Errors of writing mean that the client has gone.
func (r reply) send(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range r.header {
		h[name] = values
	}
	if r.status != http.StatusNoContent && r.status != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(r.body)))
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}
