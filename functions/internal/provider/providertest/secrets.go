package providertest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// What the fakes know.
const (
	Secret    = "sk_test"
	SecretARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:provider-AbCdEf"
)

// SecretsManager serves GetSecretValue: one value after the other, then errors that the SDK does not retry.
type SecretsManager struct {
	Config aws.Config // of a client that asks it

	mu     sync.Mutex
	values []string // guarded by mu
	asked  int      // guarded by mu
}

// NewSecretsManager starts a server for the time of the test.
func NewSecretsManager(t testing.TB, values ...string) *SecretsManager {
	t.Helper()
	m := &SecretsManager{values: values}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.Config = aws.Config{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(server.URL),
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
	}
	return m
}

// ServeHTTP implements [http.Handler].
func (m *SecretsManager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if len(m.values) == 0 || r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"__type": "ResourceNotFoundException"})
		return
	}
	json.NewEncoder(w).Encode(map[string]string{"ARN": SecretARN, "SecretString": m.values[0]})
	m.values = m.values[1:]
}

// Calls tells how often a value was asked for.
func (m *SecretsManager) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}
