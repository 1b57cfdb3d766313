package outbox_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/outbox"
)

// A handler makes the event and enlists it beside its own writes (here it shows it only).
func ExampleEvent() {
	guard, err := idempotency.New(idempotency.Config{Store: &idempotency.Memory{}, Scope: idempotency.JWTClaim("tenant_id")})
	if err != nil {
		panic(err)
	}
	op := idempotency.Op{Name: "pay", Scope: "acme", Key: "order-42"}
	_, err = idempotency.Do(context.Background(), guard, op, func(ctx context.Context) (int, error) {
		write, err := outbox.Event(idempotency.AttemptFrom(ctx), "outbox", outbox.Message{
			Key: "pay_1", Source: "shop.payments", DetailType: "PaymentCaptured",
			Time: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Detail: []byte(`{"amount":1299}`),
		})
		if err != nil {
			return 0, err
		}
		fmt.Println(write.Put.Item["detail"].(*types.AttributeValueMemberS).Value)
		return 1299, nil // dynamostore.Enlist(ctx, putPayment, write) comes before
	})
	if err != nil {
		panic(err)
	}
	// Output: {"event_id":"LZ4byQA5snehFiy84hzGKduYku_dB4B1tJAFjLMaHmg","amount":1299}
}

// A relay is the handler of a Lambda function that the table's stream invokes; functions/relay is one for EventBridge.
func ExampleRelay() {
	relay := outbox.Relay{
		Publish: func(_ context.Context, batch []outbox.Entry) ([]outbox.Answer, error) {
			for _, e := range batch {
				fmt.Println(e.DetailType, e.Detail)
			}
			return make([]outbox.Answer, len(batch)), nil // all taken
		},
		SetAside: func(_ context.Context, p outbox.Poison) error { return fmt.Errorf("no queue for %s", p.Reason) },
		Log:      slog.New(slog.DiscardHandler),
	}
	s := events.NewStringAttribute
	_, err := relay.Handle(context.Background(), events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{{
		EventName: "INSERT", Change: events.DynamoDBStreamRecord{SequenceNumber: "1", NewImage: map[string]events.DynamoDBAttributeValue{
			"order_key": s("pay_1"), "id": s("e1"), "source": s("shop.payments"), "detail_type": s("PaymentCaptured"),
			"time": s("2026-11-30T12:00:00Z"), "detail": s(`{"event_id":"e1","amount":1299}`),
		}},
	}}})
	if err != nil {
		panic(err)
	}
	// Output: PaymentCaptured {"event_id":"e1","amount":1299}
}
