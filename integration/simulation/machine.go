package simulation

import (
	"context"
	"log/slog"
	"time"

	"firstwriter/idempotency"
)

// patience is longer than any run: a duplicate that waits does so until it is answered or its caller has gone.
const patience = time.Hour

// config is the endpoint that every machine serves.
func (m *machine) config(s idempotency.Store) idempotency.Config {
	set := m.world.set
	c := idempotency.Config{Store: s, Scope: idempotency.JWTClaim("tenant"), Orphans: set.policy, Lease: set.lease, MaxRun: set.maxRun,
		Skew: set.skew, Retention: set.retention, Now: m.clock, Observe: observe, Validate: validate, Logger: slog.New(slog.DiscardHandler)}
	if set.principals {
		c.Principal = idempotency.JWTClaim("sub")
	}
	if set.waits {
		c.Wait = patience
	}
	if set.policy == idempotency.Recover {
		c.Recover = func(ctx context.Context) (*idempotency.Response, error) { return attemptOf(ctx).recover(ctx) }
	}
	return c
}

type attemptKey struct{}

// attemptOf is the simulated attempt that a context belongs to.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

func observe(ctx context.Context, e idempotency.Event) {
	a := attemptOf(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outcome = e.Outcome
}

// validate refuses the orders that the new rules do not allow.
func validate(ctx context.Context, _ *idempotency.Request) *idempotency.Response {
	if attemptOf(ctx).outlawed {
		return &idempotency.Response{Status: 400, Header: map[string][]string{}, Body: []byte("against the rules")}
	}
	return nil
}
