// Package provider is the client of the payment provider, and of the secret that it is called with.
package provider

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

	"firstwriter/functions/internal/jsonbody"
)

const (
	chargeTimeout = 8 * time.Second // of a charge, its secret included; the context may end earlier
	maxAnswer     = 64 * 1024       // bytes of the provider's answer
	maxChargeID   = 255             // characters
)

// What a charge can fail with. Only ErrDeclined is the provider's last word; after any other the same downstream key
// asks again, and a charge that was made unseen comes back.
var (
	ErrDeclined    = errors.New("the card is declined")
	ErrBusy        = errors.New("the provider is busy")
	ErrUnavailable = errors.New("the provider cannot answer now")
	ErrUnclear     = errors.New("the provider's answer cannot be used")
)

// Charge is what the provider is asked to take.
type Charge struct {
	Amount    int64  // minor units of Currency, from 1 on
	Currency  string // ISO 4217
	Source    string // the provider's token of the card
	Reference string // the client's own name for what is paid
}

// Client calls the payment provider.
type Client struct {
	http    *http.Client
	charges string // URL that charges are posted to
	secret  *Secret
}

// New makes a client for the provider at a base URL without a trailing slash.
func New(baseURL string, s *Secret) *Client {
	return &Client{http: newHTTPClient(), charges: baseURL + "/charges", secret: s}
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

// Charge takes the money and returns the provider's id of the charge. The key makes it safe to repeat: the provider
// answers a known key with what it did the first time. It is one call; net/http may resend it, with the same
// key, when a kept connection turns out to be closed. An error matches one of those above.
func (c *Client) Charge(ctx context.Context, key string, wanted Charge) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, chargeTimeout)
	defer cancel()
	secret, err := c.secret.get(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	status, answer, err := c.post(ctx, secret, key, chargeBody(wanted))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if status == http.StatusUnauthorized {
		c.secret.reject(secret)
	}
	return readAnswer(status, answer, wanted)
}

// post sends one charge and reads the whole answer, cut off one byte after maxAnswer.
func (c *Client) post(ctx context.Context, secret, key string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.charges, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	return res.StatusCode, answer, err
}

// chargeBody is the request for a charge. It is built from parsed values, so that every spelling of one order is the same
// request to the provider, which refuses a known key with another body.
func chargeBody(c Charge) []byte {
	b := append([]byte(nil), `{"amount":`...)
	b = strconv.AppendInt(b, c.Amount, 10)
	b = jsonbody.AppendMember(append(b, ','), "currency", c.Currency)
	b = jsonbody.AppendMember(append(b, ','), "source", c.Source)
	b = jsonbody.AppendMember(append(b, ','), "reference", c.Reference)
	return append(b, '}')
}

// readAnswer decides what an answer of the provider means for the charge that was wanted.
func readAnswer(status int, answer []byte, wanted Charge) (string, error) {
	switch {
	case status == http.StatusCreated:
		return readCharge(answer, wanted)
	case status == http.StatusPaymentRequired:
		return "", ErrDeclined
	case status == http.StatusTooManyRequests:
		return "", ErrBusy
	case status == http.StatusConflict:
		return "", fmt.Errorf("%w: it still works on this key (409)", ErrUnavailable)
	case status >= 500:
		return "", fmt.Errorf("%w: status %d", ErrUnavailable, status)
	}
	return "", fmt.Errorf("%w: status %d", ErrUnclear, status) // 401 and 422 among them: something here is wrong
}

// readCharge reads the charge out of a 201. It must be the charge that was asked for: a mistake here is money.
func readCharge(answer []byte, wanted Charge) (string, error) {
	var c struct {
		ID       string          `json:"id"`
		Status   string          `json:"status"`
		Amount   json.RawMessage `json:"amount"`
		Currency string          `json:"currency"`
	}
	if len(answer) > maxAnswer {
		return "", fmt.Errorf("%w: it is longer than %d bytes", ErrUnclear, maxAnswer)
	}
	if json.Unmarshal(answer, &c) != nil {
		return "", fmt.Errorf("%w: it is not the JSON of a charge", ErrUnclear)
	}
	amount, ok := jsonbody.ParseWhole(string(c.Amount))
	switch {
	case c.ID == "" || len(c.ID) > maxChargeID:
		return "", fmt.Errorf("%w: the charge's id is empty or longer than %d", ErrUnclear, maxChargeID)
	case c.Status != "captured":
		return "", fmt.Errorf("%w: charge %q is not captured", ErrUnclear, c.ID)
	case !ok || amount != wanted.Amount || c.Currency != wanted.Currency:
		return "", fmt.Errorf("%w: charge %q is of another amount or currency", ErrUnclear, c.ID)
	}
	return c.ID, nil
}
