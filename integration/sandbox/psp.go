package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// psp is the fake payment provider. It keeps its promise about Idempotency-Key as the public ones do, and misbehaves
// where a test token asks for it.
//
//	POST /charges {"amount":1299,"currency":"EUR","source":"tok_ok","reference":"order-42"}
type psp struct {
	secret   string // the API key that callers must show
	ledger   *ledger
	requests atomic.Int64
	stop     context.Context // ends the waits of slow tokens
}

// chargeRequest is the body of POST /charges. Two requests with one key must be equal in all of it.
type chargeRequest struct {
	Amount    int64  `json:"amount"` // minor units, over zero
	Currency  string `json:"currency"`
	Source    string `json:"source"`
	Reference string `json:"reference"`
}

func (p *psp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/charges" {
		http.NotFound(w, r)
		return
	}
	p.requests.Add(1)
	if r.Header.Get("Authorization") != "Bearer "+p.secret {
		problem(w, http.StatusUnauthorized, "unauthorized")
		return
	}
	key, req, err := readCharge(r)
	if err != nil {
		problem(w, http.StatusBadRequest, "bad_request")
		return
	}
	p.charge(w, key, req)
}

// charge answers from the ledger, or acts as the token says. The work goes on when the caller goes away: the server
// does not stop a handler for that.
func (p *psp) charge(w http.ResponseWriter, key string, req chargeRequest) {
	known, attempt := p.ledger.begin(key, req)
	if known != nil {
		writeJSON(w, known.Status, known.Body)
		return
	}
	defer p.ledger.end(key)
	plan := planFor(req.Source, attempt)
	if !p.wait(plan.before) {
		panic(http.ErrAbortHandler) // closes the connection without an answer
	}
	switch {
	case plan.refuse != 0:
		problem(w, plan.refuse, plan.code)
		return
	case plan.declined:
		known = p.ledger.decline(key)
	default:
		known = p.ledger.charge(key, time.Now())
	}
	if plan.drop || !p.wait(plan.after) {
		panic(http.ErrAbortHandler)
	}
	writeJSON(w, known.Status, known.Body)
}

// wait reports whether the time has passed, and not the provider been stopped.
func (p *psp) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.stop.Done():
		return false
	}
}

// plan is what a test token makes the provider do.
type plan struct {
	before, after time.Duration // waits before and after the charge
	declined      bool
	refuse        int // a status without a charge that is not remembered; 0: none
	code          string
	drop          bool // charge, and never answer
}

// maxSlow is the longest wait that a token can ask for.
const maxSlow = 10 * time.Minute

var slowToken = regexp.MustCompile(`^tok_slow_(after_)?([0-9]{1,6})$`)

// planFor reads a token; attempt counts the requests with one key from 1. An unknown token is a decline.
func planFor(source string, attempt int) plan {
	if m := slowToken.FindStringSubmatch(source); m != nil {
		ms, _ := strconv.Atoi(m[2]) // six digits at most
		d := min(time.Duration(ms)*time.Millisecond, maxSlow)
		if m[1] != "" {
			return plan{after: d}
		}
		return plan{before: d}
	}
	first := attempt == 1
	switch {
	case source == "tok_ok":
		return plan{}
	case source == "tok_lost":
		return plan{drop: first}
	case source == "tok_flaky" && first:
		return plan{refuse: http.StatusInternalServerError, code: "internal"}
	case source == "tok_busy" && first:
		return plan{refuse: http.StatusTooManyRequests, code: "busy"}
	case source == "tok_flaky", source == "tok_busy":
		return plan{}
	}
	return plan{declined: true}
}

// readCharge reads the key, bare or quoted, and the body.
func readCharge(r *http.Request) (key string, req chargeRequest, err error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) != 1 {
		return "", req, errors.New("one Idempotency-Key is needed")
	}
	key = keys[0]
	if inner, ok := strings.CutPrefix(key, `"`); ok {
		key, ok = strings.CutSuffix(inner, `"`)
		if !ok {
			return "", req, errors.New("unterminated key")
		}
	}
	dec := json.NewDecoder(io.LimitReader(r.Body, 64<<10))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		return "", req, err
	}
	if key == "" || req.Amount <= 0 || req.Currency == "" || req.Source == "" || req.Reference == "" {
		return "", req, errors.New("something is missing")
	}
	return key, req, nil
}

func problem(w http.ResponseWriter, status int, code string) {
	writeJSON(w, status, codeBody(code))
}

func codeBody(code string) json.RawMessage {
	return json.RawMessage(`{"code":"` + code + `"}`)
}

// writeJSON answers with a value as JSON.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
