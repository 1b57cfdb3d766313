package dynamofake

import (
	"errors"
	"runtime"
	"slices"
	"strings"
)

// Limits of a transaction (API reference, TransactWriteItems).
const (
	maxActions          = 100
	maxTransactionBytes = 4 << 20
)

// transaction is one TransactWriteItems. The service's protocol is published
// ("Distributed Transactions at Scale in Amazon DynamoDB", USENIX ATC 2023):
// prepare every item, then commit or let go of all. It is open from the moment it holds
// its items until it is committed: whoever meets one of them meanwhile is told
// of a conflict, as in the service, and nobody waits for anybody.
type transaction struct {
	writes []*write
	tables []*table // each once, by name: the order in which they are locked
}

// reason is one element of CancellationReasons.
type reason struct {
	code    string // "None" for the innocent
	message string
	item    item
}

// reasonOf puts the error of one action into the words of a reason.
func reasonOf(err error) reason {
	var e *apiError
	switch {
	case err == nil:
		return reason{code: "None"}
	case err == errConflict:
		return reason{code: "TransactionConflict", message: errConflict.Error()}
	case errors.As(err, &e) && e.code == codeConditionFailed:
		return reason{code: "ConditionalCheckFailed", message: e.message, item: e.item}
	}
	return reason{code: "ValidationError", message: err.Error()}
}

// noReasons are the reasons of n actions as long as none is known.
func noReasons(n int) []reason { return slices.Repeat([]reason{reasonOf(nil)}, n) }

// canceled is the answer to a transaction with at least one reason.
func canceled(reasons []reason) error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = r.code
	}
	return &apiError{
		code:    codeCanceled,
		message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]",
		reasons: reasons,
	}
}

// reasons writes CancellationReasons.
func (w *writer) reasons(reasons []reason) {
	w.open('[')
	for _, r := range reasons {
		w.open('{')
		w.field("Code")
		w.str(r.code)
		if r.message != "" {
			w.field("Message")
			w.str(r.message)
		}
		if r.item != nil {
			w.field("Item")
			w.item(r.item)
		}
		w.close('}')
	}
	w.close(']')
}

// transactWriteItems does all writes or none.
func (s *Server) transactWriteItems(r *request, out *writer) error {
	t, err := s.prepareTransaction(r)
	if err != nil {
		return err
	}
	used, how, err := s.once(r, t)
	if err != nil {
		return err
	}
	out.open('{')
	if r.wantsCapacity() {
		out.field("ConsumedCapacity")
		out.open('[')
		for _, c := range used {
			out.capacity(c, r.returnCapacity.value, how)
		}
		out.close(']')
	}
	out.writeAllMetrics(r, t.writes)
	out.close('}')
	return nil
}

// prepareTransaction checks everything that needs no look at items, in the
// service's order: what the actions say, one by one, then their tables, then
// their keys.
func (s *Server) prepareTransaction(r *request) (*transaction, error) {
	if err := r.checkTransaction(); err != nil {
		return nil, err
	}
	if r.complaint != nil {
		return nil, r.complaint
	}
	t := &transaction{writes: make([]*write, len(r.actions))}
	for i := range r.actions {
		a := &r.actions[i]
		t.writes[i] = newWrite(writeOps[a.op], &a.req)
		if err := t.writes[i].bindAction(&s.expressions, &a.req); err != nil {
			return nil, err
		}
	}
	for i, w := range t.writes {
		var err error
		if w.table, err = s.table(*r.actions[i].req.table); err != nil {
			return nil, err
		}
	}
	err := cancelMisfits(len(t.writes), func(i int) error { return t.writes[i].resolve(&r.actions[i].req) })
	if err != nil {
		return nil, err
	}
	return t, t.finish()
}

// cancelMisfits checks the keys of n actions. Those that do not fit their
// table cancel the transaction, all together; anything else is the answer.
func cancelMisfits(n int, check func(int) error) error {
	var reasons []reason
	for i := range n {
		err := check(i)
		if err == nil {
			continue
		}
		if e := (*apiError)(nil); !errors.As(err, &e) || !e.cancels {
			return err
		}
		if reasons == nil {
			reasons = noReasons(n)
		}
		reasons[i] = reasonOf(err)
	}
	if reasons != nil {
		return canceled(reasons)
	}
	return nil
}

