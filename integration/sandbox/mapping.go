package sandbox

import (
	"slices"
	"strings"
	"time"
)

// mapping is one event source mapping: a table's stream that invokes a function.
//
// Source: docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
type mapping struct {
	function  string        // logical id
	table     string        // by name
	batchSize int           // records of one invocation, at most
	retries   int           // of one batch; negative: no limit
	maxAge    time.Duration // of a record; 0: no limit
	bisect    bool          // halve a batch that failed as a whole
	partial   bool          // the function says which records failed (ReportBatchItemFailures)
	filters   []*pattern    // a record must match one; none: all do
	onFailure string        // the queue, by name, that hears of records that were given up; "": none
}

// streamSuffix ends what GetAtt of a table's StreamArn is while the template is read. The real one is known when the
// table is there.
const streamSuffix = "/stream/latest"

// readMapping reads an event of the type DynamoDB.
func readMapping(r *resolver, what, function string, e *node) (mapping, error) {
	m, p := mapping{function: function}, e.get("Properties")
	if p == nil {
		return m, e.errorf("%s: Properties are needed", what)
	}
	if err := p.only(what, "BatchSize", "BisectBatchOnFunctionError", "DestinationConfig", "FilterCriteria", "FunctionResponseTypes",
		"MaximumRecordAgeInSeconds", "MaximumRetryAttempts", "StartingPosition", "Stream"); err != nil {
		return m, err
	}
	arn, err := r.member(p, "Stream")
	if err != nil {
		return m, err
	}
	_, name, _ := strings.Cut(arn, ":table/")
	var ok bool
	if m.table, ok = strings.CutSuffix(name, streamSuffix); !ok {
		return m, p.get("Stream").errorf("%s: Stream must be a GetAtt of the StreamArn of one of the template's tables", what)
	}
	if start := p.get("StartingPosition"); !textIs(start, "TRIM_HORIZON") {
		return m, p.errorf("%s: the sandbox supports StartingPosition: TRIM_HORIZON alone, since others lose records", what)
	}
	if err := m.readNumbers(r, what, p); err != nil {
		return m, err
	}
	if err := m.readFailures(r, what, p); err != nil {
		return m, err
	}
	m.filters, err = readFilters(r, what, p.get("FilterCriteria"))
	return m, err
}

// readNumbers reads the limits; the defaults are Lambda's.
func (m *mapping) readNumbers(r *resolver, what string, p *node) (err error) {
	if m.batchSize, err = r.number(p.get("BatchSize"), 100); err != nil {
		return err
	}
	if m.batchSize < 1 || m.batchSize > 10_000 {
		return p.get("BatchSize").errorf("%s: BatchSize %d is not between 1 and 10000", what, m.batchSize)
	}
	if m.retries, err = r.number(p.get("MaximumRetryAttempts"), -1); err != nil {
		return err
	}
	seconds, err := r.number(p.get("MaximumRecordAgeInSeconds"), -1)
	m.maxAge = time.Duration(max(seconds, 0)) * time.Second
	return err
}

// readFailures reads what becomes of records that failed.
func (m *mapping) readFailures(r *resolver, what string, p *node) error {
	m.bisect = textIs(p.get("BisectBatchOnFunctionError"), "true")
	responses, err := r.texts(p.get("FunctionResponseTypes"))
	if err != nil {
		return err
	}
	m.partial = slices.Contains(responses, "ReportBatchItemFailures")
	destination := p.get("DestinationConfig")
	if destination == nil {
		return nil
	}
	if err := destination.only(what+": DestinationConfig", "OnFailure"); err != nil {
		return err
	}
	on := destination.get("OnFailure")
	if !textIs(on.get("Type"), "SQS") {
		return destination.errorf("%s: the sandbox supports an OnFailure of Type: SQS alone", what)
	}
	arn, err := r.member(on, "Destination")
	if err != nil {
		return err
	}
	m.onFailure = arn[strings.LastIndex(arn, ":")+1:]
	if arn != queueARN(r.refs["AWS::Region"], m.onFailure) {
		return on.errorf("%s: Destination must be the Arn of one of the template's queues", what)
	}
	return nil
}
