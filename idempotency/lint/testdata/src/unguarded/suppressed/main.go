// Command suppressed says why its handlers need no guard.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func handle(e events.APIGatewayV2HTTPRequest) error { return nil }

func main() {
	lambda.Start(handle) //idemlint:ignore unguarded -- reads only
	//idemlint:ignore unguarded -- reads only
	lambda.Start(handle)

	lambda.Start(handle) // want `unguarded`
	//idemlint:ignore freshkey -- another rule
	lambda.Start(handle) // want `unguarded`
	// want +1 `without a reason`
	//idemlint:ignore unguarded --
	lambda.Start(handle) // want `unguarded`
}

// routes are those of a tool for one user.
//
//idemlint:ignore unguarded -- one user, who sees what he did
func routes() {
	http.HandleFunc("POST /a", nothing)
	http.HandleFunc("POST /b", nothing)
}

func nothing(w http.ResponseWriter, r *http.Request) {}
