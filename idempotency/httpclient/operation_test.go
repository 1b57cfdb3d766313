package httpclient

import (
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
)

var (
	errBroken = errors.New("connection reset")
	errDial   = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
)

// TestOperations: what an operation comes to after a series of answers, by the errors and the outcome that are reported.
// F27, F28 and F30 are the server's side of the 5xx and the 429.
func TestOperations(t *testing.T) {
	lost, dead, ok := step{err: errBroken}, step{err: errDial}, step{status: 201, body: "paid"}
	replay := step{status: 201, header: "Idempotent-Replayed: true", body: "paid"}
	busy := problemStep(409, `{"code":"in-progress","retryable":true}`)
	for name, c := range map[string]struct {
		steps    []step
		status   int   // 0: an error
		err      error // that it matches
		attempts int
		final    bool
		replayed bool
	}{
		"at once":                          {[]step{ok}, 201, nil, 1, true, false},
		"lost, then replayed":              {[]step{lost, replay}, 201, nil, 2, true, true},
		"in progress, then done":           {[]step{lost, busy, busy, replay}, 201, nil, 4, true, true},
		"no connection, then done":         {[]step{dead, ok}, 201, nil, 2, true, false},
		"never a connection":               {[]step{dead}, 0, ErrNotDone, 4, false, false},
		"lost once, never a connection":    {[]step{lost, dead}, 0, ErrOutcomeUnknown, 4, false, false},
		"too many requests":                {[]step{{status: 429}}, 429, nil, 4, false, false},
		"lost, then too many requests":     {[]step{lost, {status: 429}}, 0, ErrOutcomeUnknown, 4, false, false},
		"unavailable":                      {[]step{{status: 503}}, 0, ErrOutcomeUnknown, 4, false, false},
		"not authorized":                   {[]step{{status: 401}}, 401, nil, 1, true, false},
		"lost, then not authorized":        {[]step{lost, {status: 401}}, 0, ErrOutcomeUnknown, 2, false, false},
		"lost, then a decline":             {[]step{lost, {status: 402}}, 402, nil, 2, true, false},
		"key used":                         {[]step{problemStep(422, `{"code":"key-reused","retryable":true}`)}, 422, nil, 1, true, false},
		"a recorded failure":               {[]step{{status: 503, header: "Idempotent-Replayed: true"}}, 503, nil, 1, true, true},
		"left to an operator":              {[]step{problemStep(409, `{"code":"outcome-unknown","retryable":false}`)}, 0, ErrOutcomeUnknown, 1, false, false},
		"not told yet, then told":          {[]step{problemStep(503, `{"code":"outcome-unknown","retryable":true}`), replay}, 201, nil, 2, true, true},
		"redirected":                       {[]step{{status: 307, header: "Location: /other"}}, 307, nil, 1, true, false},
		"never answered":                   {[]step{{hangs: true}}, 0, ErrOutcomeUnknown, 4, false, false},
		"a failure that is to be believed": {[]step{problemStep(500, `{"code":"x","retryable":false}`)}, 500, nil, 1, true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{steps: c.steps}
			tr := newTransport(t, Config{Base: s, MaxAttempts: 4})
			res, out, err := tr.Do(post(t, "http://server/payments", `{"amount":1}`))
			if res != nil {
				if text, err := io.ReadAll(res.Body); err != nil || c.status == 201 && string(text) != "paid" {
					t.Errorf("%s: body %q, %v", name, text, err)
				}
				res.Body.Close()
			}
			if c.status == 0 && res != nil || c.status != 0 && (res == nil || res.StatusCode != c.status) || !errors.Is(err, c.err) {
				t.Fatalf("%s: %v, %v", name, res, err)
			}
			if len(s.sent) != c.attempts || out.Attempts != c.attempts || out.Final != c.final || out.Replayed != c.replayed {
				t.Errorf("%s: sent %d times, %+v", name, len(s.sent), out)
			}
			for i, r := range s.sent {
				if r.Header.Get("Idempotency-Key") != quote(out.Key) || s.text[i] != `{"amount":1}` || r.Method != http.MethodPost {
					t.Errorf("%s, attempt %d: %v %q", name, i+1, r.Header, s.text[i])
				}
			}
		})
	}
}
