package main

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// explain says what went wrong. Of an error of the SDK it says first what the service answered; the rest has a line of its
// own.
func explain(err error) string {
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return "there is no such table in this account and Region; see --table, --region and --endpoint"
	}
	var call *smithy.OperationError
	if !errors.As(err, &call) {
		return printableLines(err.Error())
	}
	brief := strings.Replace(err.Error(), call.Error(), call.Service()+" "+call.Operation()+": "+cause(call.Err), 1)
	return printableLines(brief + "\n  in full: " + strings.ReplaceAll(err.Error(), "\n", " "))
}

// cause is the end of the SDK's chain of errors.
func cause(err error) string {
	var api smithy.APIError
	var network *net.OpError
	switch {
	case errors.As(err, &api):
		return api.ErrorCode() + ": " + api.ErrorMessage()
	case errors.As(err, &network):
		return network.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer within " + callBudget.String()
	}
	return err.Error()
}
