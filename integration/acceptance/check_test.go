package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (e Expect) check(as []answer, got [][]answer) error {
	first := 0
	for _, a := range as {
		if a.err != nil {
			return a.err
		}
		if err := e.checkOne(a, got); err != nil {
			return fmt.Errorf("%w (answer: %d %.300s)", err, a.status, a.body)
		}
		if a.status < 300 && a.header.Get("Idempotent-Replayed") == "" {
			first++
		}
	}
	if e.FirstRuns != nil && first != *e.FirstRuns {
		return fmt.Errorf("%d first runs of %d answers, want %d", first, len(as), *e.FirstRuns)
	}
	return nil
}

func (e Expect) checkOne(a answer, got [][]answer) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(e.Status) > 0 && !slices.Contains(e.Status, a.status) {
		fail("status %d, want %v", a.status, e.Status)
	}
	if h := a.header.Get("Idempotent-Replayed"); e.Replayed != nil && (*e.Replayed && h != "true" || !*e.Replayed && h != "") {
		fail("Idempotent-Replayed %q, want replayed %v", h, *e.Replayed)
	}
	var doc any
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.UseNumber()
	_ = dec.Decode(&doc)
	if e.Code != "" && a.status >= 400 {
		if got := at(doc, "/code"); got != e.Code {
			fail("problem code %v, want %q", got, e.Code)
		}
		if ct := a.header.Get("Content-Type"); !strings.HasPrefix(ct, "application/problem+json") {
			fail("Content-Type %q, want application/problem+json", ct)
		}
		if n, _ := at(doc, "/status").(json.Number); n.String() != strconv.Itoa(a.status) {
			fail("problem status %v, want %d", n, a.status)
		}
		for _, m := range []string{"/type", "/title"} {
			if at(doc, m) == nil {
				fail("problem member %s is missing", m)
			}
		}
		for _, m := range []string{"/retryable", "/new_key"} {
			if _, ok := at(doc, m).(bool); !ok {
				fail("problem member %s is %v, want a boolean", m, at(doc, m))
			}
		}
	}
	if e.SameAs != nil {
		var w answer
		if len(got[*e.SameAs]) > 0 {
			w = got[*e.SameAs][0]
		}
		if a.status != w.status || !bytes.Equal(a.body, w.body) || a.header.Get("Content-Type") != w.header.Get("Content-Type") ||
			a.header.Get("Location") != w.header.Get("Location") {
			fail("differs from step %d's answer (%d %.200s)", *e.SameAs, w.status, w.body)
		}
	}
	for k, want := range e.Header {
		switch v := a.header.Get(k); {
		case want == "*" && v == "", want != "*" && v != want:
			fail("header %s %q, want %q", k, v, want)
		}
	}
	for p, want := range e.JSON {
		v := at(doc, p)
		if n, ok := v.(json.Number); ok {
			f, _ := n.Float64()
			v = f
		}
		if want == "*" && v != nil || want == 0.0 && v == nil {
			continue
		}
		if !reflect.DeepEqual(v, want) {
			fail("%s is %v, want %v", p, v, want)
		}
	}
	for _, s := range e.NotInBody {
		if bytes.Contains(a.body, []byte(s)) {
			fail("the body holds %q", s)
		}
	}
	if e.RetryAfter && a.status >= 400 {
		if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 || e.RetryMax > 0 && n > e.RetryMax {
			fail("Retry-After %q, want whole seconds, at least 1, at most %d (0: any)", a.header.Get("Retry-After"), e.RetryMax)
		}
	}
	if e.MaxMS > 0 && a.took > time.Duration(e.MaxMS)*time.Millisecond {
		fail("took %v, want at most %d ms", a.took, e.MaxMS)
	}
	if len(a.body) < e.BodyAtLeast {
		fail("%d bytes of body, want at least %d", len(a.body), e.BodyAtLeast)
	}
	return errors.Join(errs...)
}

// at reads a JSON pointer without escapes.
func at(doc any, pointer string) any {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		m, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = m[part]
	}
	return doc
}
