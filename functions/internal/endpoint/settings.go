// Package endpoint is what the guarded endpoints share: their settings, their guard, who calls, and how they answer.
package endpoint

import (
	"errors"
	"strings"

	"firstwriter/functions/internal/provider"
)

// Settings is the environment that every endpoint has, checked.
type Settings struct {
	IdempotencyTable string
	ProviderURL      string // without a trailing slash
	SecretARN        string
	Metrics          string // CloudWatch namespace
	RuntimeAPI       string // host and port
}

// Table is a variable with the name of a table of the endpoint's own.
type Table struct {
	Variable string
	Name     *string // where its value goes
	What     string  // such as "the table of the payments"
}

// ReadSettings reads the environment, and the names of the endpoint's own tables with it. The error is one line that names
// every variable that must be set otherwise.
func ReadSettings(getenv func(string) string, tables ...Table) (Settings, error) {
	s := Settings{
		IdempotencyTable: getenv("IDEMPOTENCY_TABLE"),
		ProviderURL:      strings.TrimRight(getenv("PROVIDER_URL"), "/"),
		SecretARN:        getenv("PROVIDER_SECRET_ARN"),
		Metrics:          getenv("METRICS_NAMESPACE"),
		RuntimeAPI:       getenv("AWS_LAMBDA_RUNTIME_API"),
	}
	var wrong []string
	rule := func(ok bool, advice string) {
		if !ok {
			wrong = append(wrong, advice)
		}
	}
	rule(s.IdempotencyTable != "", "IDEMPOTENCY_TABLE to the table of the idempotency records")
	for _, t := range tables {
		*t.Name = getenv(t.Variable)
		rule(*t.Name != "", t.Variable+" to "+t.What)
	}
	rule(provider.IsURL(s.ProviderURL), "PROVIDER_URL to the provider's base URL, https://host/path (http only for this machine)")
	rule(strings.HasPrefix(s.SecretARN, "arn:"), "PROVIDER_SECRET_ARN to the ARN of the secret with the provider's key")
	rule(s.Metrics != "", "METRICS_NAMESPACE to the CloudWatch namespace of its metrics")
	rule(getenv("AWS_REGION") != "", "AWS_REGION to the Region of the tables")
	rule(s.RuntimeAPI != "", "AWS_LAMBDA_RUNTIME_API, as Lambda does (on this machine: make run)")
	if len(wrong) > 0 {
		return Settings{}, errors.New("set " + strings.Join(wrong, "; set "))
	}
	return s, nil
}
