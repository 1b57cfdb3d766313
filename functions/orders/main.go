// Command orders is the Lambda function behind /orders: POST takes an order exactly once for each idempotency key, GET
// reads one. An order is three steps: reserve stock, charge the card, confirm. steps.go has them. The environment is read
// by settingsFrom; template.yaml deploys the function.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"firstwriter/functions/internal/awsconfig"
	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/provider"
	"firstwriter/functions/internal/warmup"
	"firstwriter/idempotency/apigateway"
	"firstwriter/idempotency/dynamostore"
)

func main() {
	ctx, log := context.Background(), slog.New(slog.NewJSONHandler(os.Stderr, nil))
	s, err := settingsFrom(os.Getenv)
	exitOn(err)
	cfg := awsconfig.FromEnv(os.Getenv)
	db := dynamodb.NewFromConfig(cfg, dynamostore.Tune)
	handler, err := newHandler(s, cfg, db, log)
	exitOn(err)
	warmup.BesideFirstPoll(s.RuntimeAPI, func() { warmup.Connect(ctx, db, log) })
	lambda.Start(handler)
}

// newHandler puts the parts together: the endpoint's handler, and the guard around it.
func newHandler(s settings, cfg aws.Config, db *dynamodb.Client, log *slog.Logger) (apigateway.HTTPHandler, error) {
	a := &api{
		catalog:  newCatalog(stockTable{client: db, name: s.stockTable}, endpoint.WallClock),
		orders:   orderTable{client: db, name: s.ordersTable},
		outbox:   s.outboxTable,
		provider: provider.New(s.ProviderURL, provider.NewSecret(cfg, s.SecretARN, endpoint.WallClock)),
		now:      endpoint.WallClock,
		log:      log,
	}
	guard, err := endpoint.NewGuard(s.Settings, db, log, a.validate)
	if err != nil {
		return nil, err
	}
	return apigateway.HTTP(guard, a.handle), nil
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}
