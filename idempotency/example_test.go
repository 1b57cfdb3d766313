package idempotency_test

import (
	"context"
	"fmt"
	"net/http"

	"firstwriter/idempotency"
)

// request is what an adapter makes of an event.
func request(key, body string) *idempotency.Request {
	return &idempotency.Request{Method: "POST", Path: "/payments", Body: []byte(body),
		Header: http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}},
		Caller: idempotency.Caller{Claims: map[string]string{"tenant_id": "acme", "sub": "alice"}}}
}

func show(r *idempotency.Response) {
	fmt.Printf("%d %s replayed=%t\n", r.Status, r.Body, r.Header.Get(idempotency.ReplayHeader) == "true")
}

func ExampleGuard_Serve() {
	guard, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.JWTClaim("tenant_id")})
	if err != nil {
		fmt.Println(err)
		return
	}
	charge := func(ctx context.Context) (*idempotency.Response, error) {
		fmt.Println("charging")
		return &idempotency.Response{Status: 201, Body: []byte(`{"id":"pay_1"}`)}, nil
	}
	show(guard.Serve(context.Background(), request("k1", `{"amount":1299}`), charge))
	show(guard.Serve(context.Background(), request(`"k1"`, `{ "amount": 12.99e2 }`), charge))
	// Output:
	// charging
	// 201 {"id":"pay_1"} replayed=false
	// 201 {"id":"pay_1"} replayed=true
}

func ExampleNew_refused() {
	_, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}})
	fmt.Println(err)
	// Output:
	// idempotency: config: Scope is missing: name the tenant from verified facts, or say SharedScope for one scope of all callers
}

// A handler that cannot tell what its failure did leaves the decision to the orphan policy.
func ExampleAttempt_Decide() {
	guard, _ := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.SharedScope, Orphans: idempotency.Refuse})
	wire := func(ctx context.Context) (*idempotency.Response, error) {
		idempotency.AttemptFrom(ctx).Decide(idempotency.Doubt)
		return &idempotency.Response{Status: 504, Body: []byte("the bank did not answer")}, nil
	}
	show(guard.Serve(context.Background(), request("k1", `{}`), wire))
	again := guard.Serve(context.Background(), request("k1", `{}`), wire)
	fmt.Println(again.Status, again.Header.Get("Content-Type"))
	// Output:
	// 504 the bank did not answer replayed=false
	// 409 application/problem+json
}

// The keys of downstream calls are the same on every attempt.
func ExampleAttempt_DeriveKey() {
	guard, _ := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.SharedScope})
	var keys []string
	for range 2 {
		guard.Serve(context.Background(), request("k1", `{}`), func(ctx context.Context) (*idempotency.Response, error) {
			attempt := idempotency.AttemptFrom(ctx)
			keys = append(keys, attempt.DeriveKey("charge"))
			fmt.Println("rerun:", attempt.Rerun())
			return &idempotency.Response{Status: 503}, nil
		})
	}
	fmt.Println("same key:", keys[0] == keys[1])
	// Output:
	// rerun: false
	// rerun: true
	// same key: true
}

func ExampleProblem() {
	r := idempotency.Problem{Code: "card-declined", Title: "Card declined", Status: 402, NewKey: true}.Response()
	fmt.Println(r.Status, string(r.Body))
	// Output:
	// 402 {"type":"urn:problem-type:card-declined","title":"Card declined","status":402,"code":"card-declined","retryable":false,"new_key":true}
}

// Where the rules have changed since the first run, a retry still gets its replay.
func ExampleConfig_validate() {
	limit := 5000
	guard, _ := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.SharedScope,
		Validate: func(_ context.Context, r *idempotency.Request) *idempotency.Response {
			if len(r.Body) > limit {
				return idempotency.Problem{Code: "invalid-request", Title: "Too long", Status: 400}.Response()
			}
			return nil
		}})
	created := func(context.Context) (*idempotency.Response, error) {
		return &idempotency.Response{Status: 201, Body: []byte("created")}, nil
	}
	show(guard.Serve(context.Background(), request("k1", `{"note":"hello"}`), created))
	limit = 3
	show(guard.Serve(context.Background(), request("k1", `{"note":"hello"}`), created))
	fmt.Println(guard.Serve(context.Background(), request("k2", `{"note":"hello"}`), created).Status)
	// Output:
	// 201 created replayed=false
	// 201 created replayed=true
	// 400
}
