package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"firstwriter/idempotency"
)

// The refusals of this endpoint's own; the guard has others. NewKey is set where it is certain that nothing was charged
// and that the refusal is final.
var (
	invalidRequest = idempotency.Problem{Code: "invalid-request", Status: http.StatusBadRequest, NewKey: true,
		Title: "Invalid request"}
	callerUnknown = idempotency.Problem{Code: "caller-unknown", Status: http.StatusForbidden,
		Title: "Caller unknown", Detail: "The request's credentials name no tenant, or one that is too long."}
	notFound = idempotency.Problem{Code: "not-found", Status: http.StatusNotFound,
		Title: "Not found", Detail: "There is no such payment."}
	cardDeclined = idempotency.Problem{Code: "card-declined", Status: http.StatusPaymentRequired, NewKey: true,
		Title: "Card declined", Detail: "The payment provider declined the charge. Nothing was charged."}
	providerBusy = idempotency.Problem{Code: "provider-busy", Status: http.StatusTooManyRequests, Retryable: true,
		RetryAfter: 2 * time.Second, Title: "Payment provider busy",
		Detail: "The payment provider takes no more requests now. Send this one again later, unchanged and with the same key."}
	providerUnavailable = idempotency.Problem{Code: "provider-unavailable", Status: http.StatusServiceUnavailable, Retryable: true,
		RetryAfter: time.Second, Title: "Payment provider unavailable",
		Detail: "It is not known whether the card was charged. Send the request again later, unchanged and with the same key: it is charged once."}
	storeUnavailable = idempotency.Problem{Code: "store-unavailable", Status: http.StatusServiceUnavailable, Retryable: true,
		RetryAfter: time.Second, Title: "Payment store unavailable",
		Detail: "The payments cannot be read now. Send the request again later."}
)

// refusal is the problem document for input that breaks a rule.
func refusal(err error) idempotency.Problem {
	p := invalidRequest
	p.Detail = err.Error() // an invalidError: words for the client
	return p
}

// chargeProblem is what the client hears of a charge that failed. Only a decline is recorded, by its status.
func chargeProblem(err error) idempotency.Problem {
	switch {
	case errors.Is(err, errDeclined):
		return cardDeclined
	case errors.Is(err, errBusy):
		return providerBusy
	case errors.Is(err, errUnclear):
		p := providerUnavailable
		p.Status = http.StatusBadGateway
		return p
	case errors.Is(err, errUnavailable):
		return providerUnavailable
	}
	panic(fmt.Sprintf("payments: a charge failed with %T, which is no failure of a charge", err))
}
