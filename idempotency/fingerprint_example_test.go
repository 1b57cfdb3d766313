package idempotency_test

import (
	"context"
	"fmt"

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
		fmt.Println(err)
		return
	}
	create := func(context.Context) (*idempotency.Response, error) {
		return &idempotency.Response{Status: 201, Body: []byte(`{"id":"ord_1"}`)}, nil
	}
	show(guard.Serve(context.Background(), request("k1", `{"lines":[{"amount":1299,"traceId":"a"}],"requestedAt":"20:15:00"}`), create))
	show(guard.Serve(context.Background(), request("k1", `{"requestedAt":"20:15:09","lines":[{"traceId":"b","amount":1299.0}]}`), create))
	other := guard.Serve(context.Background(), request("k1", `{"requestedAt":"20:15:09","lines":[{"traceId":"b","amount":1300}]}`), create)
	fmt.Println(other.Status)
	// Output:
	// 201 {"id":"ord_1"} replayed=false
	// 201 {"id":"ord_1"} replayed=true
	// 422
}
