package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"firstwriter/idempotency"
)

// What the client hears of a charge that failed. NewKey is set where it is certain that nothing was charged and that the
// refusal is final.
var (
	cardDeclined = idempotency.Problem{Code: "card-declined", Status: http.StatusPaymentRequired, NewKey: true,
		Title: "Card declined", Detail: "The payment provider declined the charge. Nothing was charged."}
	busy = idempotency.Problem{Code: "provider-busy", Status: http.StatusTooManyRequests, Retryable: true,
		RetryAfter: 2 * time.Second, Title: "Payment provider busy",
		Detail: "The payment provider takes no more requests now. Send this one again later, unchanged and with the same key."}
	unavailable = idempotency.Problem{Code: "provider-unavailable", Status: http.StatusServiceUnavailable, Retryable: true,
		RetryAfter: time.Second, Title: "Payment provider unavailable",
		Detail: "It is not known whether the card was charged. Send the request again later, unchanged and with the same key: it is charged once."}
)

// Failed reports whether an error is a failed charge's: one of this package's.
func Failed(err error) bool {
	return errors.Is(err, ErrDeclined) || errors.Is(err, ErrBusy) || errors.Is(err, ErrUnclear) || errors.Is(err, ErrUnavailable)
}

// Problem is what the client hears of a charge that [Failed]. Only a decline is recorded, by its status.
func Problem(err error) idempotency.Problem {
	switch {
	case errors.Is(err, ErrDeclined):
		return cardDeclined
	case errors.Is(err, ErrBusy):
		return busy
	case errors.Is(err, ErrUnclear):
		p := unavailable
		p.Status = http.StatusBadGateway
		return p
	case errors.Is(err, ErrUnavailable):
		return unavailable
	}
	panic(fmt.Sprintf("provider: a charge failed with %T, which is no failure of a charge", err))
}

// LogFailure tells the operator of a charge that failed. What the provider's answer may mean for money is an error.
func LogFailure(ctx context.Context, log *slog.Logger, attempt *idempotency.Attempt, err error) {
	level := slog.LevelWarn
	if errors.Is(err, ErrDeclined) {
		level = slog.LevelInfo
	} else if errors.Is(err, ErrUnclear) {
		level = slog.LevelError
	}
	log.Log(ctx, level, "charge failed", "id", attempt.ID(), "epoch", attempt.Epoch(), "error", err)
}
