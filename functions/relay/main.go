// Command relay is the Lambda function behind the stream of the outbox table: it publishes the events there to an
// EventBridge bus, and puts those that can never be published into a dead-letter queue. Its environment is read by
// settingsFrom; template.yaml deploys it. What is decided about events is in package outbox.
package main

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"firstwriter/functions/internal/awsconfig"
	"firstwriter/idempotency/outbox"
)

// callTimeout is for one try of a call, answer included.
const callTimeout = 3 * time.Second

func main() {
	s, err := settingsFrom(os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
	cfg := awsconfig.FromEnv(os.Getenv)
	cfg.HTTPClient = awshttp.NewBuildableClient().WithTimeout(callTimeout) // the SDK itself waits for ever
	b := bus{client: eventbridge.NewFromConfig(cfg), name: s.bus}
	q := deadLetters{cfg: cfg, url: s.queueURL}
	relay := outbox.Relay{Publish: b.publish, SetAside: q.setAside, Log: slog.New(slog.NewJSONHandler(os.Stderr, nil))}
	lambda.Start(relay.Handle)
}
