package main

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// settings is the function's environment, checked.
type settings struct {
	idempotencyTable string
	paymentsTable    string
	providerURL      string // without a trailing slash
	secretARN        string
	metrics          string // CloudWatch namespace
	runtimeAPI       string // host and port
}

// settingsFrom reads the environment. The error is one line that names every variable that must be set otherwise.
func settingsFrom(getenv func(string) string) (settings, error) {
	s := settings{
		idempotencyTable: getenv("IDEMPOTENCY_TABLE"),
		paymentsTable:    getenv("PAYMENTS_TABLE"),
		providerURL:      strings.TrimRight(getenv("PROVIDER_URL"), "/"),
		secretARN:        getenv("PROVIDER_SECRET_ARN"),
		metrics:          getenv("METRICS_NAMESPACE"),
		runtimeAPI:       getenv("AWS_LAMBDA_RUNTIME_API"),
	}
	var wrong []string
	rule := func(ok bool, advice string) {
		if !ok {
			wrong = append(wrong, advice)
		}
	}
	rule(s.idempotencyTable != "", "IDEMPOTENCY_TABLE to the table of the idempotency records")
	rule(s.paymentsTable != "", "PAYMENTS_TABLE to the table of the payments")
	rule(isProviderURL(s.providerURL), "PROVIDER_URL to the provider's base URL, https://host/path (http only for this machine)")
	rule(strings.HasPrefix(s.secretARN, "arn:"), "PROVIDER_SECRET_ARN to the ARN of the secret with the provider's key")
	rule(s.metrics != "", "METRICS_NAMESPACE to the CloudWatch namespace of its metrics")
	rule(getenv("AWS_REGION") != "", "AWS_REGION to the Region of the tables")
	rule(s.runtimeAPI != "", "AWS_LAMBDA_RUNTIME_API, as Lambda does (on this machine: make run)")
	if len(wrong) > 0 {
		return settings{}, errors.New("set " + strings.Join(wrong, "; set "))
	}
	return s, nil
}

// isProviderURL tells whether secrets and card tokens may go to a URL: by TLS, or to this machine (which a container
// calls host.docker.internal).
func isProviderURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	local := []string{"127.0.0.1", "::1", "localhost", "host.docker.internal"}
	return u.Scheme == "https" || u.Scheme == "http" && slices.Contains(local, u.Hostname())
}
