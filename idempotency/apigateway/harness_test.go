package apigateway

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// sampleText is a sample event as it is.
func sampleText(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../events/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// load reads a sample event.
func load[E any](t testing.TB, name string) (e E) {
	t.Helper()
	if err := json.Unmarshal([]byte(sampleText(t, name)), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// newGuard makes a guard on a memory store; its scope is one for all callers if by is nil.
func newGuard(t testing.TB, by idempotency.CallerFunc) *idempotency.Guard {
	t.Helper()
	if by == nil {
		by = idempotency.SharedScope
	}
	g, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: by})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// codeOf is the code of a problem document.
func codeOf(body string) string {
	var doc struct{ Code string }
	_ = json.Unmarshal([]byte(body), &doc) // another body has no code
	return doc.Code
}

// oidc is what an ALBCaller makes of a verified x-amzn-oidc-data.
func oidc(context.Context, events.ALBTargetGroupRequest) idempotency.Caller {
	return idempotency.Caller{Claims: map[string]string{"tenant_id": "acme", "sub": "alice"}}
}

// nobody is an ALBCaller that could verify nothing.
func nobody(context.Context, events.ALBTargetGroupRequest) idempotency.Caller {
	return idempotency.Caller{}
}

// shape sends an event as JSON to a guarded handler that answers with the zero response.
type shape func(t *testing.T, g *idempotency.Guard, event string) (status int, body string, runs int)

func shapeOf[E, R any](adapt func(*idempotency.Guard, func(context.Context, E) (R, error)) func(context.Context, E) (R, error)) shape {
	return func(t *testing.T, g *idempotency.Guard, event string) (status int, body string, runs int) {
		t.Helper()
		var e E
		if err := json.Unmarshal([]byte(event), &e); err != nil {
			t.Fatal(err)
		}
		r, err := adapt(g, func(context.Context, E) (r R, err error) { runs++; return r, nil })(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		status, body = overTheWire(t, r)
		return status, body, runs
	}
}

// overTheWire is the status and body of a response event as the gateway gets it.
func overTheWire(t *testing.T, answer any) (status int, body string) {
	t.Helper()
	wire, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		StatusCode int
		Body       string
	}
	if err := json.Unmarshal(wire, &r); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Body
}

func albOfNobody(g *idempotency.Guard, h ALBHandler) ALBHandler { return ALB(g, nobody, h) }

var shapes = map[string]shape{
	"HTTP": shapeOf(HTTP), "FunctionURL": shapeOf(FunctionURL), "REST": shapeOf(REST), "ALB": shapeOf(albOfNobody),
}
