package httpclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWaits: how long an operation takes at least and at most, in a bubble's time, whatever the server wishes (F58).
func TestWaits(t *testing.T) {
	after := func(wish string) step { return step{status: 503, header: "Retry-After: " + wish} }
	done, hang := step{status: 201}, step{hangs: true}
	for name, c := range map[string]struct {
		steps       []step
		config      Config
		least, most time.Duration
		attempts    int
		err         error
	}{
		"as told":             {[]step{after("3"), done}, Config{}, 3 * time.Second, 4 * time.Second, 2, nil},
		"years":               {[]step{after("31536000000"), done}, Config{}, time.Minute, 61 * time.Second, 2, nil},
		"years, as a date":    {[]step{after("Fri, 31 Dec 9999 23:59:59 GMT"), done}, Config{}, time.Minute, 61 * time.Second, 2, nil},
		"negative":            {[]step{after("-1000"), done}, Config{}, 0, time.Second, 2, nil},
		"the past":            {[]step{after("Thu, 01 Jan 1970 00:00:00 GMT"), done}, Config{}, 0, time.Second, 2, nil},
		"no time for it":      {[]step{after("50"), done}, Config{MaxElapsed: 40 * time.Second}, 0, 0, 1, ErrOutcomeUnknown},
		"attempts in all":     {[]step{after("0")}, Config{}, 0, time.Minute, 12, ErrOutcomeUnknown},
		"time in all":         {[]step{after("10")}, Config{MaxElapsed: 25 * time.Second}, 20 * time.Second, 25 * time.Second, 3, ErrOutcomeUnknown},
		"one hangs":           {[]step{hang, done}, Config{AttemptTimeout: 5 * time.Second}, 5 * time.Second, 6 * time.Second, 2, nil},
		"all hang":            {[]step{hang}, Config{}, 2 * time.Minute, 2 * time.Minute, 4, ErrOutcomeUnknown},
		"the last one is cut": {[]step{hang}, Config{MaxElapsed: 50 * time.Second}, 50 * time.Second, 50 * time.Second, 2, os.ErrDeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.config.Base = &script{steps: c.steps}
			start := time.Now()
			_, out, err := newTransport(t, c.config).Do(post(t, "http://server/", "x"))
			if took := time.Since(start); took < c.least || took > c.most || !errors.Is(err, c.err) || out.Attempts != c.attempts {
				t.Errorf("%s: %v, %+v, %v", name, took, out, err)
			}
		})
	}
}

// TestContext: the caller's context ends an attempt and a pause; what it leaves behind depends on what was sent.
func TestContext(t *testing.T) {
	for name, c := range map[string]struct {
		step  step
		after time.Duration
		is    error
		sent  int
	}{
		"in an attempt":      {step{hangs: true}, time.Second, ErrOutcomeUnknown, 1},
		"in a pause":         {step{status: 503, header: "Retry-After: 30"}, time.Second, ErrOutcomeUnknown, 1},
		"in a pause, undone": {step{status: 429, header: "Retry-After: 30"}, time.Second, ErrNotDone, 1},
		"before":             {step{status: 201}, 0, context.Canceled, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{steps: []step{c.step}}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(c.after, cancel)
			synctest.Wait()
			start := time.Now()
			_, out, err := newTransport(t, Config{Base: s}).Do(post(t, "http://server/", "x").WithContext(ctx))
			if !errors.Is(err, c.is) || !errors.Is(err, context.Canceled) || out.Attempts != c.sent || time.Since(start) != c.after {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
		})
	}
}

// TestDeadline: a deadline is not waited for where there is no time for another attempt before it.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		start := time.Now()
		s := &script{steps: []step{{status: 503, header: "Retry-After: 30"}}}
		_, _, err := newTransport(t, Config{Base: s}).Do(post(t, "http://server/", "x").WithContext(ctx))
		if !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, errNoTime) || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// TestOverslept: after a pause that took too long, as on a machine that was asleep, nothing is sent.
func TestOverslept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &operation{Context: t.Context(), until: time.Now().Add(time.Second)}
		if err := o.wait(999 * time.Millisecond); err != nil {
			t.Error(err)
		}
		if err := o.wait(time.Hour); err != errNoTime {
			t.Error(err)
		}
	})
}

// TestClientTimeout: the limit of an http.Client covers all attempts. It also takes the type from the error, as the
// package's description says; the text is left.
func TestClientTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTransport(t, Config{Base: &script{steps: []step{{hangs: true}}}})
		client := http.Client{Transport: tr, Timeout: time.Second}
		start := time.Now()
		_, err := client.Do(post(t, "http://server/", "x"))
		if err == nil || !strings.Contains(err.Error(), ErrOutcomeUnknown.Error()) || time.Since(start) != time.Second {
			t.Errorf("%v", err)
		}
	})
}

