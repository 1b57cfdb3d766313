package main

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/functions/internal/endpoint"
	"firstwriter/functions/internal/jsonbody"
	"firstwriter/functions/internal/provider"
	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
	"firstwriter/idempotency/outbox"
)

const (
	readBudget = 3 * time.Second // for the reads of one GET, retries included
	maxListed  = 100             // payments in one list
	maxList    = 2_500_000       // bytes of one list: in Lambda's response each may need an escape, and the limit is 6 MB
)

type (
	request  = endpoint.Request
	response = endpoint.Response
)

// The refusals of a read.
var (
	noPayment  = endpoint.NotFound("payment")
	unreadable = endpoint.StoreUnavailable("payments")
)

// api answers the requests of one function.
type api struct {
	payments table
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
	case "POST /payments":
		return a.create(ctx, tenant, e)
	case "GET /payments/{id}":
		return a.read(ctx, tenant, e.PathParameters["id"]), nil
	case "GET /payments":
		return a.list(ctx, tenant, e.RawQueryString), nil
	}
	return endpoint.Refuse(noPayment), nil
}

// create charges an order and makes the payment. It runs behind the guard: once for each key, and again only after an
// attempt that did not finish. The provider then sees the same key and answers with the charge that it has.
func (a *api) create(ctx context.Context, tenant string, e request) (response, error) {
	attempt := idempotency.AttemptFrom(ctx)
	if attempt == nil {
		return response{}, errors.New("payments: POST /payments must run behind the guard")
	}
	o, err := parseOrder(endpoint.Body(e))
	if err != nil {
		return endpoint.Refuse(endpoint.Invalid(err)), nil
	}
	charge, err := a.provider.Charge(ctx, attempt.DeriveKey("charge"), o.charge())
	if err != nil {
		provider.LogFailure(ctx, a.log, attempt, err)
		return endpoint.Refuse(provider.Problem(err)), nil
	}
	now := a.now()
	p := newPayment(paymentID(attempt, charge), o, charge, now)
	event, err := outbox.Event(attempt, a.outbox, paymentCaptured(tenant, p, now))
	if err != nil {
		return response{}, err
	}
	if err := dynamostore.Enlist(ctx, a.payments.put(tenant, p), event); err != nil {
		return response{}, err
	}
	if err := dynamostore.OnRefused(ctx, existing); err != nil {
		return response{}, err
	}
	return endpoint.Respond(created(p)), nil
}

// created is the answer to a payment that was made.
func created(p payment) *idempotency.Response {
	return endpoint.Created("/payments/"+p.ID, p.appendJSON(nil))
}

// paymentID names the payment after what was asked and what was charged, so that it is the same on every attempt. The
// charge is part of it for the day after the retention: a provider that still knows the key answers with the old
// charge, which is the old payment; one that has forgotten it charges again, and that must not look like the old one.
func paymentID(attempt *idempotency.Attempt, charge string) string {
	return "pay_" + attempt.DeriveKey("payment/"+charge)
}

// existing answers with the payment that the write met: the same charge, recorded under this key before the retention
// was over.
func existing(reasons []types.CancellationReason) *idempotency.Response {
	for _, reason := range reasons {
		if p, err := paymentOf(reason.Item); err == nil {
			return created(p)
		}
	}
	return nil
}

// read answers GET /payments/{id}. Another tenant's payment is not found.
func (a *api) read(ctx context.Context, tenant, id string) response {
	if !isPaymentID(id) {
		return endpoint.Refuse(noPayment)
	}
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	p, found, err := a.payments.get(ctx, tenant, id)
	switch {
	case err != nil:
		a.log.ErrorContext(ctx, "payment not read", "error", err)
		return endpoint.Refuse(unreadable)
	case !found:
		return endpoint.Refuse(noPayment)
	}
	return endpoint.OK(p.appendJSON(nil))
}

// list answers GET /payments?reference= with a JSON array, newest first. A payment made less than a second ago may be
// missing.
func (a *api) list(ctx context.Context, tenant, query string) response {
	reference, err := referenceOf(query)
	if err != nil {
		return endpoint.Refuse(endpoint.Invalid(err))
	}
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	body, err := listJSON(a.payments.referenced(ctx, tenant, reference))
	if err != nil {
		a.log.ErrorContext(ctx, "payments not listed", "error", err)
		return endpoint.Refuse(unreadable)
	}
	return endpoint.OK(body)
}

// listJSON is the JSON array of payments. It ends before it would pass maxListed payments or maxList bytes: the rest is
// older, and can be read one by one.
func listJSON(payments iter.Seq2[payment, error]) ([]byte, error) {
	list, listed := []byte{'['}, 0
	for p, err := range payments {
		if err != nil {
			return nil, err
		}
		end := len(list)
		if listed > 0 {
			list = append(list, ',')
		}
		list = p.appendJSON(list)
		if listed++; listed > maxListed || len(list) >= maxList {
			list = list[:end]
			break
		}
	}
	return append(list, ']'), nil
}

// validate is the guard's hook: what can never be charged is refused before it uses up a key.
func validate(_ context.Context, r *idempotency.Request) *idempotency.Response {
	if _, err := parseOrder(r.Body); err != nil {
		return endpoint.Invalid(err).Response()
	}
	return nil
}

// referenceOf reads the one parameter of the list. The raw query keeps apart what the gateway's parsed one joins.
func referenceOf(query string) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values["reference"]) != 1 {
		return "", jsonbody.Invalidf("The query must have one parameter reference, percent-encoded.")
	}
	return values["reference"][0], jsonbody.CheckReference(values["reference"][0])
}

// isPaymentID tells whether id has the form of paymentID's. Anything else is no payment, and may be too long to ask for.
func isPaymentID(id string) bool {
	key, found := strings.CutPrefix(id, "pay_")
	return found && len(key) == 43
}
