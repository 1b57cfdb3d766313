package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"firstwriter/idempotency/outbox"
)

// maxMessage is what a message in the queue may have, in bytes: SQS takes at least that, whatever the queue's own limit.
const maxMessage = 256 << 10

// deadLetters is the SQS queue of the events that can never be published.
type deadLetters struct {
	cfg aws.Config // makes the client when it is needed, which is hardly ever
	url string
}

// setAside sends one message. See [outbox.Relay.SetAside].
func (q deadLetters) setAside(ctx context.Context, p outbox.Poison) error {
	text, err := p.Message(maxMessage)
	if err != nil {
		return fmt.Errorf("relay: dead letter: %w", err)
	}
	in := &sqs.SendMessageInput{QueueUrl: aws.String(q.url), MessageBody: aws.String(text)}
	if _, err := sqs.NewFromConfig(q.cfg).SendMessage(ctx, in); err != nil {
		return fmt.Errorf("relay: dead letter: %w", err)
	}
	return nil
}
