package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

const (
	testSecret    = "sk_test"
	testSecretARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:provider-AbCdEf"
)

// secretsManager serves GetSecretValue: one value after the other, then errors that the SDK does not retry.
type secretsManager struct {
	cfg    aws.Config
	mu     sync.Mutex
	values []string // guarded by mu
	asked  int      // guarded by mu
}

func newSecretsManager(t *testing.T, values ...string) *secretsManager {
	t.Helper()
	m := &secretsManager{values: values}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.cfg = aws.Config{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(server.URL),
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
	}
	return m
}

func (m *secretsManager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if len(m.values) == 0 || r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"__type": "ResourceNotFoundException"})
		return
	}
	json.NewEncoder(w).Encode(map[string]string{"ARN": testSecretARN, "SecretString": m.values[0]})
	m.values = m.values[1:]
}

func (m *secretsManager) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

func (m *secretsManager) secret(now func() time.Time) *secret {
	return newSecret(m.cfg, testSecretARN, now)
}

func fixedSecret(t *testing.T) *secret {
	return newSecretsManager(t, testSecret).secret(func() time.Time { return stamp })
}

func TestSecretIsKeptForAWhile(t *testing.T) {
	now := stamp
	m := newSecretsManager(t, "one", " two\n")
	s := m.secret(func() time.Time { return now })
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
		if got, err := s.get(t.Context()); err != nil || got != step.want || m.calls() != step.calls {
			t.Errorf("after %v: %q, %v, %d calls; want %q, %d", now.Sub(stamp), got, err, m.calls(), step.want, step.calls)
		}
	}
}

func TestSecretRejected(t *testing.T) {
	m := newSecretsManager(t, "one", "two")
	s := m.secret(func() time.Time { return stamp })
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
	if got, err := newSecretsManager(t, " \n").secret(time.Now).get(t.Context()); err == nil {
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
