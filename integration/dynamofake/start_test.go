package dynamofake

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestStart has a hundred servers at once, each with its own data.
func TestStart(t *testing.T) {
	for i := range 100 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			_, client := Start(t)
			create := &dynamodb.CreateTableInput{
				TableName: aws.String("tab"), BillingMode: types.BillingModePayPerRequest,
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
			}
			if _, err := client.CreateTable(t.Context(), create); err != nil {
				t.Fatal(err)
			}
			waiter := dynamodb.NewTableExistsWaiter(client)
			if err := waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: create.TableName}, time.Second); err != nil {
				t.Error(err)
			}
			_, err := client.CreateTable(t.Context(), create)
			var inUse *types.ResourceInUseException
			if !errors.As(err, &inUse) {
				t.Errorf("the second CreateTable: %v", err)
			}
		})
	}
}

// Reasons of a cancellation come through the SDK with their items.
func TestSDKReasons(t *testing.T) {
	s, client := Start(t)
	createTable(t, s, "tab", "")
	put(t, s, "tab", "a", "")
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}
	_, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("tab"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "b"}}}},
		{ConditionCheck: &types.ConditionCheck{TableName: aws.String("tab"), Key: key, ConditionExpression: aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}},
	}})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) || len(canceled.CancellationReasons) != 2 {
		t.Fatalf("got %v", err)
	}
	if r := canceled.CancellationReasons; aws.ToString(r[0].Code) != "None" || aws.ToString(r[1].Code) != "ConditionalCheckFailed" || len(r[1].Item) != 1 {
		t.Errorf("got %+v", r)
	}
}
