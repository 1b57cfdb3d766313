package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"firstwriter/idempotency/httpclient"
)

// server answers with the statuses in turn, the last one again and again. It prints what it gets.
func server(statuses ...int) *httptest.Server {
	n := 0
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Printf("%s %s key=%s\n", r.Method, body, r.Header.Get("Idempotency-Key"))
		w.WriteHeader(statuses[min(n, len(statuses)-1)])
		n++
	}))
}

// order makes a request with a key that is the same in each run of an example.
func order(method, url, key string) *http.Request {
	ctx := httpclient.WithKey(context.Background(), key)
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader("order"))
	if err != nil {
		panic(err)
	}
	return req
}

// send sends an order and prints what became of it.
func send(c httpclient.Config, req *http.Request) {
	transport, err := httpclient.New(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer transport.CloseIdleConnections()
	res, outcome, err := transport.Do(req)
	if err != nil {
		fmt.Printf("unknown=%t attempts=%d\n", errors.Is(err, httpclient.ErrOutcomeUnknown), outcome.Attempts)
		return
	}
	defer res.Body.Close()
	fmt.Printf("%d final=%t attempts=%d\n", res.StatusCode, outcome.Final, outcome.Attempts)
}

// As the transport of an [http.Client], under a key of its own for each operation.
func Example() {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n < 3 {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusCreated)
	}))
	defer s.Close()
	transport, err := httpclient.New(httpclient.Config{MinBackoff: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport}
	res, err := client.Post(s.URL, "application/json", strings.NewReader(`{"amount":1299}`))
	if err != nil {
		fmt.Println(err) // an *httpclient.OutcomeUnknown has the key
		return
	}
	defer res.Body.Close()
	outcome, _ := httpclient.OutcomeOf(res)
	fmt.Println(res.Status, outcome.Attempts, len(outcome.Key))
	// Output: 201 Created 3 36
}

func ExampleConfig_base() {
	s := server(201)
	defer s.Close()
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 100
	send(httpclient.Config{Base: base}, order("POST", s.URL, "order-1"))
	// Output:
	// POST order key="order-1"
	// 201 final=true attempts=1
}

func ExampleConfig_methods() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, "with a key:", r.Header.Get("Idempotency-Key") != "")
	}))
	defer s.Close()
	transport, _ := httpclient.New(httpclient.Config{Methods: []string{http.MethodPut}})
	client := &http.Client{Transport: transport}
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		req, _ := http.NewRequest(method, s.URL, nil)
		res, err := client.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		res.Body.Close()
	}
	// Output:
	// PUT with a key: true
	// POST with a key: false
}

func ExampleConfig_bareKeys() {
	s := server(201)
	defer s.Close()
	send(httpclient.Config{BareKeys: true}, order("POST", s.URL, "order-1"))
	// Output:
	// POST order key=order-1
	// 201 final=true attempts=1
}

func ExampleConfig_maxAttempts() {
	s := server(503)
	defer s.Close()
	send(httpclient.Config{MaxAttempts: 2, MinBackoff: time.Millisecond}, order("POST", s.URL, "order-1"))
	// Output:
	// POST order key="order-1"
	// POST order key="order-1"
	// unknown=true attempts=2
}

func ExampleConfig_maxElapsed() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "30") // longer than there is time
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	send(httpclient.Config{MaxElapsed: 10 * time.Second}, order("POST", s.URL, "order-1"))
	// Output: unknown=true attempts=1
}

func ExampleConfig_attemptTimeout() {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	send(httpclient.Config{AttemptTimeout: 20 * time.Millisecond, MaxAttempts: 2, MinBackoff: time.Millisecond}, order("POST", s.URL, "order-1"))
	// Output: unknown=true attempts=2
}

func ExampleConfig_maxBackoff() {
	s := server(503, 503, 201)
	defer s.Close()
	send(httpclient.Config{MinBackoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond}, order("POST", s.URL, "order-1"))
	// Output:
	// POST order key="order-1"
	// POST order key="order-1"
	// POST order key="order-1"
	// 201 final=true attempts=3
}

