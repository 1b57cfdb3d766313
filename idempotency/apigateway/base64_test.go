package apigateway

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// TestBase64IsNoDifference: a gateway may send a retry's body in base64 where it sent the first one as text. The bytes
// are compared: F54.
func TestBase64IsNoDifference(t *testing.T) {
	event := load[events.APIGatewayV2HTTPRequest](t, "http-v2-post.json")
	runs := 0
	h := HTTP(newGuard(t, idempotency.JWTClaim("tenant_id")), func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		runs++
		return events.APIGatewayV2HTTPResponse{StatusCode: 201}, nil
	})
	for _, want := range []string{"", "true"} {
		r, err := h(t.Context(), event)
		if err != nil || r.StatusCode != 201 || r.Headers["Idempotent-Replayed"] != want {
			t.Errorf("%d %v %v, want replayed %q", r.StatusCode, r.Headers, err, want)
		}
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(event.Body)), true
	}
	if runs != 1 {
		t.Errorf("%d runs", runs)
	}
}
