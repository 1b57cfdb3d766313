package sandbox

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// databaseLimit is how long setting up the database may take in all. AWS itself needs a while for a new table; any
// other server that is not ready by then never will be.
func databaseLimit(aws bool) time.Duration {
	if aws {
		return 2 * time.Minute
	}
	return 10 * time.Second
}

// setUpDatabase creates the tables that are not there yet. Its errors name the server.
func setUpDatabase(ctx context.Context, to services, limit time.Duration, log *logger, tables []table) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client, err := databaseClient(bounded, to.region, to.database, to.realCredentials)
	if err == nil {
		err = createTables(bounded, client, log, tables)
	}
	if err == nil {
		return nil
	}
	server := "the database server at " + withoutPassword(to.database)
	if bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s was not ready within %v: does it speak DynamoDB's protocol?", server, limit)
	}
	return fmt.Errorf("%s: %w", server, err)
}

func withoutPassword(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	return u.Redacted()
}

// checkEndpoint refuses what is not a database server's URL, and AWS itself unless that is asked for.
func checkEndpoint(endpoint string, allowAWS bool) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("DYNAMODB_ENDPOINT: %q is not an http or https URL", endpoint)
	}
	if isAWS(endpoint) && !allowAWS {
		return fmt.Errorf("DYNAMODB_ENDPOINT: %s is AWS itself, where tables and calls cost money: pass -allow-aws if you mean it", u.Hostname())
	}
	return nil
}

// isAWS reports whether a URL leads to AWS itself, which alone gets real credentials.
func isAWS(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	for _, domain := range []string{"amazonaws.com", "amazonaws.com.cn", "api.aws"} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

// localKey is the access key id and the secret for servers that check neither.
const localKey = "sandbox"

// databaseClient is the sandbox's own client, for creating tables. Only AWS itself gets real credentials.
func databaseClient(ctx context.Context, region, endpoint string, realCredentials bool) (*dynamodb.Client, error) {
	if !realCredentials {
		return dynamodb.New(dynamodb.Options{
			Region:       region,
			BaseEndpoint: &endpoint,
			Credentials:  credentials.NewStaticCredentialsProvider(localKey, localKey, ""),
		}), nil
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
	if err != nil {
		return nil, err
	}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(endpoint) }), nil
}
