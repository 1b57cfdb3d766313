package idempotency_test

import (
	"context"
	"fmt"
	"net/http"

	"firstwriter/idempotency"
)

// A client that makes a new timestamp for each retry is still understood. Another amount is another request.
func ExampleSelection() {
	guard, err := idempotency.New(idempotency.Config{
		Store:       &idempotency.Memory{},
		Scope:       idempotency.SharedScope,
		Fingerprint: idempotency.Selection{Version: 1, Exclude: []string{"/requestedAt", "/lines/*/traceId"}},
	})
	if err != nil {
		panic(err)
	}
	for _, body := range []string{
		`{"lines":[{"amount":1299,"traceId":"a"}],"requestedAt":"20:15:00"}`,
		`{"requestedAt":"20:15:09","lines":[{"traceId":"b","amount":1299.0}]}`,
		`{"requestedAt":"20:15:09","lines":[{"traceId":"b","amount":1300}]}`,
	} {
		response := guard.Serve(context.Background(), &idempotency.Request{
			Method: "POST", Path: "/orders", Body: []byte(body),
			Header: http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {"order-42"}},
		}, func(context.Context) (*idempotency.Response, error) {
			return &idempotency.Response{Status: http.StatusCreated}, nil
		})
		fmt.Println(response.Status, response.Header.Get("Idempotent-Replayed"))
	}
	// Output:
	// 201
	// 201 true
	// 422
}
