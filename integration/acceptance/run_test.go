package acceptance

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// runner plays cases against one sandbox.
type runner struct {
	base   string // its URL
	client *http.Client
}

func newRunner(base string) runner {
	return runner{base: base, client: &http.Client{Timeout: 60 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error
}

// run plays the case against a sandbox. Whatever it leaves running is waited for.
func (c Case) run(x runner) error {
	if _, err := x.control("POST /_sandbox/reset"); err != nil {
		return err
	}
	before, err := x.stock(c.Stock)
	if err != nil {
		return err
	}
	got := make([][]answer, len(c.Steps))
	pending := map[int]chan []answer{}
	defer func() { // a case that failed leaves nothing running
		for _, ch := range pending {
			<-ch
		}
	}()
	steps := slices.Clone(c.Steps)
	for i, s := range c.Steps {
		time.Sleep(time.Duration(s.WaitMS) * time.Millisecond)
		switch {
		case s.Control != "":
			if _, err := x.control(s.Control); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
			continue
		case s.Join != nil:
			got[i] = <-pending[*s.Join]
			got[*s.Join] = got[i]
			delete(pending, *s.Join)
		default:
			if s.Repeat != nil {
				s = over(steps[*s.Repeat], s)
			}
			if s.LocationOf != nil && len(got[*s.LocationOf]) > 0 {
				s.Path = got[*s.LocationOf][0].header.Get("Location")
			}
			steps[i] = s
			if s.Start {
				ch := make(chan []answer, 1)
				pending[i] = ch
				go func() { ch <- x.send(s) }()
				continue
			}
			got[i] = x.send(s)
			if s.Until != nil {
				for end := time.Now().Add(time.Duration(s.Until.MaxMS) * time.Millisecond); got[i][0].status != s.Until.Status && time.Now().Before(end); {
					time.Sleep(200 * time.Millisecond)
					got[i] = x.send(s)
				}
			}
		}
		if err := c.Steps[i].Expect.check(got[i], got); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return c.checkAfter(x, before)
}

// over lays the fields that s sets over those of the step it repeats.
func over(base, s Step) Step {
	r := base
	r.Start, r.Until, r.Repeat, r.Parallel, r.WaitMS = s.Start, s.Until, nil, s.Parallel, 0
	if s.As != "" {
		r.As = s.As
	}
	if s.Method != "" {
		r.Method = s.Method
	}
	if s.Path != "" {
		r.Path = s.Path
	}
	if s.LocationOf != nil {
		r.LocationOf = s.LocationOf
	}
	if s.Key != "" {
		r.Key = s.Key
	}
	if s.Body != nil {
		r.Body, r.Raw = s.Body, nil
	}
	if s.Raw != nil {
		r.Raw = s.Raw
	}
	if s.Type != "" {
		r.Type = s.Type
	}
	if s.Headers != nil {
		r.Headers = s.Headers
	}
	return r
}

// send sends a step's request, in parallel where it says so.
func (x runner) send(s Step) []answer {
	n := max(1, s.Parallel)
	out := make([]answer, n)
	token, err := x.token(s.As)
	if err != nil {
		return []answer{{err: err}}
	}
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i] = x.sendOne(s, token) })
	}
	wg.Wait()
	return out
}

func (x runner) sendOne(s Step, token string) (a answer) {
	body := []byte(s.Body)
	if s.Raw != nil {
		body = []byte(*s.Raw)
	}
	if s.PadTo > 0 {
		body = bytes.Replace(body, []byte("$PAD"), bytes.Repeat([]byte("x"), max(0, s.PadTo-len(body))), 1)
	}
	method := s.Method
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, x.base+s.Path, bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.Type != "" {
		req.Header.Set("Content-Type", s.Type)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if s.Key != "" {
		req.Header.Set("Idempotency-Key", s.Key)
	}
	for k, v := range s.Headers {
		req.Header.Del(k)
		for one := range strings.SplitSeq(v, "\n") {
			req.Header.Add(k, one)
		}
	}
	start := time.Now()
	res, err := x.client.Do(req)
	if err != nil {
		return answer{err: err, took: time.Since(start)}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: b, err: err, took: time.Since(start)}
}

func (x runner) token(as string) (string, error) {
	if as == "" {
		return "", nil
	}
	tenant, sub, _ := strings.Cut(as, "/")
	b, err := x.control("GET /_sandbox/token?tenant=" + url.QueryEscape(tenant) + "&sub=" + url.QueryEscape(sub))
	return strings.TrimSpace(string(b)), err
}

// control calls a route of the sandbox: "POST /_sandbox/fault {…}".
func (x runner) control(call string) ([]byte, error) {
	parts := strings.SplitN(call, " ", 3)
	var body io.Reader
	if len(parts) == 3 {
		body = strings.NewReader(parts[2])
	}
	req, err := http.NewRequest(parts[0], x.base+parts[1], body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := x.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s: %d %.200s", call, res.StatusCode, b)
	}
	return b, err
}
