package sandbox

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// httpEvent is an event of an HTTP API, payload format 2.0. What is absent is left out, as the gateway does.
//
// Source: docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
type httpEvent struct {
	Version               string            `json:"version"`
	RouteKey              string            `json:"routeKey"`
	RawPath               string            `json:"rawPath"`
	RawQueryString        string            `json:"rawQueryString"`
	Cookies               []string          `json:"cookies,omitempty"`
	Headers               map[string]string `json:"headers"`
	QueryStringParameters map[string]string `json:"queryStringParameters,omitempty"`
	RequestContext        requestContext    `json:"requestContext"`
	PathParameters        map[string]string `json:"pathParameters,omitempty"`
	Body                  string            `json:"body,omitempty"`
	IsBase64Encoded       bool              `json:"isBase64Encoded"`
}

type requestContext struct {
	AccountID    string      `json:"accountId"`
	APIID        string      `json:"apiId"`
	Authorizer   *authorizer `json:"authorizer,omitempty"`
	DomainName   string      `json:"domainName"`
	DomainPrefix string      `json:"domainPrefix"`
	HTTP         httpContext `json:"http"`
	RequestID    string      `json:"requestId"`
	RouteKey     string      `json:"routeKey"`
	Stage        string      `json:"stage"`
	Time         string      `json:"time"`
	TimeEpoch    int64       `json:"timeEpoch"` // Unix ms
}

type httpContext struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

// authorizer is what a JWT authorizer adds to an event.
type authorizer struct {
	JWT jwtContext `json:"jwt"`
}

type jwtContext struct {
	Claims map[string]string `json:"claims"`
	Scopes []string          `json:"scopes"` // null unless the route asks for scopes
}

// arrival is a request with what the gateway has found out about it.
type arrival struct {
	request    *http.Request
	body       []byte
	match      match
	authorizer *authorizer
	requestID  string
	traceID    string
	now        time.Time
}

// encode makes the event as JSON.
func (a arrival) encode() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.event()); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func (a arrival) event() httpEvent {
	r := a.request
	e := httpEvent{
		Version:               "2.0",
		RouteKey:              a.match.route.key,
		RawPath:               r.URL.Path, // percent-decoded, unlike rawQueryString
		RawQueryString:        r.URL.RawQuery,
		Cookies:               cookies(r.Header["Cookie"]),
		Headers:               a.headers(),
		QueryStringParameters: joinedQuery(r.URL.RawQuery),
		PathParameters:        a.match.params,
		RequestContext:        a.context(),
	}
	e.Body, e.IsBase64Encoded = encodeBody(r.Header.Get("Content-Type"), a.body)
	return e
}

func (a arrival) context() requestContext {
	r := a.request
	domain, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		domain = r.Host
	}
	prefix, _, _ := strings.Cut(domain, ".")
	return requestContext{
		AccountID:    localAccount,
		APIID:        localStack,
		Authorizer:   a.authorizer,
		DomainName:   domain,
		DomainPrefix: prefix,
		HTTP: httpContext{
			Method:    r.Method,
			Path:      r.URL.Path,
			Protocol:  r.Proto,
			SourceIP:  sourceIP(r),
			UserAgent: r.UserAgent(),
		},
		RequestID: a.requestID,
		RouteKey:  a.match.route.key,
		Stage:     "$default",
		Time:      a.now.UTC().Format("02/Jan/2006:15:04:05 -0700"),
		TimeEpoch: a.now.UnixMilli(),
	}
}

func sourceIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// notForwarded are headers that concern one connection, and the one that events carry apart.
var notForwarded = map[string]bool{
	"Connection": true, "Cookie": true, "Keep-Alive": true, "Proxy-Connection": true, "Te": true, "Trailer": true,
	"Transfer-Encoding": true, "Upgrade": true,
}

// headers are in lower case, repeated ones joined by commas, with those that the gateway adds.
func (a arrival) headers() map[string]string {
	r := a.request
	out := make(map[string]string, len(r.Header)+6)
	for name, values := range r.Header {
		if !notForwarded[name] {
			out[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	out["host"] = r.Host
	if len(a.body) > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		out["content-length"] = strconv.Itoa(len(a.body))
	}
	forwarded := sourceIP(r)
	if before := out["x-forwarded-for"]; before != "" {
		forwarded = before + ", " + forwarded
	}
	out["x-forwarded-for"] = forwarded
	out["x-forwarded-proto"] = "http"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		out["x-forwarded-port"] = port
	}
	out["x-amzn-trace-id"] = a.traceID
	return out
}

// cookies takes Cookie headers apart.
func cookies(headers []string) []string {
	var out []string
	for _, h := range headers {
		for c := range strings.SplitSeq(h, ";") {
			if c = strings.TrimSpace(c); c != "" {
				out = append(out, c)
			}
		}
	}
	return out
}

// joinedQuery decodes a query; values of a repeated name are joined by commas. A pair that cannot be decoded is left
// out.
func joinedQuery(raw string) map[string]string {
	if raw == "" {
		return nil
	}
	values, _ := url.ParseQuery(raw) // what could be read, if not all
	out := make(map[string]string, len(values))
	for name, vs := range values {
		out[name] = strings.Join(vs, ",")
	}
	return out
}

// textTypes are the media types whose bodies an HTTP API passes on as text. All others, and bodies without a content
// type, come in base64; among them application/…+json.
var textTypes = map[string]bool{
	"application/javascript": true, "application/json": true, "application/xml": true,
	"text/csv": true, "text/html": true, "text/plain": true, "text/xml": true,
}

func encodeBody(contentType string, body []byte) (text string, isBase64 bool) {
	if len(body) == 0 {
		return "", false
	}
	if isText(contentType) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

func isText(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || !textTypes[media] {
		return false
	}
	charset := strings.ToLower(params["charset"])
	return strings.HasPrefix(media, "text/") || charset == "" || charset == "utf-8"
}
