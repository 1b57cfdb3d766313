package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	chargeTimeout = 8 * time.Second // of a charge, its secret included; the context may end earlier
	maxAnswer     = 64 * 1024       // bytes of the provider's answer
	maxChargeID   = 255             // characters
)

// What a charge can fail with. Only errDeclined is the provider's last word; after any other the same downstream key
// asks again, and a charge that was made unseen comes back.
var (
	errDeclined    = errors.New("the card is declined")
	errBusy        = errors.New("the provider is busy")
	errUnavailable = errors.New("the provider cannot answer now")
	errUnclear     = errors.New("the provider's answer cannot be used")
)

// provider is the client of the payment provider.
type provider struct {
	http    *http.Client
	charges string // URL that charges are posted to
	secret  *secret
}

// newProvider makes a client for the provider at a base URL without a trailing slash.
func newProvider(baseURL string, s *secret) *provider {
	return &provider{http: newHTTPClient(), charges: baseURL + "/charges", secret: s}
}

// newHTTPClient makes an HTTP client of the provider's own: short dials, few connections, kept alive between requests.
// It follows no redirect, which would send the secret to wherever it points.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
			TLSHandshakeTimeout: 2 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// charge takes the money for an order and returns the provider's id of the charge. The key makes it safe to repeat: the
// provider answers a known key with what it did the first time. It is one call; net/http may resend it, with the same
// key, when a kept connection turns out to be closed. An error matches one of those above.
func (p *provider) charge(ctx context.Context, key string, o order) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, chargeTimeout)
	defer cancel()
	secret, err := p.secret.get(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnavailable, err)
	}
	status, answer, err := p.post(ctx, secret, key, chargeBody(o))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnavailable, err)
	}
	if status == http.StatusUnauthorized {
		p.secret.reject(secret)
	}
	return readAnswer(status, answer, o)
}

// post sends one charge and reads the whole answer, cut off one byte after maxAnswer.
func (p *provider) post(ctx context.Context, secret, key string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.charges, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("Content-Type", "application/json")
	res, err := p.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	return res.StatusCode, answer, err
}

// chargeBody is the request for an order. It is built from the parsed order, so that every spelling of one order is the
// same request to the provider, which refuses a known key with another body.
func chargeBody(o order) []byte {
	b := append([]byte(nil), `{"amount":`...)
	b = strconv.AppendInt(b, o.Amount, 10)
	b = appendMember(append(b, ','), "currency", o.Currency)
	b = appendMember(append(b, ','), "source", o.Source)
	b = appendMember(append(b, ','), "reference", o.Reference)
	return append(b, '}')
}

// readAnswer decides what an answer of the provider means for the charge of an order.
func readAnswer(status int, answer []byte, o order) (string, error) {
	switch {
	case status == http.StatusCreated:
		return readCharge(answer, o)
	case status == http.StatusPaymentRequired:
		return "", errDeclined
	case status == http.StatusTooManyRequests:
		return "", errBusy
	case status == http.StatusConflict:
		return "", fmt.Errorf("%w: it still works on this key (409)", errUnavailable)
	case status >= 500:
		return "", fmt.Errorf("%w: status %d", errUnavailable, status)
	}
	return "", fmt.Errorf("%w: status %d", errUnclear, status) // 401 and 422 among them: something here is wrong
}

// readCharge reads the charge out of a 201. It must be the charge that was asked for: a mistake here is money.
func readCharge(answer []byte, o order) (string, error) {
	var c struct {
		ID       string          `json:"id"`
		Status   string          `json:"status"`
		Amount   json.RawMessage `json:"amount"`
		Currency string          `json:"currency"`
	}
	if len(answer) > maxAnswer {
		return "", fmt.Errorf("%w: it is longer than %d bytes", errUnclear, maxAnswer)
	}
	if json.Unmarshal(answer, &c) != nil {
		return "", fmt.Errorf("%w: it is not the JSON of a charge", errUnclear)
	}
	amount, ok := parseAmount(string(c.Amount))
	switch {
	case c.ID == "" || len(c.ID) > maxChargeID:
		return "", fmt.Errorf("%w: the charge's id is empty or longer than %d", errUnclear, maxChargeID)
	case c.Status != statusCaptured:
		return "", fmt.Errorf("%w: charge %q is not captured", errUnclear, c.ID)
	case !ok || amount != o.Amount || c.Currency != o.Currency:
		return "", fmt.Errorf("%w: charge %q is of another amount or currency", errUnclear, c.ID)
	}
	return c.ID, nil
}
