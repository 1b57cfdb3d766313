package apigateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"firstwriter/idempotency"
)

// seen is a response as the client gets it.
type seen struct {
	Status int
	Header http.Header // every value on its own
	Body   []byte
}

// endpoint is a guarded handler of one shape that answers every event with the same response.
type endpoint struct {
	name   string
	repeat bool // can a response field other than Set-Cookie stand more than once?
	// serve makes the endpoint; each call of the function it returns sends the sample event again.
	serve func(t *testing.T, sent seen, runs *int) func() seen
}

// drive makes an endpoint from an adapter, and from what a handler of the shape would return (write) and what the
// gateway would make of the answer (read). These two are written after the services' documentation, not after the
// codecs.
func drive[E, R any](name, sample string, repeat bool, adapt func(*idempotency.Guard, func(context.Context, E) (R, error)) func(context.Context, E) (R, error),
	write func(seen) R, read func(*testing.T, R) seen) endpoint {
	return endpoint{name, repeat, func(t *testing.T, sent seen, runs *int) func() seen {
		e := load[E](t, sample)
		h := adapt(newGuard(t, nil), func(ctx context.Context, got E) (R, error) {
			*runs++
			if diff := cmp.Diff(e, got); diff != "" || idempotency.AttemptFrom(ctx) == nil {
				t.Errorf("%s: the handler sees another event, or no attempt: %s", name, diff)
			}
			return write(sent), nil
		})
		return func() seen {
			r, err := h(t.Context(), e)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			wire, err := json.Marshal(r)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(wire) > takes(name) {
				t.Errorf("%s: an answer of %d bytes, the service takes %d", name, len(wire), takes(name))
			}
			var arrived R
			if err := json.Unmarshal(wire, &arrived); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return read(t, arrived)
		}
	}}
}

// takes is how many bytes of a response event the service takes.
func takes(name string) int {
	if strings.HasPrefix(name, "ALB") {
		return 1 << 20
	}
	return 6 << 20
}

// endpoints are one for each form of events.
func endpoints() []endpoint {
	return []endpoint{
		drive("HTTP API", "http-v2-post.json", false, HTTP, writeHTTP, readHTTP),
		drive("HTTP API, base64", "http-v2-post-base64.json", false, HTTP, writeHTTP, readHTTP),
		drive("HTTP API, IAM", "http-iam-cognito-post.json", false, HTTP, writeHTTP, readHTTP),
		drive("HTTP API, Lambda authorizer", "http-lambda-post.json", false, HTTP, writeHTTP, readHTTP),
		drive("function URL", "function-url-post.json", false, FunctionURL, writeURL, readURL),
		drive("function URL, base64", "function-url-anonymous-post.json", false, FunctionURL, writeURL, readURL),
		drive("REST API", "rest-v1-post.json", true, REST, writeREST, readREST),
		drive("REST API, base64", "rest-base64-post.json", true, REST, writeREST, readREST),
		drive("REST API, Lambda authorizer", "rest-lambda-post.json", true, REST, writeREST, readREST),
		drive("REST API, IAM", "rest-iam-post.json", true, REST, writeREST, readREST),
		drive("REST API, API key", "rest-api-key-post.json", true, REST, writeREST, readREST),
		drive("ALB", "alb-post.json", false, albOfNobody, writeALB, readALB),
		drive("ALB, base64", "alb-oidc-post.json", false, albOfNobody, writeALB, readALB),
		drive("ALB, lists", "alb-post-multi-value.json", true, albOfNobody, writeALB, readALBLists),
	}
}

// decoded is the body of a response event.
func decoded(t *testing.T, body string, isBase64 bool) []byte {
	t.Helper()
	if !isBase64 {
		return []byte(body)
	}
	b, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		t.Fatalf("a body that is no base64: %v", err)
	}
	return b
}

