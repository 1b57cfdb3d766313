// Package emf writes what becomes of guarded requests as metrics, in CloudWatch's embedded metric format: one JSON line
// for each request. In AWS Lambda that is all it takes, since CloudWatch Logs makes metrics of such lines.
//
//	guard, err := idempotency.New(idempotency.Config{
//		Observe: emf.New(os.Stdout, "Payments").Observe,
//		…
//	})
//
// Metrics have the dimensions Outcome, and Endpoint with Outcome. Both are bounded: outcomes are the constants of package
// idempotency, and endpoints after the hundredth are counted as "other".
//
//	Requests         Count
//	Duration         Milliseconds, of the whole request
//	HandlerDuration  Milliseconds, where the handler ran
//	StoreCalls       Count
//	WriteUnits       Count; estimated where the service does not report them
//	ReadUnits        Count; likewise
//	OrphanAge        Seconds since the claim of an orphan, where the request met one; without a dimension as well
//	UndoFailures     Count of the attempts that have failed to undo the operation's steps, where this one has too
//
// The format: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package emf

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"firstwriter/idempotency"
)

// maxEndpoints bounds the values of the dimension Endpoint: each is a metric that costs money.
const maxEndpoints = 100

// Emitter writes events. It is safe for concurrent use.
type Emitter struct {
	namespace string

	mu        sync.Mutex
	w         io.Writer       // guarded by mu: a line is written whole
	endpoints map[string]bool // guarded by mu
}

// New makes an emitter of metrics in a CloudWatch namespace. It panics if the namespace is empty.
func New(w io.Writer, namespace string) *Emitter {
	if namespace == "" {
		panic("emf: New needs a CloudWatch namespace")
	}
	return &Emitter{namespace: namespace, w: w, endpoints: map[string]bool{}}
}

// Observe writes an event. It is meant for [idempotency.Config].Observe. What cannot be written is dropped: metrics must
// not fail requests.
func (e *Emitter) Observe(_ context.Context, event idempotency.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	line, err := json.Marshal(e.entry(event, time.Now()))
	if err != nil {
		return
	}
	e.w.Write(append(line, '\n'))
}

// metric is the definition of a metric in an entry.
type metric struct{ Name, Unit string }

// orphanAge is counted without a dimension too: for an alarm, whatever became of the request that met the orphan.
var orphanAge = metric{"OrphanAge", "Seconds"}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metric
}

// entry is an event as one log line: its values, and which of them are metrics.
func (e *Emitter) entry(event idempotency.Event, now time.Time) map[string]any {
	values := map[string]any{"Outcome": string(event.Outcome), "Endpoint": e.bounded(event.Endpoint)}
	var metrics []metric
	add := func(name, unit string, value float64) {
		values[name] = value
		metrics = append(metrics, metric{name, unit})
	}
	add("Requests", "Count", 1)
	add("Duration", "Milliseconds", millis(event.Duration))
	if event.Handler > 0 {
		add("HandlerDuration", "Milliseconds", millis(event.Handler))
	}
	if event.Store.Calls > 0 {
		add("StoreCalls", "Count", float64(event.Store.Calls))
		add("WriteUnits", "Count", event.Store.WriteUnits)
		add("ReadUnits", "Count", event.Store.ReadUnits)
		values["UnitsEstimated"] = event.Store.Estimated
	}
	if event.Orphan > 0 {
		add(orphanAge.Name, orphanAge.Unit, event.Orphan.Seconds())
	}
	if event.UndoFailures > 0 {
		add("UndoFailures", "Count", float64(event.UndoFailures))
	}
	if event.ID != "" {
		values["RecordID"] = event.ID
	}
	directives := []directive{{Namespace: e.namespace, Dimensions: [][]string{{"Outcome"}, {"Endpoint", "Outcome"}}, Metrics: metrics}}
	if event.Orphan > 0 {
		directives = append(directives, directive{Namespace: e.namespace, Dimensions: [][]string{{}}, Metrics: []metric{orphanAge}})
	}
	values["_aws"] = map[string]any{"Timestamp": now.UnixMilli(), "CloudWatchMetrics": directives}
	return values
}

// bounded is the endpoint's name, or "other" where there are too many of them.
func (e *Emitter) bounded(endpoint string) string {
	switch {
	case endpoint == "":
		return "unknown"
	case e.endpoints[endpoint]:
		return endpoint
	case len(e.endpoints) == maxEndpoints:
		return "other"
	}
	e.endpoints[endpoint] = true
	return endpoint
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
