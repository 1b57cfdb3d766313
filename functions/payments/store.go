package main

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/jsonbody"
)

// byReference is the table's index: tenant_reference, then created_at. Index reads are eventually consistent.
const byReference = "by-reference"

// table is the payments table. It is written only inside the guard's transaction.
type table struct {
	client *dynamodb.Client
	name   string
}

// put is the write of a new payment. It is refused where the payment exists, and then comes with the one that does.
func (t table) put(tenant string, p payment) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName:                           aws.String(t.name),
		Item:                                itemOf(tenant, p),
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// get reads one payment of a tenant, consistently: it is there as soon as its 201 was sent.
func (t table) get(ctx context.Context, tenant, id string) (p payment, found bool, err error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(t.name),
		Key:            map[string]types.AttributeValue{"pk": text(endpoint.TenantKey(tenant, id))},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return payment{}, false, fmt.Errorf("payments: read a payment: %w", err)
	}
	if out.Item == nil {
		return payment{}, false, nil
	}
	p, err = paymentOf(out.Item)
	return p, err == nil, err
}

// referenced yields the payments of a tenant that have a reference, newest first, page by page as they are asked for.
// It ends after the first error.
func (t table) referenced(ctx context.Context, tenant, reference string) iter.Seq2[payment, error] {
	pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
		TableName:                 aws.String(t.name),
		IndexName:                 aws.String(byReference),
		KeyConditionExpression:    aws.String("tenant_reference = :tr"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":tr": text(endpoint.TenantKey(tenant, reference))},
		ScanIndexForward:          aws.Bool(false),
	})
	return func(yield func(payment, error) bool) {
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(payment{}, fmt.Errorf("payments: query by reference: %w", err))
				return
			}
			for _, item := range page.Items {
				if p, err := paymentOf(item); !yield(p, err) || err != nil {
					return
				}
			}
		}
	}
}

// itemOf is a payment as it is stored.
func itemOf(tenant string, p payment) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		"pk":               text(endpoint.TenantKey(tenant, p.ID)),
		"tenant_reference": text(endpoint.TenantKey(tenant, p.Reference)),
		"id":               text(p.ID),
		"amount":           &types.AttributeValueMemberN{Value: strconv.FormatInt(p.Amount, 10)},
		"currency":         text(p.Currency),
		"status":           text(p.Status),
		"reference":        text(p.Reference),
		"created_at":       text(p.CreatedAt),
		"provider_charge":  text(p.Charge),
	}
	if p.Metadata != "" {
		item["metadata"] = text(p.Metadata)
	}
	return item
}

// paymentOf reads a stored payment; an item that lacks a needed attribute is an error, not a payment with gaps.
func paymentOf(item map[string]types.AttributeValue) (payment, error) {
	var p payment
	for name, field := range map[string]*string{
		"id": &p.ID, "currency": &p.Currency, "status": &p.Status, "reference": &p.Reference,
		"created_at": &p.CreatedAt, "provider_charge": &p.Charge,
	} {
		value, ok := item[name].(*types.AttributeValueMemberS)
		if !ok {
			return payment{}, fmt.Errorf("payments: a stored payment has no text in %s", name)
		}
		*field = value.Value
	}
	amount, ok := item["amount"].(*types.AttributeValueMemberN)
	if !ok {
		return payment{}, fmt.Errorf("payments: a stored payment has no number in amount")
	}
	if p.Amount, ok = jsonbody.ParseWhole(amount.Value); !ok {
		return payment{}, fmt.Errorf("payments: a stored payment has a wrong amount")
	}
	if metadata, ok := item["metadata"].(*types.AttributeValueMemberS); ok {
		p.Metadata = metadata.Value
	}
	return p, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