func ExampleConfig_maxRetryAfter() {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 1 {
			w.Header().Set("Retry-After", "31536000") // a year
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer s.Close()
	send(httpclient.Config{MaxRetryAfter: time.Millisecond, MinBackoff: time.Millisecond}, order("POST", s.URL, "order-1"))
	// Output: 200 final=true attempts=2
}

func ExampleConfig_retention() {
	_, err := httpclient.New(httpclient.Config{Retention: time.Minute}) // the server forgets within MaxElapsed
	fmt.Println(err)
	// Output: httpclient: MaxElapsed (2m0s) must be shorter than Retention (1m0s): the server would forget the key in between
}

func ExampleConfig_maxBody() {
	s := server(503)
	defer s.Close()
	req := order("POST", s.URL, "order-1")
	req.Body, req.GetBody, req.ContentLength = io.NopCloser(strings.NewReader("a body that can be read once")), nil, -1
	send(httpclient.Config{MaxBody: 10}, req)
	// Output:
	// POST a body that can be read once key="order-1"
	// unknown=true attempts=1
}

func ExampleConfig_maxAnswer() {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		if n++; n == 1 {
			io.WriteString(w, "pa") // and no more: the answer breaks off
			return
		}
		io.WriteString(w, "paid\n")
	}))
	defer s.Close()
	send(httpclient.Config{MaxAnswer: 64 << 10, MinBackoff: time.Millisecond}, order("POST", s.URL, "order-1"))
	// Output: 200 final=true attempts=2
}

// A program that was killed, or gave up, goes on when it starts again.
func ExampleConfig_journal() {
	s := server(503, 201)
	defer s.Close()
	folder, _ := os.MkdirTemp("", "journal")
	defer os.RemoveAll(folder)
	journal, err := httpclient.OpenDir(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := httpclient.Config{Journal: journal, KeepBodies: true, MaxAttempts: 1}
	send(c, order("POST", s.URL, "order-1"))

	transport, _ := httpclient.New(c)
	unfinished, _, err := transport.Unfinished()
	if err != nil {
		fmt.Println(err)
	}
	for _, entry := range unfinished {
		req, err := entry.Request(context.Background(), nil) // credentials are to be added here
		if err != nil {
			fmt.Println(err)
			continue
		}
		send(c, req)
	}
	// Output:
	// POST order key="order-1"
	// unknown=true attempts=1
	// POST order key="order-1"
	// 201 final=true attempts=1
}

// Without KeepBodies the body is not on the disk, and whoever resumes brings it.
func ExampleConfig_keepBodies() {
	s := server(503)
	defer s.Close()
	folder, _ := os.MkdirTemp("", "journal")
	defer os.RemoveAll(folder)
	journal, _ := httpclient.OpenDir(folder)
	c := httpclient.Config{Journal: journal, MaxAttempts: 1}
	send(c, order("POST", s.URL, "order-1"))
	transport, _ := httpclient.New(c)
	unfinished, _, _ := transport.Unfinished()
	_, err := unfinished[0].Request(context.Background(), nil)
	fmt.Println(errors.Is(err, httpclient.ErrNeedsBody))
	_, err = unfinished[0].Request(context.Background(), []byte("order"))
	fmt.Println(err)
	// Output:
	// POST order key="order-1"
	// unknown=true attempts=1
	// true
	// <nil>
}

func ExampleConfig_onAttempt() {
	s := server(503, 201)
	defer s.Close()
	send(httpclient.Config{MinBackoff: time.Millisecond, OnAttempt: func(a httpclient.Attempt) {
		fmt.Println("attempt", a.Number, a.Status, a.Last)
	}}, order("POST", s.URL, "order-1"))
	// Output:
	// POST order key="order-1"
	// attempt 1 503 false
	// POST order key="order-1"
	// attempt 2 201 true
	// 201 final=true attempts=2
}
