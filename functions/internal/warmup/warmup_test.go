package warmup

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency/dynamostore"
)

// server is a server in DynamoDB's place that counts.
type server struct {
	*httptest.Server
	connections, operations, others atomic.Int32
}

func newEndpoint(t *testing.T, start func(*httptest.Server)) (*server, *dynamodb.Client) {
	t.Helper()
	e := &server{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") == "" {
			e.others.Add(1)
			return
		}
		e.operations.Add(1)
		w.Write([]byte("{}"))
	}))
	e.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			e.connections.Add(1)
		}
	}
	start(e.Server)
	t.Cleanup(e.Close)
	roots := x509.NewCertPool()
	if e.Certificate() != nil {
		roots.AddCert(e.Certificate())
	}
	cfg := aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String(e.URL),
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
			tr.TLSClientConfig.RootCAs = roots
		}),
	}
	return e, dynamodb.NewFromConfig(cfg, dynamostore.Tune)
}

func TestConnectLeavesAConnection(t *testing.T) {
	e, client := newEndpoint(t, (*httptest.Server).StartTLS)
	if err := touch(t.Context(), client.Options()); err != nil {
		t.Fatal(err)
	}
	if e.connections.Load() != 1 || e.operations.Load() != 0 || e.others.Load() != 1 {
		t.Errorf("warm-up: %d connections, %d operations, %d others", e.connections.Load(), e.operations.Load(), e.others.Load())
	}
	_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("t"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "i"}}})
	if err != nil || e.connections.Load() != 1 {
		t.Errorf("the first operation: %v, %d connections", err, e.connections.Load())
	}
}

func TestConnectLeavesPlainHTTPAlone(t *testing.T) {
	e, client := newEndpoint(t, (*httptest.Server).Start)
	if err := touch(t.Context(), client.Options()); err != nil || e.connections.Load() != 0 {
		t.Errorf("%v, %d connections", err, e.connections.Load())
	}
}

// The library's client polls as here: through a clone of the default transport.
func TestBesideFirstPoll(t *testing.T) {
	original := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = original })
	http.DefaultTransport = original.(*http.Transport).Clone()
	var polled, other atomic.Int32
	runtimeAPI := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { polled.Add(1) }))
	defer runtimeAPI.Close()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other.Add(1) }))
	defer elsewhere.Close()

	started := make(chan struct{}, 2)
	BesideFirstPoll(strings.TrimPrefix(runtimeAPI.URL, "http://"), func() { started <- struct{}{} })
	client := http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	defer client.CloseIdleConnections()
	poll := func(url string) {
		req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	poll(elsewhere.URL)
	if len(started) != 0 {
		t.Error("it started with a request to somebody else")
	}
	poll(runtimeAPI.URL)
	<-started
	poll(runtimeAPI.URL)
	if len(started) != 0 || polled.Load() != 2 || other.Load() != 1 {
		t.Errorf("%d more starts, %d polls, %d others", len(started), polled.Load(), other.Load())
	}
}
