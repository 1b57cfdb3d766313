package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/provider"
	"firstwriter/idempotency"
)

const readBudget = 3 * time.Second // for the read of one GET, retries included

type (
	request  = endpoint.Request
	response = endpoint.Response
)

// The refusals of this endpoint's own. Others are the provider's, or the guard's.
var (
	noOrder    = endpoint.NotFound("order")
	unreadable = endpoint.StoreUnavailable("orders")
	unpriced   = endpoint.StoreUnavailable("prices")
	noProduct  = idempotency.Problem{Code: "not-found", Status: http.StatusNotFound, NewKey: true,
		Title: "Not found", Detail: "There is no such product."}
	outOfStock = idempotency.Problem{Code: "out-of-stock", Status: http.StatusConflict, NewKey: true,
		Title: "Out of stock", Detail: "There are not that many pieces. Nothing was ordered, and nothing was charged."}
)

// api answers the requests of one function.
type api struct {
	catalog  *catalog
	orders   orderTable
	outbox   string // table of the events to publish
	provider *provider.Client
	now      func() time.Time
	log      *slog.Logger
}

// handle routes a request.
func (a *api) handle(ctx context.Context, e request) (response, error) {
	tenant := endpoint.Tenant(e)
	if tenant == "" {
		return endpoint.Refuse(endpoint.CallerUnknown()), nil
	}
	switch e.RouteKey {
	case "POST /orders":
		return a.create(ctx, tenant, e)
	case "GET /orders/{id}":
		return a.read(ctx, tenant, e.PathParameters["id"]), nil
	}
	return endpoint.Refuse(noOrder), nil
}

// create makes an order of a purchase. It runs behind the guard: once for each key, and again only after an attempt that
// did not finish. That one's steps are not taken again: what they recorded comes back.
func (a *api) create(ctx context.Context, tenant string, e request) (response, error) {
	attempt := idempotency.AttemptFrom(ctx)
	if attempt == nil {
		return response{}, errors.New("orders: POST /orders must run behind the guard")
	}
	p, err := parsePurchase(endpoint.Body(e))
	if err != nil {
		return endpoint.Refuse(endpoint.Invalid(err)), nil
	}
	x := &ordering{api: a, tenant: tenant, id: orderID(attempt), purchase: p}
	o, err := x.reserve(ctx)
	switch {
	case errors.Is(err, errOutOfStock):
		return x.refuse(ctx)
	case err != nil:
		return a.notReserved(ctx, attempt, err)
	case o.Status == statusConfirmed:
		return created(o), nil
	}
	c, err := x.charge(ctx, o)
	if err != nil {
		return a.notCharged(ctx, attempt, err)
	}
	if c.Declined {
		attempt.Compensate()
		return endpoint.Refuse(provider.Problem(provider.ErrDeclined)), nil
	}
	if o, err = x.confirm(ctx, o, c); err != nil {
		return response{}, err
	}
	return created(o), nil
}

// orderID names the order after what was asked, so that it is the same on every attempt, and after the retention too.
func orderID(attempt *idempotency.Attempt) string { return "ord_" + attempt.DeriveKey("order") }

// created is the answer to an order that was made.
func created(o order) response {
	return endpoint.Respond(endpoint.Created("/orders/"+o.ID, o.appendJSON(nil)))
}

// notReserved answers where the product has gone, or cannot be read, since the request was validated. That is not final: no
// step was taken, so the claim is let go.
func (a *api) notReserved(ctx context.Context, attempt *idempotency.Attempt, err error) (response, error) {
	switch {
	case errors.Is(err, errNoProduct):
		attempt.Decide(idempotency.LetGo)
		return endpoint.Refuse(noProduct), nil
	case errors.Is(err, errNoPrice):
		a.log.ErrorContext(ctx, "price not read", "id", attempt.ID(), "error", err)
		return endpoint.Refuse(unpriced), nil
	}
	return response{}, err
}

// notCharged answers where it is not known whether the card is charged. The claim is let go, and the reservation stays with
// the steps: the next attempt asks the provider again, with the same key.
func (a *api) notCharged(ctx context.Context, attempt *idempotency.Attempt, err error) (response, error) {
	if !provider.Failed(err) {
		return response{}, err
	}
	provider.LogFailure(ctx, a.log, attempt, err)
	return endpoint.Refuse(provider.Problem(err)), nil
}

// read answers GET /orders/{id}. Another tenant's order is not found, nor is one that is not confirmed.
func (a *api) read(ctx context.Context, tenant, id string) response {
	if !isOrderID(id) {
		return endpoint.Refuse(noOrder)
	}
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	o, found, err := a.orders.get(ctx, tenant, id)
	switch {
	case err != nil:
		a.log.ErrorContext(ctx, "order not read", "error", err)
		return endpoint.Refuse(unreadable)
	case !found || o.Status != statusConfirmed:
		return endpoint.Refuse(noOrder)
	}
	return endpoint.OK(o.appendJSON(nil))
}

// isOrderID tells whether id has the form of orderID's. Anything else is no order, and may be too long to ask for.
func isOrderID(id string) bool {
	key, found := strings.CutPrefix(id, "ord_")
	return found && len(key) == 43
}

// validate is the guard's hook: what can never be ordered is refused before it uses up a key. Where the catalog cannot be
// read, the claim comes first, and the handler says so.
func (a *api) validate(ctx context.Context, r *idempotency.Request) *idempotency.Response {
	p, err := parsePurchase(r.Body)
	if err != nil {
		return endpoint.Invalid(err).Response()
	}
	if _, found, err := a.catalog.find(ctx, p.SKU); err == nil && !found {
		return noProduct.Response()
	}
	return nil
}
