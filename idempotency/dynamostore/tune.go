package dynamostore

import (
	"net"
	"time"

	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// What [Tune] sets. The SDK's own defaults have no time-out for an answer and wait seconds between tries of a throttled
// call: too long for a request that a client is waiting for.
const (
	DialTimeout    = 500 * time.Millisecond // for a connection
	AttemptTimeout = 1 * time.Second        // for one try, answer included
	MaxAttempts    = 3
	BaseDelay      = 25 * time.Millisecond // DynamoDB's own, which a retryer of one's own replaces
	MaxBackoff     = 200 * time.Millisecond
)

// Tune sets the time-outs and retries of a DynamoDB client for requests that somebody waits for:
//
//	client := dynamodb.NewFromConfig(cfg, dynamostore.Tune)
func Tune(o *dynamodb.Options) {
	client, ok := o.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		client = awshttp.NewBuildableClient()
	}
	o.HTTPClient = client.WithTimeout(AttemptTimeout).WithDialerOptions(func(d *net.Dialer) { d.Timeout = DialTimeout })
	o.Retryer = sdkretry.NewStandard(func(so *sdkretry.StandardOptions) {
		so.MaxAttempts, so.BaseDelay, so.MaxBackoff = MaxAttempts, BaseDelay, MaxBackoff
	})
}
