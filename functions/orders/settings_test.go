package main

import (
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/provider/providertest"
)

var goodEnv = map[string]string{
	"IDEMPOTENCY_TABLE": "records", "STOCK_TABLE": "stock", "ORDERS_TABLE": "orders", "OUTBOX_TABLE": "outbox",
	"PROVIDER_URL": "https://psp.example/v1/", "PROVIDER_SECRET_ARN": providertest.SecretARN, "AWS_REGION": "eu-central-1",
	"AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9001", "METRICS_NAMESPACE": "firstwriter/test",
}

func TestSettings(t *testing.T) {
	want := settings{stockTable: "stock", ordersTable: "orders", outboxTable: "outbox", Settings: endpoint.Settings{IdempotencyTable: "records",
		ProviderURL: "https://psp.example/v1", SecretARN: providertest.SecretARN, Metrics: "firstwriter/test", RuntimeAPI: "127.0.0.1:9001"}}
	got, err := settingsFrom(func(name string) string { return goodEnv[name] })
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	for name := range goodEnv {
		env := maps.Clone(goodEnv)
		delete(env, name)
		_, err := settingsFrom(func(name string) string { return env[name] })
		if err == nil || !strings.HasPrefix(err.Error(), "set "+name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// A wrong environment is one line and exit code 1, which Lambda shows as the reason of the failed start.
func TestMainWithoutAnEnvironment(t *testing.T) {
	if os.Getenv("ORDERS_TEST_MAIN") != "" {
		main()
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = []string{"ORDERS_TEST_MAIN=1", "GOCOVERDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.HasPrefix(string(out), "orders: set IDEMPOTENCY_TABLE") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
