package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const giveUp = 10 * time.Second // on a function that does not poll

// aws is what a starting function sees of AWS: the Runtime API, which never has an event, and a TLS endpoint in
// DynamoDB's place, so that a warm-up of the first connection costs what it costs.
type aws struct {
	runtime, dynamodb *httptest.Server
	polls             chan time.Time // when each poll arrived
	env               []string
}

func newAWS(dir string) (*aws, error) {
	a := &aws{polls: make(chan time.Time, 1)}
	a.dynamodb = httptest.NewUnstartedServer(http.NotFoundHandler())
	a.dynamodb.Config.ErrorLog = log.New(io.Discard, "", 0) // functions are killed while they shake hands
	a.dynamodb.StartTLS()
	a.runtime = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/2018-06-01/runtime/invocation/next" {
			a.polls <- time.Now()
		}
		<-r.Context().Done()
	}))
	ca := filepath.Join(dir, "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.dynamodb.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		a.close()
		return nil, err
	}
	a.env = []string{
		"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(a.runtime.URL, "http://"),
		"AWS_ENDPOINT_URL_DYNAMODB=" + a.dynamodb.URL, "SSL_CERT_FILE=" + ca,
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=key", "AWS_SESSION_TOKEN=token",
		"AWS_LAMBDA_FUNCTION_NAME=startup", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"IDEMPOTENCY_TABLE=idempotency", "PAYMENTS_TABLE=payments", "OUTBOX_TABLE=outbox", "PROVIDER_URL=https://provider.invalid",
		"METRICS_NAMESPACE=firstwriter/startup",
		"PROVIDER_SECRET_ARN=arn:aws:secretsmanager:eu-central-1:123456789012:secret:provider-AbCdEf",
	}
	return a, nil
}

func (a *aws) close() {
	a.runtime.Close()
	a.dynamodb.Close()
}

// start runs a binary until its first poll, and returns how long that took.
func (a *aws) start(binary string) (took time.Duration, err error) {
	cmd := exec.Command(binary)
	cmd.Env = a.env
	cmd.Stderr = os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case polled := <-a.polls:
		took = polled.Sub(began)
	case err := <-ended:
		return 0, errors.Join(errors.New("it ended without a poll"), err)
	case <-time.After(giveUp):
		err = fmt.Errorf("no poll within %v", giveUp)
	}
	if killErr := cmd.Process.Kill(); killErr != nil {
		return 0, errors.Join(err, killErr)
	}
	<-ended
	return took, err
}
