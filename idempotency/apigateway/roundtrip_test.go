package apigateway

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"firstwriter/idempotency"
)

// TestRoundTrips: whatever the shape, the handler sees the event as it came, the first answer is what the handler said,
// and the second is the same without its cookies and with the replay header (F46, F48).
func TestRoundTrips(t *testing.T) {
	for _, c := range []struct {
		name string
		sent seen
	}{
		{"text", seen{201, http.Header{"Content-Type": {"application/json"}, "Location": {"/payments/1"}}, []byte(`{"id":1}`)}},
		{"UTF-8", seen{200, http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, []byte("größer ≥ 1\u2028")}},
		{"binary", seen{200, http.Header{"Content-Type": {"image/png"}}, binary}},
		{"not UTF-8", seen{200, http.Header{"Content-Type": {"text/plain; charset=latin1"}}, []byte("gr\xf6\xdfer")}},
		{"empty body", seen{200, http.Header{}, []byte{}}},
		{"no content", seen{204, http.Header{"X-Trace": {"1"}}, []byte{}}},
		{"no headers", seen{402, http.Header{}, []byte("declined")}},
		{"a cookie", seen{200, http.Header{"Set-Cookie": {"a=1; Path=/; HttpOnly"}}, []byte("x")}},
		{"cookies", seen{200, http.Header{"Set-Cookie": {"a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2", "c=3"}}, []byte("x")}},
		{"repeated fields", seen{200, http.Header{"Vary": {"Accept", "Origin"}, "Link": {"</a>; rel=a", "</b>; rel=b"}}, []byte("x")}},
	} {
		for _, e := range endpoints() {
			runs := 0
			send := e.serve(t, c.sent, &runs)
			want := c.sent
			if want.Header = want.Header.Clone(); !e.repeat {
				want.Header = inOneLine(want.Header)
			}
			first, second := send(), send()
			if diff := cmp.Diff(want, first, anyOrder); diff != "" {
				t.Errorf("%s: %s: first answer: %s", c.name, e.name, diff)
			}
			want.Header.Del("Set-Cookie")
			want.Header.Set("Idempotent-Replayed", "true")
			if diff := cmp.Diff(want, second, anyOrder); diff != "" {
				t.Errorf("%s: %s: second answer: %s", c.name, e.name, diff)
			}
			if runs != 1 {
				t.Errorf("%s: %s: %d runs", c.name, e.name, runs)
			}
		}
	}
}

// anyOrder: a client does not care for the order of cookies with different names.
var anyOrder = cmpopts.SortSlices(func(a, b string) bool { return a < b })

// TestOtherMethods: they go to the handler as they are, whoever asks, and its error stays one.
func TestOtherMethods(t *testing.T) {
	boom := errors.New("boom")
	g := newGuard(t, func(*idempotency.Request) string { t.Error("a scope is asked for"); return "" })
	sent := events.APIGatewayV2HTTPResponse{StatusCode: 204, Headers: map[string]string{"x-lower": "1"}}
	got, err := HTTP(g, func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		if idempotency.AttemptFrom(ctx) != nil {
			t.Error("an unguarded request has an attempt")
		}
		return sent, boom
	})(t.Context(), load[events.APIGatewayV2HTTPRequest](t, "http-v2-get.json"))
	if err != boom || !cmp.Equal(got, sent) {
		t.Errorf("HTTP API: %+v, %v", got, err)
	}
	asked := func(context.Context, events.ALBTargetGroupRequest) idempotency.Caller {
		t.Error("a health check is asked who it is")
		return idempotency.Caller{}
	}
	lb, err := ALB(g, asked, func(context.Context, events.ALBTargetGroupRequest) (events.ALBTargetGroupResponse, error) {
		return events.ALBTargetGroupResponse{StatusCode: 200, StatusDescription: "fine"}, boom
	})(t.Context(), events.ALBTargetGroupRequest{HTTPMethod: "GET", Path: "/health"})
	if err != boom || lb.StatusDescription != "fine" {
		t.Errorf("ALB: %+v, %v", lb, err)
	}
}

// TestHandlerErrors: a guarded handler's error is an answer.
func TestHandlerErrors(t *testing.T) {
	h := HTTP(newGuard(t, nil), func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		return events.APIGatewayV2HTTPResponse{StatusCode: 201}, errors.New("boom")
	})
	r, err := h(t.Context(), load[events.APIGatewayV2HTTPRequest](t, "http-v2-post.json"))
	if err != nil || r.StatusCode != http.StatusInternalServerError || codeOf(r.Body) != "handler-failed" {
		t.Errorf("%d %s, %v", r.StatusCode, r.Body, err)
	}
}
