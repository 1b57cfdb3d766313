package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/jsonbody"
)

// product is what one piece costs. How many there are is known in the table alone, at the time of a write.
type product struct {
	Price    int64  // minor units of Currency, 1 to maxPrice
	Currency string // ISO 4217
}

// maxPrice is what the largest order can multiply without passing what the provider takes.
const maxPrice = jsonbody.MaxWhole / maxQuantity

// stockTable is the table of the products, one item each: sku, price, currency and stock, the pieces that nobody has
// reserved. Stock changes only together with an order's item: see orderTable.
type stockTable struct {
	client *dynamodb.Client
	name   string
}

// price reads what a product costs. A price that is a moment old will do, so the read costs half.
func (t stockTable) price(ctx context.Context, sku string) (p product, found bool, err error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:                aws.String(t.name),
		Key:                      t.key(sku),
		ProjectionExpression:     aws.String("price, #currency"),
		ExpressionAttributeNames: map[string]string{"#currency": "currency"},
	})
	switch {
	case err != nil:
		return product{}, false, fmt.Errorf("orders: read a price: %w", err)
	case out.Item == nil:
		return product{}, false, nil
	}
	p, err = productOf(out.Item)
	return p, err == nil, err
}

func productOf(item map[string]types.AttributeValue) (product, error) {
	price, _ := item["price"].(*types.AttributeValueMemberN)
	currency, _ := item["currency"].(*types.AttributeValueMemberS)
	if price == nil || currency == nil {
		return product{}, fmt.Errorf("orders: a product has no number in price, or no text in currency")
	}
	amount, ok := jsonbody.ParseWhole(price.Value)
	if !ok || amount > maxPrice {
		return product{}, fmt.Errorf("orders: a product's price is no whole number from 1 to %d", int64(maxPrice))
	}
	return product{Price: amount, Currency: currency.Value}, nil
}

// take is the write that reserves pieces. It is refused where there are not that many.
func (t stockTable) take(sku string, quantity int64) types.TransactWriteItem {
	return t.change(sku, "SET stock = stock - :q", "stock >= :q", quantity)
}

// giveBack is the write that ends a reservation. It is refused where the product has gone, since what came back to nothing
// would be lost: then somebody must look.
func (t stockTable) giveBack(sku string, quantity int64) types.TransactWriteItem {
	return t.change(sku, "SET stock = stock + :q", "attribute_exists(sku)", quantity)
}

// short is the check that there are still fewer pieces than that.
func (t stockTable) short(sku string, quantity int64) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                 aws.String(t.name),
		Key:                       t.key(sku),
		ConditionExpression:       aws.String("attribute_not_exists(sku) OR stock < :q"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":q": number(quantity)},
	}}
}

func (t stockTable) change(sku, update, condition string, quantity int64) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                 aws.String(t.name),
		Key:                       t.key(sku),
		UpdateExpression:          aws.String(update),
		ConditionExpression:       aws.String(condition),
		ExpressionAttributeValues: map[string]types.AttributeValue{":q": number(quantity)},
	}}
}

func (t stockTable) key(sku string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"sku": text(sku)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
