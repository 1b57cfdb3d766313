package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// maxPayload is Lambda's limit for a synchronous request or response: 6 MB.
const maxPayload = 6 << 20

// initLimit is how long Lambda lets a process take until its first poll.
const initLimit = 10 * time.Second

// invocation is one event on its way through a function.
type invocation struct {
	id       string
	traceID  string
	payload  []byte
	deadline time.Time    // set when it is handed to a process
	done     chan outcome // takes one value
}

// outcome is how an invocation ended.
type outcome struct {
	payload  []byte        // the function's response
	failure  failure       // noFailure: payload is the response
	detail   string        // of a failure, for the log
	function time.Duration // from the Runtime API's answer to next until the response was posted
}

// failure says why there is no response.
type failure int

const (
	noFailure   failure = iota
	functionErr         // the function returned an error, or panicked and could say so
	crashed             // the process ended
	timedOut            // the process was killed at the function's timeout
	tooLarge            // the response is over 6 MB
	notStarted          // no process could be started
	throttled           // too many processes
)

// runtimeAPI is the Runtime API of one process: what Lambda serves to a runtime, for the one invocation that the
// process has at a time. Every process has an address of its own, which says who is asking.
//
// Source: docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
type runtimeAPI struct {
	arn      string
	polled   func()           // called when the runtime asks for work
	answered func()           // called when it has answered
	work     chan *invocation // taken by a waiting next
	server   *http.Server
	addr     string

	mu      sync.Mutex // guards the following
	current *invocation
	given   time.Time // when current was answered to next
}

// serveRuntimeAPI listens on a free port.
//
//idemlint:ignore unguarded -- the Runtime API tells repeated answers by the invocation's id
func serveRuntimeAPI(arn string, polled, answered func()) (*runtimeAPI, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &runtimeAPI{arn: arn, polled: polled, answered: answered, work: make(chan *invocation), addr: ln.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", a.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", a.response)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", a.failed)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", a.initFailed)
	a.server = &http.Server{Handler: mux}
	go func() { _ = a.server.Serve(ln) }()
	return a, nil
}

func (a *runtimeAPI) close() { _ = a.server.Close() }

// next blocks until there is work.
func (a *runtimeAPI) next(w http.ResponseWriter, r *http.Request) {
	if inv, _ := a.take(""); inv != nil {
		a.answered()
		inv.done <- outcome{failure: functionErr, detail: "the runtime asked for more work and gave no answer"}
	}
	a.polled()
	select {
	case inv := <-a.work:
		a.give(w, inv)
	case <-r.Context().Done():
	}
}

// give answers next with an invocation.
func (a *runtimeAPI) give(w http.ResponseWriter, inv *invocation) {
	a.mu.Lock()
	a.current, a.given = inv, time.Now()
	a.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(inv.payload)))
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", a.arn)
	h.Set("Lambda-Runtime-Trace-Id", inv.traceID)
	_, _ = w.Write(inv.payload) // a process that has gone is noticed by its end
}

// take ends the current invocation, if id is its id or "", and says how long the function had it.
func (a *runtimeAPI) take(id string) (*invocation, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	inv := a.current
	if inv == nil || id != "" && inv.id != id {
		return nil, 0
	}
	a.current = nil
	return inv, time.Since(a.given)
}

func (a *runtimeAPI) response(w http.ResponseWriter, r *http.Request) {
	inv, took := a.take(r.PathValue("id"))
	if inv == nil {
		apiError(w, http.StatusBadRequest, "InvalidRequestID", "the process does not have that invocation")
		return
	}
	out, err := readResponse(r)
	if err != nil {
		return // the process was killed while it answered, and its end is the outcome; or it hangs until its time is over
	}
	out.function = took
	a.answered()
	inv.done <- out
	if out.failure == tooLarge {
		apiError(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", out.detail)
		return
	}
	accepted(w)
}

// readResponse reads a posted response. A runtime that streams says in a trailer that it failed midway. The error says that
// the response broke off.
func readResponse(r *http.Request) (outcome, error) {
	body, err := readAll(r.Body, r.ContentLength, maxPayload)
	switch {
	case errors.Is(err, errTooLong):
		return outcome{failure: tooLarge, detail: fmt.Sprintf("the response is over %d bytes", maxPayload)}, nil
	case err != nil:
		return outcome{}, err
	case r.Trailer.Get("Lambda-Runtime-Function-Error-Type") != "":
		return outcome{failure: functionErr, detail: r.Trailer.Get("Lambda-Runtime-Function-Error-Type")}, nil
	}
	return outcome{payload: body}, nil
}

func (a *runtimeAPI) failed(w http.ResponseWriter, r *http.Request) {
	inv, took := a.take(r.PathValue("id"))
	if inv == nil {
		apiError(w, http.StatusBadRequest, "InvalidRequestID", "the process does not have that invocation")
		return
	}
	detail := r.Header.Get("Lambda-Runtime-Function-Error-Type")
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxPayload)) // the function has logged it itself
	a.answered()
	inv.done <- outcome{failure: functionErr, detail: detail, function: took}
	accepted(w)
}

// initFailed is told by a runtime that cannot start. It ends after that, which is what the pool goes by.
func (a *runtimeAPI) initFailed(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxPayload))
	accepted(w)
}

func accepted(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`)
}

func apiError(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"errorType":%q,"errorMessage":%q}`, kind, message)
}

var errTooLong = errors.New("too long")

// readAll reads a body of at most limit bytes; hint is its declared length, or -1.
func readAll(r io.Reader, hint, limit int64) ([]byte, error) {
	if hint > limit {
		return nil, errTooLong
	}
	buf := make([]byte, 0, max(hint, 0)+512)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return nil, errTooLong
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}
