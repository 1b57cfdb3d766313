package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"firstwriter/idempotency"
)

// newGuard makes a guard on a memory store.
func newGuard(c idempotency.Config) *idempotency.Guard {
	c.Store = &idempotency.Memory{}
	if c.Scope == nil {
		c.Scope = idempotency.JWTClaim("tenant_id")
	}
	guard, err := idempotency.New(c)
	if err != nil {
		panic(err)
	}
	return guard
}

// created is a handler.
func created(context.Context) (*idempotency.Response, error) {
	return &idempotency.Response{Status: 201, Body: []byte("created")}, nil
}

// Users of one tenant share its keys. With a principal, what one of them did is not shown to another.
func ExampleConfig_principal() {
	guard := newGuard(idempotency.Config{Principal: idempotency.JWTClaim("sub")})
	show(guard.Serve(context.Background(), request("k1", `{}`), created))
	bob := request("k1", `{}`)
	bob.Caller.Claims["sub"] = "bob"
	fmt.Println(guard.Serve(context.Background(), bob, created).Status)
	// Output:
	// 201 created replayed=false
	// 403
}

// A namespace keeps applications apart that share a table, a secret makes ids that cannot be guessed.
func ExampleConfig_secret() {
	open := newGuard(idempotency.Config{Namespace: "shop"})
	keyed := newGuard(idempotency.Config{Namespace: "shop", Secret: []byte("a secret of 16 bytes or more")})
	id := func(guard *idempotency.Guard) (id string) {
		guard.Serve(context.Background(), request("k1", `{}`), func(ctx context.Context) (*idempotency.Response, error) {
			id = idempotency.AttemptFrom(ctx).ID()
			return created(ctx)
		})
		return id
	}
	a, b := id(open), id(keyed)
	fmt.Println(a)
	fmt.Println(len(b), a != b)
	// Output:
	// _K9H4hd6BBVZhSfRkxS6sLNssuEngNP00PCGnqxNGSE
	// 43 true
}

// Which methods are guarded, what keys look like, and whether one is needed.
func ExampleConfig_keys() {
	guard := newGuard(idempotency.Config{
		Methods:    []string{"POST", "PATCH", "DELETE"},
		QuotedKeys: true,
		KeyFormat:  func(key string) bool { return len(key) == 36 }, // a UUID's length
		Docs:       "https://api.example.com/docs/keys",
	})
	for _, key := range []string{`"8e03978e-40d5-43dd-bc93-6894a57f9324"`, `8e03978e-40d5-43dd-bc93-6894a57f9324`, `"k1"`} {
		fmt.Println(guard.Serve(context.Background(), request(key, `{}`), created).Status)
	}
	missing := request("", `{}`)
	missing.Header.Del(idempotency.KeyHeader)
	refusal := guard.Serve(context.Background(), missing, created)
	fmt.Println(refusal.Status, refusal.Header.Get("Link"))

	lenient := newGuard(idempotency.Config{OptionalKey: true})
	show(lenient.Serve(context.Background(), missing, created))
	show(lenient.Serve(context.Background(), missing, created))
	// Output:
	// 201
	// 400
	// 400
	// 400 <https://api.example.com/docs/keys>; rel="describedby"
	// 201 created replayed=false
	// 201 created replayed=false
}

// Hooks refuse before the lookup; a body over the limit is not even hashed.
func ExampleConfig_authorize() {
	suspended := false
	guard := newGuard(idempotency.Config{
		MaxBody: 10,
		Authorize: func(_ context.Context, r *idempotency.Request) *idempotency.Response {
			if suspended {
				return idempotency.Problem{Code: "suspended", Title: "Account suspended", Status: 403}.Response()
			}
			return nil
		},
	})
	fmt.Println(guard.Serve(context.Background(), request("k1", `{"a":"too long"}`), created).Status)
	show(guard.Serve(context.Background(), request("k1", `{}`), created))
	suspended = true
	fmt.Println(guard.Serve(context.Background(), request("k1", `{}`), created).Status)
	// Output:
	// 413
	// 201 created replayed=false
	// 403
}

