package httpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"firstwriter/idempotency"
)

// maxProblem is how many bytes of a problem document are looked at.
const maxProblem = 64 << 10

// problem is what a problem document says.
type problem struct {
	idempotency.Problem
	says bool // whether the same request may be sent again
}

var errProblemSize = errors.New("the problem document is too long")

// parseProblem reads an answer's problem document (RFC 9457). It is empty where the answer is none.
func parseProblem(h http.Header, body []byte) (problem, error) {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if media != "application/problem+json" {
		return problem{}, nil
	}
	var doc struct {
		Type      string `json:"type"`
		Title     string `json:"title"`
		Status    int    `json:"status"`
		Detail    string `json:"detail"`
		Code      string `json:"code"`
		Retryable *bool  `json:"retryable"`
		NewKey    bool   `json:"new_key"`
	}
	if err == nil && len(body) > maxProblem {
		err = errProblemSize
	}
	if err == nil {
		err = json.Unmarshal(body, &doc)
	}
	if err != nil {
		return problem{}, fmt.Errorf("unreadable problem document: %w", err)
	}
	p := problem{says: doc.Retryable != nil, Problem: idempotency.Problem{Type: doc.Type, Title: doc.Title, Status: doc.Status,
		Detail: doc.Detail, Code: doc.Code, NewKey: doc.NewKey}}
	p.Retryable = p.says && *doc.Retryable
	return p, nil
}