// TestClocks: a clock that is set, or stands still while the machine sleeps, does not make an operation take longer.
func TestClocks(t *testing.T) {
	start := time.Now()
	for name, c := range map[string]struct {
		until, now time.Time
		want       time.Duration
	}{
		"in step":                  {start.Add(time.Minute), start.Add(time.Second), 59 * time.Second},
		"the wall clock goes on":   {start.Add(time.Minute), start.Round(0).Add(time.Hour), time.Minute - time.Hour},
		"the wall clock goes back": {start.Add(time.Minute), start.Add(2 * time.Minute), -time.Minute},
	} {
		if got := (&operation{Context: t.Context(), until: c.until}).left(c.now); got != c.want {
			t.Errorf("%s: %v left, want %v", name, got, c.want)
		}
	}
}

// drip is a body that comes a byte a second, without an end, and knows whether it was closed.
type drip struct {
	closed chan struct{}
	ctx    context.Context
}

func (d *drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = 'x'
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (d *drip) Close() error { close(d.closed); return nil }

// TestEndless: answers without an end are cut off, or handed on as a stream that the caller ends.
func TestEndless(t *testing.T) {
	for name, c := range map[string]struct {
		status, max int
		took        time.Duration
		err         error
	}{
		"dripping":              {201, 1000, 35 * time.Second, ErrOutcomeUnknown},
		"a dripping failure":    {503, 1000, 35 * time.Second, ErrOutcomeUnknown},
		"longer than is kept":   {201, 10, 10 * time.Second, nil},
		"a failure, too long":   {503, 10, 10 * time.Second, ErrOutcomeUnknown},
		"a refusal, too long":   {422, 10, 10 * time.Second, nil},
		"too many, and endless": {429, 10, 10 * time.Second, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var d *drip
			tr := newTransport(t, Config{MaxAttempts: 1, MaxAnswer: c.max, Base: roundTripper(func(req *http.Request) (*http.Response, error) {
				d = &drip{make(chan struct{}), req.Context()}
				return &http.Response{StatusCode: c.status, ContentLength: -1, Body: d}, nil
			})})
			start := time.Now()
			res, out, err := tr.Do(post(t, "http://server/", "x"))
			if time.Since(start) != c.took || !errors.Is(err, c.err) {
				t.Errorf("%s: %v, %+v, %v", name, time.Since(start), out, err)
			}
			if err == nil {
				text, err := io.ReadAll(io.LimitReader(res.Body, 100)) // longer than an attempt may take
				if err != nil || string(text) != strings.Repeat("x", 100) {
					t.Errorf("%s: read %q, %v", name, text, err)
				}
				res.Body.Close()
			}
			select {
			case <-d.closed:
			default:
				t.Errorf("%s: not closed", name)
			}
		})
	}
}

// TestAnswers: the body of an answer is the server's, whatever its length and the sizes that it is read in.
func TestAnswers(t *testing.T) {
	for _, size := range []int{0, 1, 511, 512, 513, 1023, 1024, 1025, 64 << 10, 1 << 20} {
		for _, known := range []bool{true, false} {
			text := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			tr := newTransport(t, Config{MaxAnswer: 1024, Base: roundTripper(func(*http.Request) (*http.Response, error) {
				res := &http.Response{StatusCode: 200, ContentLength: -1, Body: io.NopCloser(strings.NewReader(text))}
				if known {
					res.ContentLength = int64(size)
				}
				return res, nil
			})})
			res, err := tr.RoundTrip(post(t, "http://server/", "x"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			if string(got) != text || err != nil {
				t.Errorf("%d bytes: read %d, %v", size, len(got), err)
			}
			res.Body.Close()
		}
	}
}

// TestOnAttempt: each attempt is told of as it was.
func TestOnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Attempt
		s := &script{steps: []step{{err: errBroken}, problemStep(503, `{"code":"store-unavailable","retryable":true}`), {status: 201, header: "Idempotent-Replayed: true"}}}
		tr := newTransport(t, Config{Base: s, OnAttempt: func(a Attempt) { told = append(told, a) }})
		start := time.Now()
		if _, _, err := tr.Do(post(t, "http://server/", "x")); err != nil || len(told) != 3 {
			t.Fatalf("%+v, %v", told, err)
		}
		if a := told[0]; a.Number != 1 || a.Err != errBroken || a.Status != 0 || a.Last {
			t.Errorf("%+v", a)
		}
		if a := told[1]; a.Number != 2 || a.Err != nil || a.Status != 503 || a.Problem.Code != "store-unavailable" || a.Last {
			t.Errorf("%+v", a)
		}
		if a := told[2]; a.Number != 3 || !a.Replayed || a.Status != 201 || !a.Last || a.Pause != 0 {
			t.Errorf("%+v", a)
		}
		if took := time.Since(start); took != told[0].Pause+told[1].Pause {
			t.Errorf("took %v", took)
		}
	})
}
