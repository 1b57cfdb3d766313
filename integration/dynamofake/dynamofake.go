// Package dynamofake is a DynamoDB-compatible server in one process, for local
// runs and for tests. Use it as an http.Handler, by its RoundTripper, or in a
// test by Start; the command integration/cmd/dynamofake serves it on a
// loopback address.
//
// It is a fake in the testing sense: a working implementation that takes
// shortcuts which make it unfit for production. It offers the calls on items
// (PutItem, GetItem, UpdateItem, DeleteItem, Query, Scan, BatchGetItem,
// BatchWriteItem, TransactWriteItems, TransactGetItems), on tables (CreateTable,
// DescribeTable, UpdateTable, DeleteTable, ListTables, the three on tags,
// UpdateTimeToLive, DescribeTimeToLive, DescribeContinuousBackups) and those of
// DynamoDB Streams, with the service's rules for expressions, numbers, limits,
// capacity and errors as they are documented. Any other call is answered with
// UnknownOperationException.
//
// What it does not do, or does in another way than the service:
//
//   - No PartiQL, backups, exports, imports, global tables, replicas, Kinesis
//     destinations, resource policies or contributor insights.
//   - No keys of several attributes: the partition key of a global index is one
//     attribute, and its sort key too.
//   - No legacy parameters (Expected, AttributeUpdates, KeyConditions, …): a
//     request with one is refused.
//   - Nobody is asked who they are: signatures are not looked at. Any Region and
//     account will do; ARNs are those of account 000000000000 in us-east-1.
//   - No throttling by throughput, and no partition limits; inject faults.
//     Encryption, table class and on-demand limits are accepted and do nothing.
//   - Tables and indexes are ready at once, though answers say CREATING,
//     UPDATING and DELETING as the service's do. Counts and sizes are exact and
//     current. Reads are always consistent, also those of global indexes.
//   - A stream has one shard that never splits. Items expire soon (see
//     Options.TTLDelay), where the service takes up to days.
//   - A set comes back in the order of its members, an item in the order of its
//     names; the service promises no order.
//   - Where the service's behaviour is not documented, the choice is noted at
//     the code. Texts of messages are the service's where they are known.
//
// Comments name the page of the Amazon DynamoDB documentation that a rule is
// from: of the developer guide, or of the API reference. Where they say "so the
// service does", no page says it; it is what the service was seen to answer.
//
// Transactions have two phases, as in the service. An item of an open one makes
// others fail with TransactionConflict; nobody waits, so nothing deadlocks.
//
// With Options.Dir the data is kept in a log. An answer, be it of a write or a
// read, is given when everything it depends on is on the disk.
package dynamofake

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a Server. The zero value is a server that keeps everything
// in memory and uses the machine's clock.
type Options struct {
	// Dir is where data is kept; an acknowledged write is on the disk. It is
	// made if need be, and only one server can have it open. "" keeps data in
	// memory only.
	Dir string
	// Now is the server's clock: it dates tables and stream records, expires
	// items and client request tokens. nil is time.Now. Injected delays do not
	// look at it: they take real time (or a synctest bubble's).
	Now func() time.Time
	// TTLDelay is how long an item stays after it expired, and after it was
	// written. 0 is DefaultTTLDelay; negative is none.
	TTLDelay time.Duration
	// TransactionTime is how long a transaction stays open between its two
	// phases, so that tests can meet it: others then see TransactionConflict and
	// TransactionInProgress. 0 lets other calls run once.
	TransactionTime time.Duration
	// TokensCompareBytes tells requests with one client request token apart by
	// their bytes. By default they are compared by what they mean. Which of the
	// two the service does is disputed; do not depend on either.
	TokensCompareBytes bool
}

// Server is a DynamoDB-compatible server, to be used as an http.Handler or by
// its RoundTripper. It is safe for concurrent use.
type Server struct {
	options     Options
	now         func() time.Time
	expressions expressionCache
	faults      faults
	stats       counters
	log         *wal // nil: memory only
	tokens      tokens

	// mu guards the three below, not what is in the tables and streams.
	mu      sync.RWMutex
	tables  map[string]*table
	streams map[string]*stream // by ARN, those that ended included
	closed  bool

	// compactAt is the length at which the log is compacted.
	compactAt atomic.Int64

	closing chan struct{}  // closed by Close
	calls   sync.WaitGroup // calls that have begun
}

// Open starts a server. Close it when it is not needed any more.
func Open(o Options) (*Server, error) {
	s := &Server{options: o, now: o.Now, closing: make(chan struct{})}
	s.tables, s.streams = map[string]*table{}, map[string]*stream{}
	if s.now == nil {
		s.now = time.Now
	}
	if o.TTLDelay == 0 {
		s.options.TTLDelay = DefaultTTLDelay
	}
	if o.Dir == "" {
		return s, nil
	}
	log, err := openLog(o.Dir, s.replay)
	if err != nil {
		return nil, fmt.Errorf("dynamofake: opening the data: %w", err)
	}
	s.log = log
	s.compactAt.Store(compactFrom)
	return s, nil
}

// Close ends the server: delayed writes land at once, then the data is closed.
// Calls after it are refused.
func (s *Server) Close() error {
	s.mu.Lock()
	already := s.closed
	s.closed = true
	s.mu.Unlock()
	if already {
		return nil
	}
	close(s.closing)
	s.calls.Wait()
	if err := s.log.close(); err != nil {
		return fmt.Errorf("dynamofake: closing the data: %w", err)
	}
	return nil
}

// table is the table of that name.
func (s *Server) table(name string) (*table, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tables[name]; t != nil {
		return t, nil
	}
	return nil, errNoTable
}
