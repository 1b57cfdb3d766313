package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"firstwriter/integration/dynamofake"
)

// controlPrefix is where the sandbox's own routes are; all others are the API's.
const controlPrefix = "/_sandbox/"

// control serves the routes that tests and people steer the sandbox by.
type control struct {
	issuer *issuer
	psp    *psp
	bus    *bus
	queues *queues
	stock  *stock // nil: the template has no such table
	pools  map[string]*pool
	fake   *dynamofake.Server // nil: another database server is used
	tables []string           // the template's, by name
}

// handler serves the control routes.
//
//idemlint:ignore unguarded -- what they do is for tests, and not worth a record
func (c *control) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sandbox/token", c.token)
	mux.HandleFunc("GET /_sandbox/psp/charges", c.charges)
	mux.HandleFunc("GET /_sandbox/events", c.events)
	mux.HandleFunc("GET /_sandbox/stock", c.stockOf)
	mux.HandleFunc("GET /_sandbox/dead-letters", c.deadLetters)
	mux.HandleFunc("POST /_sandbox/kill", c.kill)
	mux.HandleFunc("POST /_sandbox/fault", c.fault)
	mux.HandleFunc("GET /_sandbox/stats", c.stats)
	mux.HandleFunc("POST /_sandbox/reset", c.reset)
	return checkQuery(mux)
}

// checkQuery refuses queries that do not parse: net/http drops the broken part, and a list would not be filtered.
func checkQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			controlError(w, http.StatusBadRequest, "the query does not parse: "+err.Error())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// token answers with a JWT as text: GET /_sandbox/token?tenant=T&sub=S.
func (c *control) token(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	t, err := c.issuer.token(q.Get("tenant"), q.Get("sub"), time.Now())
	if err != nil {
		controlError(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, t)
}

// charges lists what the fake provider charged: GET /_sandbox/psp/charges?reference=R.
func (c *control) charges(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, c.psp.ledger.charges(r.URL.Query().Get("reference")))
}

// events lists what was published, as it came and duplicates too: GET /_sandbox/events?reference=R.
func (c *control) events(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, c.bus.published(r.URL.Query().Get("reference")))
}

// deadLetters lists the messages in the template's queues: GET /_sandbox/dead-letters.
func (c *control) deadLetters(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, c.queues.messages.list())
}

// kill kills every process of a function: POST /_sandbox/kill?function=ID.
func (c *control) kill(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("function")
	p := c.pools[id]
	if p == nil {
		controlError(w, http.StatusNotFound, fmt.Sprintf("the template has no function %q", id))
		return
	}
	writeJSON(w, http.StatusOK, map[string]int{"killed": p.kill()})
}

const noFake = "the database is not the sandbox's own (DYNAMODB_ENDPOINT is set)"

// fault makes calls of the database fail: POST /_sandbox/fault {"op":"PutItem","nth":1,"times":1,"kind":"drop-ack"}.
func (c *control) fault(w http.ResponseWriter, r *http.Request) {
	if c.fake == nil {
		controlError(w, http.StatusNotImplemented, noFake)
		return
	}
	in, err := readFault(io.LimitReader(r.Body, 64<<10))
	if err == nil {
		err = in.check(c.tables)
	}
	if err != nil {
		controlError(w, http.StatusBadRequest, "fault: "+err.Error())
		return
	}
	if err := c.fake.Inject(in.fault()); err != nil {
		controlError(w, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, struct{}{})
}

// ownCalls are the sandbox's, made for the event source mappings and the stock and not by functions.
var ownCalls = []string{"BatchGetItem", "DescribeStream", "GetRecords", "GetShardIterator"}

// stats counts since the last reset: GET /_sandbox/stats. With another database server, dynamodb says so and the units
// are left out.
func (c *control) stats(w http.ResponseWriter, _ *http.Request) {
	invocations, coldStarts := map[string]int{}, map[string]int{}
	for id, p := range c.pools {
		invocations[id], coldStarts[id] = p.counts()
	}
	out := map[string]any{
		"psp":         map[string]int64{"requests": c.psp.requests.Load()},
		"invocations": invocations,
		"cold_starts": coldStarts,
		"dynamodb":    map[string]any{"status": http.StatusNotImplemented, "message": noFake},
	}
	if c.fake != nil {
		s := c.fake.Stats()
		for _, call := range ownCalls {
			delete(s.Calls, call)
		}
		out["dynamodb"], out["write_units"], out["read_units"] = s.Calls, s.WriteUnits, s.ReadUnits
	}
	writeJSON(w, http.StatusOK, out)
}

// reset clears statistics and unused faults: POST /_sandbox/reset.
func (c *control) reset(w http.ResponseWriter, _ *http.Request) {
	for _, p := range c.pools {
		p.resetCounts()
	}
	c.psp.requests.Store(0)
	if c.fake != nil {
		c.fake.Reset()
	}
	writeJSON(w, http.StatusOK, struct{}{})
}

func controlError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"message": message})
}
