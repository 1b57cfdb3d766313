package simulation

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"firstwriter/idempotency"
)

// wire is the HTTP client of the machines' SDKs. A request stops here until the scheduler says what becomes of it.
type wire struct{}

var errCrashed = errors.New("simulation: the machine is down")

// Do implements the SDK's HTTP client.
func (wire) Do(r *http.Request) (*http.Response, error) {
	a := attemptOf(r.Context())
	c := &call{attempt: a, target: strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810."), answer: make(chan reply, 1), sent: time.Now()}
	c.op, _ = r.Context().Value(operationKey{}).(*operation)
	var err error
	if c.body, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	if !a.send(c) {
		return nil, errCrashed
	}
	select {
	case got := <-c.answer:
		return got.response(r), got.err
	case <-a.died:
		c.gone.Store(true)
		return nil, errCrashed
	case <-r.Context().Done():
		c.gone.Store(true)
		return nil, r.Context().Err()
	}
}

// call is a request on its way to the database, or its answer on the way back.
type call struct {
	attempt *attempt
	order   int // among all that the attempt sent
	n       int // among those that the scheduler saw
	op      *operation
	target  string // "PutItem"
	body    []byte
	sent    time.Time
	answer  chan reply
	gone    atomic.Bool // nobody waits for the answer

	// The scheduler's own.
	state callState
	since int  // the step at which it was seen first
	due   int  // late: the step from which it may land
	hasty bool // to be answered before time moves on

	reply    reply // what the server said
	done     atomic.Bool
	standing *standing // what the answer tells of the record; nil: nothing
}

// standing is what an answer brings: the record, or nil where there is none, and whose it was.
type standing struct {
	record *idempotency.Record
	order  int
	sub    string
}

// callState is how far a call has come.
type callState int

const (
	outbound callState = iota // on its way
	late                      // on its way, and will land when nobody expects it
	open                      // the server is at it
	landed                    // the answer is on its way back
	over                      // answered, or lost
)

// reply is what a caller of the database gets.
type reply struct {
	status int
	body   []byte
	err    error
}

func (p reply) response(r *http.Request) *http.Response {
	if p.err != nil {
		return nil
	}
	return &http.Response{StatusCode: p.status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(p.body)), ContentLength: int64(len(p.body)), Request: r}
}

// fault is an answer of DynamoDB that says that nothing was done.
func fault(status int, code string) reply {
	return reply{status: status, body: []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"simulated"}`)}
}

// perform lets the server do the call.
func (c *call) perform(line http.RoundTripper) {
	defer c.done.Store(true)
	r, err := http.NewRequest(http.MethodPost, "http://dynamodb/", bytes.NewReader(c.body))
	if err != nil {
		c.reply.err = err
		return
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+c.target)
	resp, err := line.RoundTrip(r)
	if err != nil {
		c.reply.err = err
		return
	}
	c.reply.status = resp.StatusCode
	c.reply.body, c.reply.err = io.ReadAll(resp.Body)
}

// is reports whether an answer is an error of that name.
func (p reply) is(code string) bool { return bytes.Contains(p.body, []byte(code)) }
