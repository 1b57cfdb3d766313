package provider

import (
	"context"
	"errors"
	"testing"
	"time"

	"firstwriter/functions/internal/provider/providertest"
)

var stamp = time.Date(2026, 11, 29, 20, 5, 7, 0, time.UTC)

// secretFrom is the secret as it is read from m.
func secretFrom(m *providertest.SecretsManager, now func() time.Time) *Secret {
	return NewSecret(m.Config, providertest.SecretARN, now)
}

func fixedSecret(t *testing.T) *Secret {
	m := providertest.NewSecretsManager(t, providertest.Secret)
	return secretFrom(m, func() time.Time { return stamp })
}

func TestSecretIsKeptForAWhile(t *testing.T) {
	now := stamp
	m := providertest.NewSecretsManager(t, "one", " two\n")
	s := secretFrom(m, func() time.Time { return now })
	for _, step := range []struct {
		wait  time.Duration
		want  string
		calls int
	}{
		{0, "one", 1},
		{secretLifetime - 1, "one", 1},
		{1, "two", 2},
		{secretLifetime, "two", 3}, // the fetch fails: it goes on with what it has
		{secretRetry - 1, "two", 3},
		{1, "two", 4},
	} {
		now = now.Add(step.wait)
		if got, err := s.get(t.Context()); err != nil || got != step.want || m.Calls() != step.calls {
			t.Errorf("after %v: %q, %v, %d calls; want %q, %d", now.Sub(stamp), got, err, m.Calls(), step.want, step.calls)
		}
	}
}

func TestSecretRejected(t *testing.T) {
	m := providertest.NewSecretsManager(t, "one", "two")
	s := secretFrom(m, func() time.Time { return stamp })
	for i, step := range []struct{ reject, want string }{{"", "one"}, {"another", "one"}, {"one", "two"}, {"one", "two"}} {
		s.reject(step.reject)
		if got, err := s.get(t.Context()); err != nil || got != step.want {
			t.Errorf("step %d: %q, %v; want %q", i, got, err, step.want)
		}
	}
	s.reject("two") // now Secrets Manager has nothing more: a refused secret is not used again
	if got, err := s.get(t.Context()); err == nil {
		t.Errorf("got %q", got)
	}
}

func TestSecretEmpty(t *testing.T) {
	if got, err := secretFrom(providertest.NewSecretsManager(t, " \n"), time.Now).get(t.Context()); err == nil {
		t.Errorf("got %q", got)
	}
}

// Whoever waits for another's fetch waits no longer than his own context.
func TestSecretWaitsNoLongerThanTheContext(t *testing.T) {
	s := fixedSecret(t)
	s.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
