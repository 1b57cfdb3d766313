package httpclient

import (
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"firstwriter/idempotency"
)

// says is a problem document with a code that says whether it is retryable.
func says(code string, retryable bool) problem {
	return problem{Problem: idempotency.Problem{Code: code, Retryable: retryable}, says: true}
}

func TestDecide(t *testing.T) {
	silent := func(code string) problem { return problem{Problem: idempotency.Problem{Code: code}} }
	again, over := verdict{unknown, true}, verdict{final, false}
	for name, c := range map[string]struct {
		answer answer
		want   verdict
	}{
		"no connection":             {answer{err: errDial, unsent: true}, verdict{none, true}},
		"closed before the request": {answer{err: io.EOF, unsent: true}, verdict{none, true}},
		"no such scheme":            {answer{err: errBroken, unsent: true}, verdict{none, false}},
		"broken":                    {answer{err: errBroken}, again},
		"done":                      {answer{status: 201}, over},
		"a retryable success":       {answer{status: 200, problem: says("x", true)}, over},
		"replayed":                  {answer{status: 201, replayed: true}, over},
		"replayed failure":          {answer{status: 500, replayed: true, problem: says("x", true)}, over},
		"replayed conflict":         {answer{status: 409, replayed: true, problem: says("in-progress", true)}, over},
		"in progress":               {answer{status: 409, problem: says("in-progress", true)}, again},
		"in progress, silent":       {answer{status: 409, problem: silent("in-progress")}, again},
		"in progress, not again":    {answer{status: 409, problem: says("in-progress", false)}, verdict{unknown, false}},
		"conflict":                  {answer{status: 409}, over},
		"conflict, retryable":       {answer{status: 409, problem: says("other", true)}, over},
		"conflict, unreadable":      {answer{status: 409, garbled: io.EOF}, verdict{unknown, false}},
		"left to an operator":       {answer{status: 409, problem: says("outcome-unknown", false)}, verdict{unknown, false}},
		"not known yet":             {answer{status: 503, problem: says("outcome-unknown", true)}, again},
		"not known, silent":         {answer{status: 503, problem: silent("outcome-unknown")}, again},
		"request timeout":           {answer{status: 408}, again},
		"too early":                 {answer{status: 425}, verdict{none, true}},
		"too many":                  {answer{status: 429}, verdict{none, true}},
		"too many, not again":       {answer{status: 429, problem: says("x", false)}, over},
		"500":                       {answer{status: 500}, again},
		"502":                       {answer{status: 502}, again},
		"503":                       {answer{status: 503}, again},
		"504":                       {answer{status: 504}, again},
		"503, unreadable":           {answer{status: 503, garbled: io.EOF}, again},
		"503, not again":            {answer{status: 503, problem: says("x", false)}, over},
		"501":                       {answer{status: 501}, over},
		"501, retryable":            {answer{status: 501, problem: says("x", true)}, again},
		"not authorized":            {answer{status: 401}, verdict{none, false}},
		"forbidden":                 {answer{status: 403, problem: says("replay-forbidden", true)}, verdict{none, false}},
		"proxy":                     {answer{status: 407}, verdict{none, false}},
		"key used":                  {answer{status: 422, problem: says("key-reused", true)}, over},
		"another 4xx":               {answer{status: 423, problem: says("x", true)}, over},
		"redirect":                  {answer{status: 307}, over},
	} {
		if got := decide(c.answer); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestStatuses: without a problem document, the statuses that are sent again are those of the package's description.
func TestStatuses(t *testing.T) {
	want := []int{408, 425, 429, 500, 502, 503, 504}
	for status := 100; status < 1000; status++ {
		if got := decide(answer{status: status}).retry; got != slices.Contains(want, status) {
			t.Errorf("%d: again %v", status, got)
		}
	}
}

// TestRetryAfter: wishes for years, for the past, or for nothing that can be read.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	const forever = time.Duration(math.MaxInt64)
	for _, c := range []struct {
		after, date string
		want        time.Duration
	}{
		{"", "", 0}, {"0", "", 0}, {"2", "", 2 * time.Second}, {" 2 ", "", 2 * time.Second}, {"31536000", "", 365 * 24 * time.Hour},
		{"99999999999", "", forever}, {"99999999999999999999999", "", forever},
		{"-1", "", 0}, {"+1", "", 0}, {"1.5", "", 0}, {"1e3", "", 0}, {"soon", "", 0}, {"٣", "", 0},
		{"Sun, 29 Nov 2026 12:00:30 GMT", "", 30 * time.Second},
		{"Sun, 29 Nov 2026 11:00:00 GMT", "", 0},
		{"Sunday, 29-Nov-26 12:00:30 GMT", "", 30 * time.Second},
		{"Sun Nov 29 12:00:30 2026", "", 30 * time.Second},
		{"Fri, 31 Dec 9999 23:59:59 GMT", "", forever},
		{"Sun, 29 Nov 2020 12:00:30 GMT", "Sun, 29 Nov 2020 12:00:00 GMT", 30 * time.Second}, // the clocks differ by years
		{"Sun, 29 Nov 2026 12:00:30 GMT", "now", 30 * time.Second},
	} {
		if got := retryAfter(http.Header{"Retry-After": {c.after}, "Date": {c.date}}, now); got != c.want {
			t.Errorf("%q at %q: %v, want %v", c.after, c.date, got, c.want)
		}
	}
}

// TestPause: the server's wish is the least, up to a limit; the random part doubles, up to its own, and takes all values.
func TestPause(t *testing.T) {
	c := Config{MinBackoff: 100, MaxBackoff: 1000, MaxRetryAfter: 5000}
	for _, p := range []struct {
		n          int
		after, low time.Duration
		high, span time.Duration
	}{
		{1, 0, 0, 100, 100}, {2, 0, 0, 200, 200}, {4, 0, 0, 800, 800}, {5, 0, 0, 1000, 1000}, {1 << 40, 0, 0, 1000, 1000},
		{1, 300, 300, 400, 100}, {1, math.MaxInt64, 5000, 5100, 100},
	} {
		least, most := time.Duration(math.MaxInt64), time.Duration(0)
		for range 2000 {
			d := c.pause(p.n, p.after)
			least, most = min(least, d), max(most, d)
		}
		if least < p.low || most >= p.high || most-least < p.span*9/10 {
			t.Errorf("attempt %d, after %d: from %d to %d", p.n, p.after, least, most)
		}
	}
}

// TestProblems: documents of servers that answer garbage.
func TestProblems(t *testing.T) {
	const media = "application/problem+json"
	deep := func(n int) string {
		b := make([]byte, 0, 2*n)
		for range n {
			b = append(b, '[')
		}
		return string(b)
	}
	for _, c := range []struct {
		media, body string
		code        string
		says        bool
		retryable   bool
		bad         bool
	}{
		{media, `{"code":"in-progress","retryable":true}`, "in-progress", true, true, false},
		{media + "; charset=utf-8", `{"code":"x","retryable":false}`, "x", true, false, false},
		{"Application/Problem+JSON", `{"code":"x"}`, "x", false, false, false},
		{media, `{}`, "", false, false, false},
		{media, `null`, "", false, false, false},
		{media, `{"retryable":null}`, "", false, false, false},
		{media, `{"retryable":"yes"}`, "", false, false, true},
		{media, `{"code":1}`, "", false, false, true},
		{media, `{"status":1e999}`, "", false, false, true},
		{media, `[]`, "", false, false, true},
		{media, `{"code":"in-pro`, "", false, false, true},
		{media, ``, "", false, false, true},
		{media, "\xff\xfe", "", false, false, true},
		{media, deep(60_000), "", false, false, true},
		{media, `{"code":"x","pad":"` + string(make([]byte, maxProblem)) + `"}`, "", false, false, true},
		{media + "; =", `{"code":"x"}`, "", false, false, true},
		{"application/json", `{"code":"in-progress","retryable":true}`, "", false, false, false},
		{"", `{"code":"in-progress"}`, "", false, false, false},
	} {
		p, err := parseProblem(http.Header{"Content-Type": {c.media}}, []byte(c.body))
		if p.Code != c.code || p.says != c.says || p.Retryable != c.retryable || (err != nil) != c.bad {
			t.Errorf("%s %.40q: %+v, %v", c.media, c.body, p, err)
		}
	}
}

// TestConfig: what cannot work is refused when the transport is made.
func TestConfig(t *testing.T) {
	for name, c := range map[string]Config{
		"negative":            {MaxAttempts: -1},
		"negative time":       {AttemptTimeout: -1},
		"negative size":       {MaxAnswer: -1},
		"backoffs":            {MinBackoff: 2, MaxBackoff: 1},
		"longer than keys":    {MaxElapsed: time.Hour, Retention: time.Hour},
		"bodies kept nowhere": {KeepBodies: true},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := New(Config{MinBackoff: time.Minute}); err != nil {
		t.Error(err)
	}
}

// TestErrors: the errors of an operation that was given up match what they are and what they wrap, and do not tell the key.
func TestErrors(t *testing.T) {
	out := Outcome{Key: "secret-key", Attempts: 3}
	for _, c := range []struct{ err, is, not error }{
		{&OutcomeUnknown{Outcome: out, Err: errBroken}, ErrOutcomeUnknown, ErrNotDone},
		{&NotDone{Outcome: out, Err: errBroken}, ErrNotDone, ErrOutcomeUnknown},
	} {
		if !errors.Is(c.err, c.is) || errors.Is(c.err, c.not) || !errors.Is(c.err, errBroken) {
			t.Errorf("%v matches wrongly", c.err)
		}
		if text := c.err.Error(); strings.Contains(text, out.Key) || !strings.Contains(text, errBroken.Error()) {
			t.Errorf("%q", text)
		}
	}
}
