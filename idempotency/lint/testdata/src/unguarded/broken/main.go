// Command broken does not compile: what is understood is checked all the same.
package main

import (
	"net/http"

	"example.com/nowhere"
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func v2(e events.APIGatewayV2HTTPRequest) error { return undefined(e) }

func (n nobody) handle(e events.APIGatewayProxyRequest) error { return nil }

func main() {
	lambda.Start(v2) // want `unguarded: lambda.Start`
	lambda.Start(nowhere.Handler)
	lambda.Start(missing)
	lambda.Start()
	lambda.Start(v2, missing(v2), x[0]) // want `unguarded: lambda.Start`
	http.HandleFunc("POST /a", nowhere.Handle(missing))
	http.HandleFunc("POST /a")
	http.Handle("POST "+nowhere.Path, 3)
	var a, b = nowhere.Two()
	a, b = b
	lambda.Start(a)
	for lambda.Start = range x {
	}
	req.Header.Set("Idempotency-Key", missing+1)
}
