package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"firstwriter/idempotency"
)

// stepped is a guard that says nothing of what goes wrong on purpose.
func stepped() *idempotency.Guard {
	guard, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.JWTClaim("tenant_id"),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		panic(err)
	}
	return guard
}

// A step whose result is recorded does not run again: the second attempt goes on where the first one failed.
func ExampleStep() {
	guard, down := stepped(), true
	order := func(ctx context.Context) (*idempotency.Response, error) {
		left, err := idempotency.Step(ctx, "reserve", func(context.Context, *idempotency.StepRun) (int, error) {
			fmt.Println("reserving")
			return 41, nil // better: a write that is enlisted with this context, committed together with the checkpoint
		})
		if err != nil {
			return nil, err
		}
		charge, err := idempotency.Step(ctx, "charge", func(_ context.Context, step *idempotency.StepRun) (string, error) {
			fmt.Println("charging with a key of", len(step.Key()), "characters, the same on every attempt")
			if down {
				return "", errors.New("the provider is down")
			}
			return "ch_1", nil
		})
		if err != nil {
			return nil, err
		}
		return &idempotency.Response{Status: 201, Body: fmt.Appendf(nil, "%s, %d left", charge, left)}, nil
	}
	fmt.Println(guard.Serve(context.Background(), request("k1", `{"sku":"book"}`), order).Status)
	down = false
	show(guard.Serve(context.Background(), request("k1", `{"sku":"book"}`), order))
	show(guard.Serve(context.Background(), request("k1", `{"sku":"book"}`), order))
	// Output:
	// reserving
	// charging with a key of 43 characters, the same on every attempt
	// 500
	// charging with a key of 43 characters, the same on every attempt
	// 201 ch_1, 41 left replayed=false
	// 201 ch_1, 41 left replayed=true
}

// When the operation fails for good, its recorded steps are undone, the last one first, before the answer is recorded.
func ExampleUndo() {
	guard := stepped()
	take := func(ctx context.Context, name string) error {
		_, err := idempotency.Step(ctx, name, func(context.Context, *idempotency.StepRun) (string, error) {
			fmt.Println(name)
			return "id of " + name, nil
		}, idempotency.Undo(func(_ context.Context, step *idempotency.StepRun, id string) error {
			fmt.Println(step.Name(), "takes back", id)
			return nil
		}))
		return err
	}
	order := func(ctx context.Context) (*idempotency.Response, error) {
		if err := errors.Join(take(ctx, "reserve"), take(ctx, "label")); err != nil {
			return nil, err
		}
		// The card is declined: a final answer, and nothing is left of the order.
		idempotency.AttemptFrom(ctx).Compensate()
		return idempotency.Problem{Code: "card-declined", Title: "Card declined", Status: http.StatusPaymentRequired}.Response(), nil
	}
	for range 2 {
		fmt.Println(guard.Serve(context.Background(), request("k1", `{"sku":"book"}`), order).Status)
	}
	// Output:
	// reserve
	// label
	// undo:label takes back id of label
	// undo:reserve takes back id of reserve
	// 402
	// 402
}

// New code that takes other steps than an unfinished operation has recorded is refused before anything runs.
func ExampleStep_changed() {
	guard := stepped()
	serve := func(release string, names ...string) {
		guard.Serve(context.Background(), request("k1", `{"sku":"book"}`), func(ctx context.Context) (*idempotency.Response, error) {
			for _, name := range names {
				_, err := idempotency.Step(ctx, name, func(context.Context, *idempotency.StepRun) (bool, error) {
					fmt.Println(release, "runs", name)
					return true, nil
				})
				if err != nil {
					fmt.Println(release, "is refused:", errors.Is(err, idempotency.ErrStepsChanged))
					return nil, err
				}
			}
			return nil, errors.New("crashed")
		})
	}
	serve("release 1", "reserve", "charge")
	serve("release 2", "check", "reserve", "charge")
	serve("release 3", "reserve", "charge", "confirm")
	// Output:
	// release 1 runs reserve
	// release 1 runs charge
	// release 2 is refused: true
	// release 3 runs confirm
}
