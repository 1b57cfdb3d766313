package endpoint

import (
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// Response is what the gateway takes.
type Response = events.APIGatewayV2HTTPResponse

// Created is the answer to a request that made something.
func Created(location string, json []byte) *idempotency.Response {
	return &idempotency.Response{
		Status: http.StatusCreated,
		Header: http.Header{"Content-Type": {"application/json"}, "Location": {location}},
		Body:   json,
	}
}

// OK is the answer to a read.
func OK(json []byte) Response {
	return Respond(&idempotency.Response{
		Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   json,
	})
}

// Refuse answers with a problem document.
func Refuse(p idempotency.Problem) Response { return Respond(p.Response()) }

// Respond writes a neutral response as the gateway takes it. Bodies here are JSON, and so text.
func Respond(r *idempotency.Response) Response {
	headers := make(map[string]string, len(r.Header))
	for name, values := range r.Header {
		headers[name] = strings.Join(values, ", ")
	}
	return Response{StatusCode: r.Status, Headers: headers, Body: string(r.Body)}
}

// CallerUnknown is the refusal of a caller without a [Tenant].
func CallerUnknown() idempotency.Problem {
	return idempotency.Problem{Code: "caller-unknown", Status: http.StatusForbidden,
		Title: "Caller unknown", Detail: "The request's credentials name no tenant, or one that is too long."}
}

// Invalid is the refusal of input that breaks a rule; err is words for the client.
func Invalid(err error) idempotency.Problem {
	return idempotency.Problem{Code: "invalid-request", Status: http.StatusBadRequest, NewKey: true,
		Title: "Invalid request", Detail: err.Error()}
}

// NotFound says that there is no such thing.
func NotFound(thing string) idempotency.Problem {
	return idempotency.Problem{Code: "not-found", Status: http.StatusNotFound,
		Title: "Not found", Detail: "There is no such " + thing + "."}
}

// StoreUnavailable says that things cannot be read now.
func StoreUnavailable(things string) idempotency.Problem {
	return idempotency.Problem{Code: "store-unavailable", Status: http.StatusServiceUnavailable, Retryable: true,
		RetryAfter: time.Second, Title: "Store unavailable",
		Detail: "The " + things + " cannot be read now. Send the request again later."}
}
