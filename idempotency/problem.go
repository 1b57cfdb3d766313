package idempotency

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Problem is an error answer as a problem document (RFC 9457). Handlers may use it for refusals of their own.
type Problem struct {
	Type       string        // URI of the kind of problem; "urn:problem-type:" and the code if empty
	Title      string        // the kind of problem, for people
	Status     int           // HTTP status
	Detail     string        // what is wrong with this request
	Code       string        // the kind of problem, for programs
	Retryable  bool          // may the same request be sent again unchanged?
	NewKey     bool          // can it do no harm to send it with another key?
	RetryAfter time.Duration // sent as whole seconds, rounded up; zero: no such header
}

const problemType = "application/problem+json"

// Response writes the problem as application/problem+json.
func (p Problem) Response() *Response {
	if p.Type == "" {
		p.Type = "urn:problem-type:" + p.Code
	}
	body, err := json.Marshal(struct {
		Type      string `json:"type"`
		Title     string `json:"title"`
		Status    int    `json:"status"`
		Detail    string `json:"detail,omitempty"`
		Code      string `json:"code"`
		Retryable bool   `json:"retryable"`
		NewKey    bool   `json:"new_key"`
	}{p.Type, p.Title, p.Status, p.Detail, p.Code, p.Retryable, p.NewKey})
	if err != nil {
		panic(fmt.Sprintf("idempotency: a problem of strings and numbers did not marshal: %v", err))
	}
	h := http.Header{"Content-Type": {problemType}}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((p.RetryAfter+time.Second-1)/time.Second), 10))
	}
	return &Response{Status: p.Status, Header: h, Body: body}
}

// The situations in which the guard answers instead of the handler.
var (
	keyMissing = Problem{Code: "key-missing", Status: http.StatusBadRequest, NewKey: true,
		Title:  "Idempotency key missing",
		Detail: "This endpoint needs an " + KeyHeader + " header: a new unique value for each operation, the same value for each retry of it."}
	keyInvalid = Problem{Code: "key-invalid", Status: http.StatusBadRequest, NewKey: true,
		Title: "Idempotency key malformed"}
	callerUnknown = Problem{Code: "caller-unknown", Status: http.StatusForbidden,
		Title: "Caller unknown", Detail: "The request's credentials do not say for whom it acts."}
	bodyTooLarge = Problem{Code: "body-too-large", Status: http.StatusRequestEntityTooLarge, NewKey: true,
		Title: "Request body too large"}
	replayForbidden = Problem{Code: "replay-forbidden", Status: http.StatusForbidden,
		Title: "Key belongs to another caller", Detail: "This idempotency key was first used by another caller."}
	keyReused = Problem{Code: "key-reused", Status: http.StatusUnprocessableEntity,
		Title:  "Idempotency key reused",
		Detail: "This idempotency key was first used with another request. Send that request again, or find out what became of it before this one gets a key of its own."}
	inProgress = Problem{Code: "in-progress", Status: http.StatusConflict, Retryable: true,
		Title: "Request in progress", Detail: "The first request with this idempotency key has not finished. Send this one again later, unchanged."}
	outcomeUnknown = Problem{Code: "outcome-unknown", Status: http.StatusConflict,
		Title: "Outcome unknown", Detail: "It is not known what became of an earlier request with this idempotency key. It will not run again until that is settled by the operator of this service."}
	outcomeUnanswered = Problem{Code: "outcome-unknown", Status: http.StatusServiceUnavailable, Retryable: true,
		Title: "Outcome unknown", Detail: "It is not known yet whether this request took effect. Send it again later, unchanged and with the same key, to learn it."}
	responseNotStored = Problem{Code: "response-not-stored", Status: http.StatusConflict,
		Title: "Response not stored", Detail: "The request with this idempotency key took effect, but its response was not kept. Find out by other means what it was."}
	storeUnavailable = Problem{Code: "store-unavailable", Status: http.StatusServiceUnavailable, Retryable: true,
		Title: "Idempotency store unavailable", Detail: "This request did not run, because it cannot be protected from running twice now. Send it again later, unchanged and with the same key."}
	failedUnguarded = Problem{Code: "handler-failed", Status: http.StatusInternalServerError,
		Title: "Request failed", Detail: "The request failed, and it is not known how far it came. It is not guarded by an idempotency key: sent again, it may take effect twice."}
	handlerFailed = Problem{Code: "handler-failed", Status: http.StatusInternalServerError, Retryable: true,
		Title: "Request failed", Detail: "The request failed, and it is not known how far it came. Send it again, unchanged and with the same key."}
)
