package dynamofake

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Start opens a server for a test and returns it with a client that talks to
// it without a socket. Both are gone when the test ends; any number of tests
// can have their own in parallel. Inside a testing/synctest bubble, call it
// there.
//
//	server, client := dynamofake.Start(t, func(o *dynamofake.Options) { o.Now = clock.Now })
func Start(t testing.TB, opts ...func(*Options)) (*Server, *dynamodb.Client) {
	t.Helper()
	var o Options
	for _, set := range opts {
		set(&o)
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dynamodb.NewFromConfig(s.Config())
}

// Config is an SDK configuration whose clients talk to the server without a
// socket, with the SDK's own retries.
func (s *Server) Config() aws.Config {
	return aws.Config{
		Region:      region,
		Credentials: credentials.NewStaticCredentialsProvider("dynamofake", "dynamofake", ""),
		HTTPClient:  &http.Client{Transport: s.RoundTripper()},
	}
}
