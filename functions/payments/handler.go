package main

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"firstwriter/idempotency"
	"firstwriter/idempotency/dynamostore"
)

const (
	readBudget = 3 * time.Second // for the reads of one GET, retries included
	maxTenant  = 1024            // bytes; keys hold the tenant and must stay below DynamoDB's 2,048
	maxListed  = 100             // payments in one list
	maxList    = 2_500_000       // bytes of one list: in Lambda's response each may need an escape, and the limit is 6 MB
)

type (
	request  = events.APIGatewayV2HTTPRequest
	response = events.APIGatewayV2HTTPResponse
)

// api answers the requests of one function.
type api struct {
	payments table
	provider *provider
	now      func() time.Time
	log      *slog.Logger
}

// handle routes a request. The tenant comes from the token that the gateway has verified, and from nowhere else.
func (a *api) handle(ctx context.Context, e request) (response, error) {
	tenant := tenantOf(e)
	if tenant == "" {
		return problem(callerUnknown), nil
	}
	switch e.RouteKey {
	case "POST /payments":
		return a.create(ctx, tenant, e)
	case "GET /payments/{id}":
		return a.read(ctx, tenant, e.PathParameters["id"]), nil
	case "GET /payments":
		return a.list(ctx, tenant, e.RawQueryString), nil
	}
	return problem(notFound), nil
}

// create charges an order and makes the payment. It runs behind the guard: once for each key, and again only after an
// attempt that did not finish. The provider then sees the same key and answers with the charge that it has.
func (a *api) create(ctx context.Context, tenant string, e request) (response, error) {
	attempt := idempotency.AttemptFrom(ctx)
	if attempt == nil {
		return response{}, errors.New("payments: POST /payments must run behind the guard")
	}
	o, err := parseOrder(bodyOf(e))
	if err != nil {
		return problem(refusal(err)), nil
	}
	charge, err := a.provider.charge(ctx, attempt.DeriveKey("charge"), o)
	if err != nil {
		a.logCharge(ctx, attempt, err)
		return problem(chargeProblem(err)), nil
	}
	p := newPayment(paymentID(attempt, charge), o, charge, a.now())
	if err := dynamostore.Enlist(ctx, a.payments.put(tenant, p)); err != nil {
		return response{}, err
	}
	if err := dynamostore.OnRefused(ctx, existing); err != nil {
		return response{}, err
	}
	return created(p), nil
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
			return createdResponse(p)
		}
	}
	return nil
}

// read answers GET /payments/{id}. Another tenant's payment is not found.
func (a *api) read(ctx context.Context, tenant, id string) response {
	if !isPaymentID(id) {
		return problem(notFound)
	}
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	p, found, err := a.payments.get(ctx, tenant, id)
	switch {
	case err != nil:
		a.log.ErrorContext(ctx, "payment not read", "error", err)
		return problem(storeUnavailable)
	case !found:
		return problem(notFound)
	}
	return ok(p.appendJSON(nil))
}

// list answers GET /payments?reference= with a JSON array, newest first. A payment made less than a second ago may be
// missing.
func (a *api) list(ctx context.Context, tenant, query string) response {
	reference, err := referenceOf(query)
	if err != nil {
		return problem(refusal(err))
	}
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	body, err := listJSON(a.payments.referenced(ctx, tenant, reference))
	if err != nil {
		a.log.ErrorContext(ctx, "payments not listed", "error", err)
		return problem(storeUnavailable)
	}
	return ok(body)
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

// logCharge tells the operator of a charge that failed. What the provider's answer may mean for money is an error.
func (a *api) logCharge(ctx context.Context, attempt *idempotency.Attempt, err error) {
	level := slog.LevelWarn
	if errors.Is(err, errDeclined) {
		level = slog.LevelInfo
	} else if errors.Is(err, errUnclear) {
		level = slog.LevelError
	}
	a.log.Log(ctx, level, "charge failed", "id", attempt.ID(), "epoch", attempt.Epoch(), "error", err)
}

// validate is the guard's hook: what can never be charged is refused before it uses up a key.
func validate(_ context.Context, r *idempotency.Request) *idempotency.Response {
	if _, err := parseOrder(r.Body); err != nil {
		return refusal(err).Response()
	}
	return nil
}

// tenantOf is the caller's tenant, "" where the token names none that keys can hold.
func tenantOf(e request) string {
	authorizer := e.RequestContext.Authorizer
	if authorizer == nil || authorizer.JWT == nil || len(authorizer.JWT.Claims["tenant_id"]) > maxTenant {
		return ""
	}
	return authorizer.JWT.Claims["tenant_id"]
}

// referenceOf reads the one parameter of the list. The raw query keeps apart what the gateway's parsed one joins.
func referenceOf(query string) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values["reference"]) != 1 {
		return "", invalidf("The query must have one parameter reference, percent-encoded.")
	}
	return values["reference"][0], checkReference(values["reference"][0])
}

// isPaymentID tells whether id has the form of paymentID's. Anything else is no payment, and may be too long to ask for.
func isPaymentID(id string) bool {
	key, found := strings.CutPrefix(id, "pay_")
	return found && len(key) == 43
}

// bodyOf decodes the body. What is marked as base64 and is not becomes an empty body, which is refused.
func bodyOf(e request) []byte {
	if !e.IsBase64Encoded {
		return []byte(e.Body)
	}
	body, err := base64.StdEncoding.DecodeString(e.Body)
	if err != nil {
		return nil
	}
	return body
}
