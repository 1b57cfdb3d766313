package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"firstwriter/idempotency/outbox"
)

// bus is an EventBridge bus.
type bus struct {
	client *eventbridge.Client
	name   string
}

// publish is one PutEvents request. See [outbox.Relay.Publish].
func (b bus) publish(ctx context.Context, batch []outbox.Entry) ([]outbox.Answer, error) {
	in := &eventbridge.PutEventsInput{}
	for _, e := range batch {
		in.Entries = append(in.Entries, types.PutEventsRequestEntry{
			EventBusName: aws.String(b.name),
			Source:       aws.String(e.Source),
			DetailType:   aws.String(e.DetailType),
			Time:         aws.Time(e.Time),
			Detail:       aws.String(e.Detail),
		})
	}
	out, err := b.client.PutEvents(ctx, in)
	if err != nil {
		return nil, putError(err)
	}
	var answers []outbox.Answer
	for _, e := range out.Entries {
		answers = append(answers, outbox.Answer{Code: aws.ToString(e.ErrorCode), Message: aws.ToString(e.ErrorMessage)})
	}
	return answers, nil
}

// putError tells a request that is wrong in itself from one that could not be done now.
func putError(err error) error {
	var api smithy.APIError
	var response *awshttp.ResponseError
	if errors.As(err, &api) && api.ErrorCode() == "ValidationException" ||
		errors.As(err, &response) && response.HTTPStatusCode() == http.StatusRequestEntityTooLarge {
		return fmt.Errorf("relay: %w: %w", outbox.ErrRefused, err)
	}
	return fmt.Errorf("relay: publish: %w", err)
}
