package apigateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// TestAnswersFit: a body that the service takes of the handler, in base64, it takes of the guard too, first and replayed,
// though it is text by its bytes: see drive (F31, F46).
func TestAnswersFit(t *testing.T) {
	for _, e := range endpoints() {
		if strings.Contains(e.name, ", ") && e.name != "ALB, lists" {
			continue // one of a shape is enough
		}
		sent := seen{200, http.Header{"Content-Type": {"application/octet-stream"}}, make([]byte, takes(e.name)/5)}
		runs := 0
		send := e.serve(t, sent, &runs)
		if first, replay := send(), send(); !bytes.Equal(first.Body, sent.Body) || !bytes.Equal(replay.Body, sent.Body) || runs != 1 {
			t.Errorf("%s: another body, or %d runs", e.name, runs)
		}
	}
}

// TestTextStaysText: a body that goes out as text without the guard does so with it: a REST API without BinaryMediaTypes
// would hand base64 on.
func TestTextStaysText(t *testing.T) {
	for _, c := range []struct {
		name string
		body string
		want bool // in base64
	}{
		{"empty", "", false},
		{"JSON that is all quotes", `{"":"","a":""}`, false},
		{"JSON in JSON in JSON", strings.Repeat(`\\\"`, 100<<10), false},
		{"HTML", strings.Repeat("<>&", 1<<20), false},
		{"ASCII that fits", strings.Repeat("x", 6<<20-besides), false},
		{"ASCII that fits in no way", strings.Repeat("x", 7<<20), false},
		{"escapes that just fit", strings.Repeat("\x00", (6<<20-besides)/6), false},
		{"escapes that just do not", strings.Repeat("\x00", (6<<20-besides)/6+1), true},
		{"no UTF-8", "\xff", true},
	} {
		if s, is64 := encodeBody([]byte(c.body), maxAnswer); is64 != c.want || !is64 && s != c.body {
			t.Errorf("%s: in base64 %t, want %t", c.name, is64, c.want)
		}
	}
}

// FuzzTextSize holds the size that is counted against what the encoder of Lambda's runtime writes.
func FuzzTextSize(f *testing.F) {
	for _, s := range []string{"", "abc", "\"\\/", "\x00\x1f\x7f\b\f\n\r\t", "<>&", "\u2027\u2028\u2029\u202a", "größer", "\xe2\x80"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text := strings.ToValidUTF8(string(b), "?")
		var wire bytes.Buffer
		e := json.NewEncoder(&wire)
		e.SetEscapeHTML(false) // as aws-lambda-go does by default
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		if got, want := textSize([]byte(text)), wire.Len()-len("\"\"\n"); got != want {
			t.Errorf("%q has %d bytes, counted %d", text, want, got)
		}
	})
}

// TestOtherAdapters: a header without values, as another adapter records it, does not go out with an empty one.
func TestOtherAdapters(t *testing.T) {
	r := &idempotency.Response{Status: 200, Header: http.Header{"X-Deleted": nil, "X-Emptied": {}, "X-Empty": {""}, "X-Kept": {"1"}}}
	for name, h := range map[string]any{"HTTP": toFormat2Response(r), "REST": restCodec.answer(events.APIGatewayProxyRequest{}, r),
		"ALB": albCodec.answer(events.ALBTargetGroupRequest{}, r), "ALB lists": albCodec.answer(events.ALBTargetGroupRequest{MultiValueHeaders: map[string][]string{}}, r)} {
		wire, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(wire), "X-Deleted") || strings.Contains(string(wire), "X-Emptied") || !strings.Contains(string(wire), "X-Empty") || !strings.Contains(string(wire), "X-Kept") {
			t.Errorf("%s: %s", name, wire)
		}
	}
}
