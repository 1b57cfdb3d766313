package idempotency_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"firstwriter/idempotency"
)

// A Lambda function that takes messages from a queue handles each of them once, and reports those that must be delivered
// again. The function's event source needs ReportBatchItemFailures.
func ExampleDo_sqs() {
	guard, _ := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.SharedScope})
	handle := func(ctx context.Context, e events.SQSEvent) (out events.SQSEventResponse, err error) {
		for _, m := range e.Records {
			op := idempotency.Op{Name: "ship-order", Scope: "orders-queue", Key: m.MessageId, Input: m.Body}
			_, err := idempotency.Do(ctx, guard, op, func(ctx context.Context) (string, error) {
				if m.Body == "out of stock" {
					idempotency.AttemptFrom(ctx).Decide(idempotency.LetGo) // nothing was done
					return "", errors.New("out of stock")
				}
				fmt.Println("shipping", m.Body)
				return "shipped", nil
			})
			if err != nil {
				out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}
		return out, nil
	}
	batch := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1", Body: "order-1"}, {MessageId: "m2", Body: "out of stock"}, {MessageId: "m1", Body: "order-1"}}}
	fmt.Println(handle(context.Background(), batch))
	// Output:
	// shipping order-1
	// {[{m2}]} <nil>
}
