package dynamofake

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// FaultKind is what a fault does to a call.
type FaultKind string

// The kinds of faults.
const (
	// FaultError answers 500 InternalServerError; nothing is written.
	FaultError FaultKind = "error"
	// FaultThrottle answers ProvisionedThroughputExceededException, for
	// transactions and calls on tables ThrottlingException; nothing is written.
	FaultThrottle FaultKind = "throttle"
	// FaultDropAck does the call, then drops the connection without an answer.
	FaultDropAck FaultKind = "drop-ack"
	// FaultDelay does the call after Delay, even if the caller has gone.
	FaultDelay FaultKind = "delay"
)

// Fault makes some of the next calls fail. Several faults may be active; each
// counts the calls it matches from its injection on, SDK retries included.
type Fault struct {
	// Op is the call, such as "PutItem"; "" is any but those of DynamoDB
	// Streams, which is a service of its own.
	Op string
	// Nth is the first call it affects, counted from 1; 0 is 1.
	Nth int
	// Times is how many calls it affects; 0 is 1, negative is all until Reset.
	Times int
	// Kind is required.
	Kind FaultKind
	// Delay is required for FaultDelay.
	Delay time.Duration
	// Table limits the fault to calls that name this table; "" is any. With
	// Times -1 it is a partial outage.
	Table string
}

// activeFault is a fault and the calls it has seen.
type activeFault struct {
	Fault
	seen int
}

// faults are the active faults. The zero value has none.
type faults struct {
	mu     sync.Mutex
	active []*activeFault
}

// effect is what the faults do to one call.
type effect struct {
	err   error
	delay time.Duration
	drop  bool
}

// Inject activates a fault. The error says what is wrong with it.
func (s *Server) Inject(f Fault) error {
	if f.Op != "" && operations[f.Op] == nil {
		return fmt.Errorf("dynamofake: fault: unknown call %q; use a name like PutItem, or leave it empty for all", f.Op)
	}
	if !slices.Contains([]FaultKind{FaultError, FaultThrottle, FaultDropAck, FaultDelay}, f.Kind) {
		return fmt.Errorf("dynamofake: fault: unknown kind %q; use error, throttle, drop-ack or delay", f.Kind)
	}
	if f.Nth < 0 {
		return fmt.Errorf("dynamofake: fault: nth is %d; the first call is 1", f.Nth)
	}
	if f.Delay < 0 || f.Kind == FaultDelay && f.Delay == 0 {
		return fmt.Errorf("dynamofake: fault: delay is %v; give a positive one", f.Delay)
	}
	f.Nth, f.Times = max(f.Nth, 1), cmp.Or(f.Times, 1)
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.active = append(s.faults.active, &activeFault{Fault: f})
	return nil
}

// take counts a call and returns what the active faults do to it.
func (f *faults) take(op string, tables []string) effect {
	f.mu.Lock()
	defer f.mu.Unlock()
	var e effect
	f.active = slices.DeleteFunc(f.active, func(a *activeFault) bool {
		if !a.matches(op, tables) {
			return false
		}
		if a.seen++; a.seen < a.Nth {
			return false
		}
		a.add(&e, op)
		return a.Times > 0 && a.seen == a.Nth+a.Times-1
	})
	return e
}

// clear drops the faults, used up or not.
func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active = nil
}

// matches reports whether a call is one that the fault counts.
func (a *activeFault) matches(op string, tables []string) bool {
	anyCall := a.Op == "" && operations[op].service == serviceDynamo
	return (anyCall || a.Op == op) && (a.Table == "" || slices.Contains(tables, a.Table))
}

// add adds what the fault does to what others do. Of several errors the latest
// fault's is answered; delays add up.
func (a *activeFault) add(e *effect, op string) {
	switch a.Kind {
	case FaultError:
		e.err = &apiError{code: codeInternal, message: "Internal server error (injected)", status: http.StatusInternalServerError}
	case FaultThrottle:
		e.err = throttled(op)
	case FaultDropAck:
		e.drop = true
	case FaultDelay:
		e.delay += a.Delay
	}
}

// throttled is the throttling answer of a call.
func throttled(op string) error {
	switch op {
	case "PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem":
		return fail(codeThroughputExceeded, "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.")
	}
	return fail(codeThrottling, "Rate of requests exceeds the allowed throughput.")
}
