package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/provider"
	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/idempotency/outbox"
)

// The steps of an order. What each one writes, and what keeps a process that has lost its claim from writing it:
//
//	reserve  the order's item and the stock, in one transaction with the step's checkpoint
//	charge   the charge at the provider, under a key that is the same on every attempt; then its checkpoint
//	confirm  the order's item and the event, in one transaction with the response
//	refuse   nothing; the response, in one transaction with a check of the stock
//	undo     the stock and the order's item, in one transaction with the undo's checkpoint
//
// Checkpoint and response are refused to whoever has lost the claim, and the rest of the transaction with them.

// Why an order cannot be reserved.
var (
	errNoProduct  = errors.New("orders: there is no such product")
	errNoPrice    = errors.New("orders: the price cannot be read")
	errOutOfStock = errors.New("orders: there are not enough pieces")
)

// ordering is a purchase of a tenant on its way to an order.
type ordering struct {
	*api
	tenant string
	id     string // of the order
	purchase
	there *order // met in place of the reservation: of the same request, from before its record was forgotten
}

// reserve takes the pieces off the stock and fixes the price. The order that it returns is reserved; or confirmed, where
// it was made under this key already and only the record of that has been forgotten, after the retention. A reservation
// from that time is carried on.
func (x *ordering) reserve(ctx context.Context) (order, error) {
	r, err := x.reserveStep(ctx)
	switch {
	case x.there == nil:
	case x.there.Status == statusConfirmed:
		return *x.there, nil
	default:
		r, err = x.reserveStep(ctx)
	}
	return x.reserved(x.id, r), err
}

func (x *ordering) reserveStep(ctx context.Context) (reservation, error) {
	short := false
	r, err := idempotency.Step(ctx, "reserve", func(ctx context.Context, _ *idempotency.StepRun) (reservation, error) {
		if x.there != nil {
			return reservation{Amount: x.there.Amount, Currency: x.there.Currency, At: x.there.CreatedAt}, nil
		}
		r, err := x.price(ctx)
		if err != nil {
			return r, err
		}
		if err := dynamostore.OnRefused(ctx, func(reasons []types.CancellationReason) *idempotency.Response {
			short = !x.meet(reasons)
			return nil
		}); err != nil {
			return r, err
		}
		return r, dynamostore.Enlist(ctx, x.orders.reserve(x.tenant, x.reserved(x.id, r)), x.catalog.stock.take(x.SKU, x.Quantity))
	}, idempotency.Undo(func(ctx context.Context, _ *idempotency.StepRun, _ reservation) error {
		return dynamostore.Enlist(ctx, x.orders.drop(x.tenant, x.id), x.catalog.stock.giveBack(x.SKU, x.Quantity))
	}))
	if short {
		err = errOutOfStock
	}
	return r, err
}

// refuse answers that there are not enough pieces. It is committed with the check that this is still so: a final answer that
// could not be recorded must not be given, since pieces may come back for the next attempt. Where they have come back
// already, the request fails, to be sent again.
func (x *ordering) refuse(ctx context.Context) (response, error) {
	return endpoint.Refuse(outOfStock), dynamostore.Enlist(ctx, x.catalog.stock.short(x.SKU, x.Quantity))
}

// price fixes what the order costs.
func (x *ordering) price(ctx context.Context) (reservation, error) {
	p, found, err := x.catalog.find(ctx, x.SKU)
	switch {
	case err != nil:
		return reservation{}, fmt.Errorf("%w: %w", errNoPrice, err)
	case !found:
		return reservation{}, errNoProduct
	}
	return reservation{Amount: p.Price * x.Quantity, Currency: p.Currency, At: endpoint.Timestamp(x.now())}, nil
}

// meet looks for the order that exists already in the reasons why it was not reserved.
func (x *ordering) meet(reasons []types.CancellationReason) bool {
	for _, reason := range reasons {
		if o, err := orderOf(reason.Item); err == nil {
			x.there = &o
			return true
		}
	}
	return false
}

// charged is what the step "charge" records. A decline is a result, so that it is the same on every attempt.
type charged struct {
	ID       string `json:"id,omitempty"` // the provider's
	Declined bool   `json:"declined,omitempty"`
}

// charge takes the money for a reserved order. Its errors are the provider's, or the step's own.
func (x *ordering) charge(ctx context.Context, o order) (charged, error) {
	return idempotency.Step(ctx, "charge", func(ctx context.Context, s *idempotency.StepRun) (charged, error) {
		id, err := x.provider.Charge(ctx, s.Key(), provider.Charge{
			Amount: o.Amount, Currency: o.Currency, Source: x.Source, Reference: o.Reference})
		if errors.Is(err, provider.ErrDeclined) {
			return charged{Declined: true}, nil
		}
		return charged{ID: id}, err
	})
}

// confirm enlists what is committed with the response.
func (x *ordering) confirm(ctx context.Context, o order, c charged) (order, error) {
	o.Status = statusConfirmed
	event, err := outbox.Event(idempotency.AttemptFrom(ctx), x.outbox, orderConfirmed(x.tenant, o, x.now()))
	if err != nil {
		return o, err
	}
	return o, dynamostore.Enlist(ctx, x.orders.confirm(x.tenant, o, c.ID), event)
}
