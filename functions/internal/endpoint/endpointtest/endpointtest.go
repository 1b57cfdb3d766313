// Package endpointtest helps to test endpoints as they are deployed: with the gateway's events, on tables of a test's own.
package endpointtest

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint"
)

// Event is a request of acme's alice; see [As] for others. Without a key it carries none.
func Event(method, route, key, body string) endpoint.Request {
	e := endpoint.Request{RouteKey: method + " " + route, RawPath: route, Body: body, Headers: map[string]string{"content-type": "application/json"}}
	if key != "" {
		e.Headers["idempotency-key"] = key
	}
	e.RequestContext.HTTP.Method = method
	return As(e, "acme", "alice")
}

// As is the request of another caller. Without a tenant the token names none.
func As(e endpoint.Request, tenant, sub string) endpoint.Request {
	claims := map[string]string{"sub": sub}
	if tenant != "" {
		claims["tenant_id"] = tenant
	}
	e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
		JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims}}
	return e
}

// Wants checks a status and, where code is given, that the body is that problem.
func Wants(t *testing.T, r endpoint.Response, status int, code string) {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", r.StatusCode, status, r.Body)
	}
	if code == "" {
		return
	}
	var p struct {
		Type, Code string
		Status     int
	}
	if err := json.Unmarshal([]byte(r.Body), &p); err != nil || p.Code != code || p.Status != status || p.Type == "" {
		t.Errorf("not the problem %s: %s (%v)", code, r.Body, err)
	}
	if r.Headers["Content-Type"] != "application/problem+json" {
		t.Errorf("content type %q", r.Headers["Content-Type"])
	}
}

// WantsReplay checks that an answer is the replay of another.
func WantsReplay(t *testing.T, r, first endpoint.Response) {
	t.Helper()
	if r.Headers["Idempotent-Replayed"] != "true" {
		t.Errorf("not a replay: %+v", r)
	}
	if r.StatusCode != first.StatusCode || r.Body != first.Body || r.Headers["Location"] != first.Headers["Location"] ||
		r.Headers["Content-Type"] != first.Headers["Content-Type"] {
		t.Errorf("replayed %+v\nof %+v", r, first)
	}
}

// CreateTable makes a table with a partition key and, where two keys are given, a sort key. All keys are
// strings, those of the indexes too.
func CreateTable(t *testing.T, client *dynamodb.Client, name string, keys []string, indexes ...types.GlobalSecondaryIndex) {
	t.Helper()
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: Keys(keys...),
		GlobalSecondaryIndexes: indexes}
	define(in, in.KeySchema)
	for _, i := range indexes {
		define(in, i.KeySchema)
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// Keys is a key schema: the partition key and, where two are given, the sort key.
func Keys(names ...string) (schema []types.KeySchemaElement) {
	for i, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[:len(names)] {
		schema = append(schema, types.KeySchemaElement{AttributeName: &names[i], KeyType: kind})
	}
	return schema
}

func define(in *dynamodb.CreateTableInput, keys []types.KeySchemaElement) {
	for _, k := range keys {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: k.AttributeName, AttributeType: types.ScalarAttributeTypeS})
	}
}