// target is the item that an action of a transaction is about.
type target struct {
	table *table
	key   string
}

var writeOps = map[string]writeOp{"Put": opPut, "Update": opUpdate, "Delete": opDelete, "ConditionCheck": opCheck}

// finish lists the tables and refuses two actions on one item and a
// transaction that is too large.
func (t *transaction) finish() error {
	seen := make(map[target]bool, len(t.writes))
	size := 0
	for _, w := range t.writes {
		if seen[target{w.table, w.key}] {
			return errOneItemTwice
		}
		seen[target{w.table, w.key}] = true
		size += w.item.bytes()
		for _, v := range w.update.scope.values {
			size += v.bytes()
		}
		if !slices.Contains(t.tables, w.table) {
			t.tables = append(t.tables, w.table)
		}
	}
	if size > maxTransactionBytes {
		return invalid("Transaction request exceeds the maximum size of 4 MB")
	}
	sortTables(t.tables)
	return nil
}

// sortTables puts tables into the order in which they are locked: one order for
// all, so that nobody waits in a circle.
func sortTables(tables []*table) {
	slices.SortFunc(tables, func(a, b *table) int { return strings.Compare(a.name, b.name) })
}

// run does the transaction in two phases. The first takes all its items or
// none and decides; the second makes the changes. Between them no lock is held
// and other calls run, so that conflicts happen here as in the service.
func (s *Server) run(t *transaction, use *tokenUse) ([]consumed, error) {
	changes, err := s.hold(t)
	if err != nil {
		return nil, err
	}
	if s.options.TransactionTime > 0 {
		s.pause(s.options.TransactionTime)
	} else {
		runtime.Gosched()
	}
	used, last, err := s.finish(t, changes, use)
	if err != nil {
		return nil, err
	}
	if err := s.log.wait(last); err != nil {
		return nil, internal(err)
	}
	return used, nil
}

// hold is the first phase.
func (s *Server) hold(t *transaction) ([]change, error) {
	lockAll(t.tables)
	defer unlockAll(t.tables)
	changes := make([]change, len(t.writes))
	reasons := make([]reason, len(t.writes))
	failed, units := false, 0.0
	for i, w := range t.writes {
		if w.table.deleted {
			return nil, errNoTable
		}
		s.expire(w.table)
		before := w.table.find(w.key)
		after, err := w.decideHeld(before)
		changes[i] = change{table: w.table, key: w.key, before: before, after: after}
		reasons[i] = reasonOf(err)
		failed = failed || err != nil
		units += 2 * writeUnits(max(before.bytes(), after.bytes()))
	}
	if failed {
		s.stats.wrote(units)
		return nil, canceled(reasons)
	}
	for _, w := range t.writes {
		w.table.open[w.key] = t
	}
	return changes, nil
}

// decideHeld is decide, after a look whether another transaction has the item.
func (w *write) decideHeld(before *record) (*record, error) {
	if w.table.open[w.key] != nil {
		return nil, errConflict
	}
	return w.decide(before)
}

// finish is the second phase. It returns the cost by table and the log's batch
// to wait for. The error says that a table was deleted since the first phase.
func (s *Server) finish(t *transaction, changes []change, use *tokenUse) (used []consumed, last *batch, err error) {
	lockAll(t.tables)
	defer unlockAll(t.tables)
	for _, w := range t.writes {
		delete(w.table.open, w.key)
	}
	for _, table := range t.tables {
		if table.deleted {
			return nil, nil, errNoTable
		}
	}
	each := s.commit(changes, use)
	used = make([]consumed, len(t.tables))
	for i, w := range t.writes {
		at := slices.Index(t.tables, w.table)
		used[at].table = w.table.name
		used[at].add(each[i].times(2))
		last = w.table.last // one record, so one batch
	}
	for _, u := range used {
		s.stats.wrote(u.total())
	}
	return used, last, nil
}

func lockAll(tables []*table) {
	for _, t := range tables {
		t.mu.Lock()
	}
}

func unlockAll(tables []*table) {
	for _, t := range tables {
		t.mu.Unlock()
	}
}
