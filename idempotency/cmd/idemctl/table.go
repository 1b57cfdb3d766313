package main

import (
	"context"
	"flag"
	"net"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"firstwriter/idempotency/dynamostore"
)

// callBudget is how long the calls of one step may take, the SDK's retries included: of a look, of a change, of a page of a scan.
const callBudget = 30 * time.Second

// place are the flags that say where the records are.
type place struct {
	table, endpoint, region string
}

func (p *place) define(flags *flag.FlagSet) {
	flags.StringVar(&p.table, "table", "", "`name` of the table (default: IDEMPOTENCY_TABLE)")
	flags.StringVar(&p.endpoint, "endpoint", "", "`URL` of the database (default: AWS)")
	flags.StringVar(&p.region, "region", "", "AWS Region (default: as for every AWS tool)")
}

// connect makes the client. Credentials are found as by every AWS tool; a database on this machine gets made-up ones.
func (p *place) connect(ctx context.Context, e environment) (*dynamodb.Client, error) {
	if p.table == "" {
		p.table = e.getenv("IDEMPOTENCY_TABLE")
	}
	if p.table == "" {
		return nil, usageError{"name the table by --table or IDEMPOTENCY_TABLE"}
	}
	if p.endpoint == "" {
		cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(p.region))
		if err == nil && cfg.Region == "" {
			return nil, usageError{"name the Region by --region or AWS_REGION"}
		}
		return dynamodb.NewFromConfig(cfg), err
	}
	u, err := url.Parse(p.endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usageError{"--endpoint is not an http or https URL"}
	}
	options := []func(*config.LoadOptions) error{config.WithRegion(p.region)}
	if isLocal(u.Hostname()) {
		options = append(options, config.WithDefaultRegion("us-east-1"), config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("local", "local", "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &p.endpoint }), err
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// store is the table as the guard sees it.
func (p *place) store(ctx context.Context, e environment) (*dynamostore.Store, error) {
	client, err := p.connect(ctx, e)
	if err != nil {
		return nil, err
	}
	return dynamostore.New(client, p.table), nil
}
