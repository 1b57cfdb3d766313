package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/jsonbody"
)

// orderTable is the table of the orders. An order's item comes and goes in the transaction that takes its pieces off the
// stock and gives them back: at every moment a product's stock and the quantities of its orders add up. So stock that an
// order holds is never lost from sight, even if its idempotency record is.
type orderTable struct {
	client *dynamodb.Client
	name   string
}

// reserve is the write of a new order. It is refused where the order exists, and then comes with it.
func (t orderTable) reserve(tenant string, o order) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName:                           aws.String(t.name),
		Item:                                itemOf(tenant, o),
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// confirm is the write that ends an order well. It is refused where the order is not reserved: whoever gave its pieces to
// somebody else must look what became of the charge.
func (t orderTable) confirm(tenant string, o order, charge string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                aws.String(t.name),
		Key:                      t.key(tenant, o.ID),
		UpdateExpression:         aws.String("SET #status = :confirmed, provider_charge = :charge"),
		ConditionExpression:      aws.String(isReserved),
		ExpressionAttributeNames: statusName,
		ExpressionAttributeValues: map[string]types.AttributeValue{":reserved": text(statusReserved),
			":confirmed": text(statusConfirmed), ":charge": text(charge)},
	}}
}

// drop is the write that takes a reservation back. A confirmed order stays.
func (t orderTable) drop(tenant, id string) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName:                 aws.String(t.name),
		Key:                       t.key(tenant, id),
		ConditionExpression:       aws.String(isReserved),
		ExpressionAttributeNames:  statusName,
		ExpressionAttributeValues: map[string]types.AttributeValue{":reserved": text(statusReserved)},
	}}
}

const isReserved = "#status = :reserved"

var statusName = map[string]string{"#status": "status"}

// get reads one order of a tenant, consistently: it is there as soon as its 201 was sent.
func (t orderTable) get(ctx context.Context, tenant, id string) (o order, found bool, err error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(t.name),
		Key:            t.key(tenant, id),
		ConsistentRead: aws.Bool(true),
	})
	switch {
	case err != nil:
		return order{}, false, fmt.Errorf("orders: read an order: %w", err)
	case out.Item == nil:
		return order{}, false, nil
	}
	o, err = orderOf(out.Item)
	return o, err == nil, err
}

func (t orderTable) key(tenant, id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": text(endpoint.TenantKey(tenant, id))}
}

// itemOf is an order as it is stored.
func itemOf(tenant string, o order) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk":         text(endpoint.TenantKey(tenant, o.ID)),
		"id":         text(o.ID),
		"sku":        text(o.SKU),
		"quantity":   number(o.Quantity),
		"amount":     number(o.Amount),
		"currency":   text(o.Currency),
		"status":     text(o.Status),
		"reference":  text(o.Reference),
		"created_at": text(o.CreatedAt),
	}
}

// orderOf reads a stored order; an item that lacks an attribute is an error, not an order with gaps.
func orderOf(item map[string]types.AttributeValue) (order, error) {
	var o order
	for name, field := range map[string]*string{"id": &o.ID, "sku": &o.SKU, "currency": &o.Currency,
		"status": &o.Status, "reference": &o.Reference, "created_at": &o.CreatedAt} {
		value, ok := item[name].(*types.AttributeValueMemberS)
		if !ok {
			return order{}, fmt.Errorf("orders: a stored order has no text in %s", name)
		}
		*field = value.Value
	}
	for name, field := range map[string]*int64{"quantity": &o.Quantity, "amount": &o.Amount} {
		value, ok := item[name].(*types.AttributeValueMemberN)
		if !ok {
			return order{}, fmt.Errorf("orders: a stored order has no number in %s", name)
		}
		if *field, ok = jsonbody.ParseWhole(value.Value); !ok {
			return order{}, fmt.Errorf("orders: a stored order has a wrong %s", name)
		}
	}
	return o, nil
}
