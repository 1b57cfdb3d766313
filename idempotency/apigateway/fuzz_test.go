package apigateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"firstwriter/idempotency"
)

// allowed are the answers to one event by a handler that answers 200: its own, and the guard's for a request that nobody
// else has sent, by the beginning of their codes.
var allowed = map[int]string{
	http.StatusOK: "", http.StatusBadRequest: "key-", http.StatusForbidden: "caller-unknown",
	http.StatusRequestEntityTooLarge: "body-too-large", http.StatusInternalServerError: "handler-failed",
}

// fuzzEvents sends every event twice. However it looks, nothing panics, the handler runs at most once for a key, and each
// answer is one of the contract's. The seeds, in testdata/fuzz, are short forms of the sample events and malformed ones.
func fuzzEvents[E, R any](f *testing.F, adapt func(*idempotency.Guard, func(context.Context, E) (R, error)) func(context.Context, E) (R, error)) {
	f.Fuzz(func(t *testing.T, event []byte) {
		var e E
		if json.Unmarshal(event, &e) != nil {
			return // the runtime refuses it before any handler
		}
		runs, guarded := 0, true
		h := adapt(newGuard(t, nil), func(ctx context.Context, _ E) (r R, err error) {
			runs++
			guarded = idempotency.AttemptFrom(ctx) != nil
			return r, nil
		})
		for range 2 {
			r, err := h(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			status, body := overTheWire(t, r)
			if status == 0 && !guarded {
				continue // another method: the handler's empty answer as it is
			}
			code, ok := allowed[status]
			if !ok || !strings.HasPrefix(codeOf(body), code) || (runs > 0) != (status == http.StatusOK) {
				t.Errorf("%d %s, %d runs", status, body, runs)
			}
		}
		if guarded && runs > 1 {
			t.Errorf("%d runs", runs)
		}
	})
}

func FuzzHTTP(f *testing.F)        { fuzzEvents(f, HTTP) }
func FuzzFunctionURL(f *testing.F) { fuzzEvents(f, FunctionURL) }
func FuzzREST(f *testing.F)        { fuzzEvents(f, REST) }
func FuzzALB(f *testing.F)         { fuzzEvents(f, albOfNobody) }