// An endpoint whose failures are final records them.
func ExampleConfig_disposition() {
	guard := newGuard(idempotency.Config{Disposition: func(r *idempotency.Response) idempotency.Disposition {
		if r.Status == 503 {
			return idempotency.LetGo
		}
		return idempotency.Keep
	}})
	failing := func(context.Context) (*idempotency.Response, error) {
		return &idempotency.Response{Status: 500, Body: []byte("failed")}, nil
	}
	show(guard.Serve(context.Background(), request("k1", `{}`), failing))
	show(guard.Serve(context.Background(), request("k1", `{}`), created))
	// Output:
	// 500 failed replayed=false
	// 500 failed replayed=true
}

// Under Recover, the next attempt looks up first what became of the earlier one.
func ExampleConfig_recover() {
	ledger := map[string]bool{}
	guard := newGuard(idempotency.Config{Orphans: idempotency.Recover, Recover: func(ctx context.Context) (*idempotency.Response, error) {
		if ledger[idempotency.AttemptFrom(ctx).DeriveKey("transfer")] {
			return &idempotency.Response{Status: 201, Body: []byte("found")}, nil
		}
		return nil, nil // nothing was done: run the handler
	}})
	fails := func(ctx context.Context) (*idempotency.Response, error) {
		ledger[idempotency.AttemptFrom(ctx).DeriveKey("transfer")] = true
		return nil, errors.New("the connection broke after the transfer")
	}
	fmt.Println(guard.Serve(context.Background(), request("k1", `{}`), fails).Status)
	show(guard.Serve(context.Background(), request("k1", `{}`), fails))
	// Output:
	// 500
	// 201 found replayed=false
}

// Outside Lambda a run may take longer than its lease: the lease is renewed. A duplicate waits for the first run's
// response, up to Wait.
func ExampleConfig_times() {
	guard := newGuard(idempotency.Config{
		Lease:     30 * time.Second,
		MaxRun:    5 * time.Minute,
		Skew:      time.Second,
		Retention: 7 * 24 * time.Hour,
		Wait:      10 * time.Second,
	})
	started, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		guard.Serve(context.Background(), request("k1", `{}`), func(ctx context.Context) (*idempotency.Response, error) {
			close(started)
			time.Sleep(50 * time.Millisecond)
			return created(ctx)
		})
	}()
	<-started
	show(guard.Serve(context.Background(), request("k1", `{}`), created))
	<-done
	// Output:
	// 201 created replayed=true
}

// What the guard's own answers look like.
func ExampleConfig_problems() {
	guard := newGuard(idempotency.Config{
		ProblemType: "https://api.example.com/problems/",
		Status: func(code string, status int) int {
			if code == "key-missing" {
				return 428 // Precondition Required
			}
			return status
		},
	})
	missing := request("", `{}`)
	missing.Header.Del(idempotency.KeyHeader)
	r := guard.Serve(context.Background(), missing, created)
	fmt.Println(r.Status, string(r.Body[:62]))
	// Output:
	// 428 {"type":"https://api.example.com/problems/key-missing","title"
}

// Events say what became of each request; the log has only what an operator must know.
func ExampleConfig_observe() {
	guard := newGuard(idempotency.Config{
		Observe: func(_ context.Context, e idempotency.Event) { fmt.Println(e.Outcome, e.Status, e.Takeover) },
		Logger: slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})),
		OnReplay: func(_ *idempotency.Request, r *idempotency.Response) { r.Header.Set("X-Served-By", "replay") },
	})
	ctx := context.Background()
	guard.Serve(ctx, request("k1", `{}`), func(context.Context) (*idempotency.Response, error) {
		return nil, errors.New("no route to the bank")
	})
	guard.Serve(ctx, request("k1", `{}`), created)
	fmt.Println(guard.Serve(ctx, request("k1", `{}`), created).Header.Get("X-Served-By"))
	guard.Serve(ctx, request("k1", `{"other":1}`), created)
	// Output:
	// level=ERROR msg="idempotency: orphaned" id=1vz_iDhjmoSVKw8LJUYM4moF7dzQh0uBmB9-v_wDOJw endpoint="" status=500 error="no route to the bank"
	// orphaned 500 false
	// first 201 true
	// replay 201 false
	// replay
	// mismatch 422 false
}
