// Command payments is the Lambda function behind /payments: POST takes a payment exactly once for each idempotency
// key, GET reads payments. Its environment is read by settingsFrom; template.yaml deploys it.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"firstwriter/idempotency"
	"firstwriter/idempotency/apigateway"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/idempotency/emf"
)

func main() {
	ctx, log := context.Background(), slog.New(slog.NewJSONHandler(os.Stderr, nil))
	s, err := settingsFrom(os.Getenv)
	exitOn(err)
	cfg := awsConfig(os.Getenv)
	db := dynamodb.NewFromConfig(cfg, dynamostore.Tune)
	handler, err := newHandler(s, cfg, db, log)
	exitOn(err)
	besideFirstPoll(s.runtimeAPI, func() { warmUp(ctx, db, log) })
	lambda.Start(handler)
}

// newHandler puts the parts together: the endpoint's handler, and the guard around it.
func newHandler(s settings, cfg aws.Config, db *dynamodb.Client, log *slog.Logger) (apigateway.HTTPHandler, error) {
	guard, err := idempotency.New(idempotency.Config{
		Store:     dynamostore.New(db, s.idempotencyTable),
		Scope:     idempotency.JWTClaim("tenant_id"),
		Principal: idempotency.JWTClaim("sub"),
		Validate:  validate,
		MaxBody:   maxBody,
		Logger:    log,
		Observe:   emf.New(os.Stdout, s.metrics).Observe,
	})
	if err != nil {
		return nil, err
	}
	a := &api{
		payments: table{client: db, name: s.paymentsTable},
		provider: newProvider(s.providerURL, newSecret(cfg, s.secretARN, wallClock)),
		now:      wallClock,
		log:      log,
	}
	return apigateway.HTTP(guard, a.handle), nil
}

// wallClock is the time without the monotonic reading, which stands still while Lambda has the function frozen.
func wallClock() time.Time { return time.Now().Round(0) }

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "payments:", err)
		os.Exit(1)
	}
}
