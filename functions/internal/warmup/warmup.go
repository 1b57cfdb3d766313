// Package warmup does, while a function waits for its first request, what would hold that up.
package warmup

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

const (
	timeout   = time.Second
	maxAnswer = 64 * 1024 // bytes that are read of an answer nobody looks at
)

// BesideFirstPoll starts f when the first poll of the Runtime API has been written: beside the poll, which f must not
// hold up. aws-lambda-go has no hook for that; it polls through a clone of http.DefaultTransport, which nothing else
// here uses.
func BesideFirstPoll(runtimeAPI string, f func()) {
	transport := http.DefaultTransport.(*http.Transport)
	dial, start := transport.DialContext, sync.OnceFunc(func() { go f() })
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil || address != runtimeAPI {
			return conn, err
		}
		return afterWrite{conn, start}, nil
	}
}

// afterWrite is a connection that calls then after each write.
type afterWrite struct {
	net.Conn
	then func()
}

func (c afterWrite) Write(b []byte) (int, error) {
	defer c.then()
	return c.Conn.Write(b)
}

// Connect opens the first TLS connection to DynamoDB and leaves it in the client's pool, which takes 5–20 ms off the
// first request. It runs beside the first poll. It asks for the endpoint's root, which needs no credentials and is no
// operation; whatever the answer is, the connection is there. Plain HTTP has nothing to warm up.
func Connect(ctx context.Context, client *dynamodb.Client, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := touch(ctx, client.Options()); err != nil {
		log.DebugContext(ctx, "no connection warmed up", "error", err)
	}
}

func touch(ctx context.Context, o dynamodb.Options) error {
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region: aws.String(o.Region), Endpoint: o.BaseEndpoint,
		UseFIPS:      aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
		UseDualStack: aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
	})
	if err != nil || endpoint.URI.Scheme != "https" {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.URI.String(), nil)
	if err != nil {
		return err
	}
	res, err := o.HTTPClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // a connection is kept once its answer is read
	return err
}