// collect reads headers of which each name stands for one value.
func collect(single map[string]string) http.Header {
	h := http.Header{}
	for name, v := range single {
		h.Add(name, v)
	}
	return h
}

// inOneLine writes each field but Set-Cookie once: what is left where a shape has one value for a field.
func inOneLine(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		if out[name] = values; name != "Set-Cookie" {
			out[name] = []string{strings.Join(values, ", ")}
		}
	}
	return out
}

// single is what a handler of a shape without lists returns, its cookies apart.
func single(h http.Header) map[string]string {
	m := map[string]string{}
	for name, values := range inOneLine(h) {
		if name != "Set-Cookie" {
			m[strings.ToLower(name)] = values[0]
		}
	}
	return m
}

func writeHTTP(s seen) events.APIGatewayV2HTTPResponse {
	return events.APIGatewayV2HTTPResponse{StatusCode: s.Status, Headers: single(s.Header), Cookies: s.Header["Set-Cookie"],
		Body: base64.StdEncoding.EncodeToString(s.Body), IsBase64Encoded: true}
}

func readHTTP(t *testing.T, r events.APIGatewayV2HTTPResponse) seen {
	h := collect(r.Headers)
	for _, c := range r.Cookies {
		h.Add("Set-Cookie", c)
	}
	return seen{r.StatusCode, h, decoded(t, r.Body, r.IsBase64Encoded)}
}

func writeURL(s seen) events.LambdaFunctionURLResponse {
	return events.LambdaFunctionURLResponse{StatusCode: s.Status, Headers: single(s.Header), Cookies: s.Header["Set-Cookie"],
		Body: base64.StdEncoding.EncodeToString(s.Body), IsBase64Encoded: true}
}

func readURL(t *testing.T, r events.LambdaFunctionURLResponse) seen {
	return readHTTP(t, events.APIGatewayV2HTTPResponse{StatusCode: r.StatusCode, Headers: r.Headers, Cookies: r.Cookies,
		Body: r.Body, IsBase64Encoded: r.IsBase64Encoded})
}

func writeREST(s seen) events.APIGatewayProxyResponse {
	return events.APIGatewayProxyResponse{StatusCode: s.Status, MultiValueHeaders: s.Header,
		Body: base64.StdEncoding.EncodeToString(s.Body), IsBase64Encoded: true}
}

func readREST(t *testing.T, r events.APIGatewayProxyResponse) seen {
	h := collect(r.Headers)
	for name, values := range r.MultiValueHeaders {
		h[name] = append(h[name], values...)
	}
	return seen{r.StatusCode, h, decoded(t, r.Body, r.IsBase64Encoded)}
}

func writeALB(s seen) events.ALBTargetGroupResponse {
	return events.ALBTargetGroupResponse{StatusCode: s.Status, MultiValueHeaders: s.Header,
		Body: base64.StdEncoding.EncodeToString(s.Body), IsBase64Encoded: true}
}

func readALB(t *testing.T, r events.ALBTargetGroupResponse) seen {
	if r.MultiValueHeaders != nil {
		t.Errorf("an answer to an event without lists has lists: %v", r.MultiValueHeaders)
	}
	return seenALB(t, r, collect(r.Headers))
}

func readALBLists(t *testing.T, r events.ALBTargetGroupResponse) seen {
	if r.Headers != nil || r.MultiValueHeaders == nil {
		t.Errorf("an answer to an event with lists has %v, and the lists %v", r.Headers, r.MultiValueHeaders)
	}
	return seenALB(t, r, r.MultiValueHeaders)
}

func seenALB(t *testing.T, r events.ALBTargetGroupResponse, h http.Header) seen {
	if want := strconv.Itoa(r.StatusCode) + " " + http.StatusText(r.StatusCode); r.StatusDescription != want {
		t.Errorf("status description %q, want %q", r.StatusDescription, want)
	}
	return seen{r.StatusCode, h, decoded(t, r.Body, r.IsBase64Encoded)}
}
