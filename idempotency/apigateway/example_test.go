package apigateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
	"firstwriter/idempotency/apigateway"
)

// sample reads an event, as the service would send it.
func sample[E any](name string) (e E) {
	b, err := os.ReadFile("../../events/" + name)
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		panic(err)
	}
	return e
}

func guardBy(scope idempotency.CallerFunc) *idempotency.Guard {
	guard, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: scope})
	if err != nil {
		panic(err)
	}
	return guard
}

func ExampleHTTP() {
	charge := func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		fmt.Println("charging for", e.RequestContext.Authorizer.JWT.Claims["tenant_id"])
		return events.APIGatewayV2HTTPResponse{StatusCode: 201, Body: `{"id":"pay_1"}`}, nil
	}
	handler := apigateway.HTTP(guardBy(idempotency.JWTClaim("tenant_id")), charge) // for lambda.Start
	for range 2 {
		r, err := handler(context.Background(), sample[events.APIGatewayV2HTTPRequest]("http-v2-post.json"))
		fmt.Println(r.StatusCode, r.Body, r.Headers["Idempotent-Replayed"], err)
	}
	// Output:
	// charging for acme
	// 201 {"id":"pay_1"}  <nil>
	// 201 {"id":"pay_1"} true <nil>
}

// A Lambda authorizer of a REST API names the caller by its principal, or by a value of its context.
func ExampleREST() {
	scope := idempotency.AuthorizerValue("tenant_id")
	handler := apigateway.REST(guardBy(scope), func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		return events.APIGatewayProxyResponse{StatusCode: 201}, nil
	})
	known, _ := handler(context.Background(), sample[events.APIGatewayProxyRequest]("rest-lambda-post.json"))
	other, _ := handler(context.Background(), sample[events.APIGatewayProxyRequest]("rest-api-key-post.json"))
	fmt.Println(known.StatusCode, other.StatusCode)
	// Output:
	// 201 403
}

// A function URL with the auth type AWS_IAM knows who signed the request; with NONE it knows nobody.
func ExampleFunctionURL() {
	handler := apigateway.FunctionURL(guardBy(idempotency.IAMPrincipal), func(context.Context, events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
		return events.LambdaFunctionURLResponse{StatusCode: 201}, nil
	})
	signed, _ := handler(context.Background(), sample[events.LambdaFunctionURLRequest]("function-url-post.json"))
	anonymous, _ := handler(context.Background(), sample[events.LambdaFunctionURLRequest]("function-url-anonymous-post.json"))
	fmt.Println(signed.StatusCode, anonymous.StatusCode)
	// Output:
	// 201 403
}
