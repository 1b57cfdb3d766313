package dynamofake

import "slices"

// maxItemBytes is the limit of an item, names included ("Quotas in Amazon
// DynamoDB": items).
const maxItemBytes = 400 << 10

// writeOp is what a write does to its item.
type writeOp uint8

const (
	opPut writeOp = iota
	opUpdate
	opDelete
	opCheck
)

// write is one write of one item, by itself or in a transaction: checked,
// bound and ready to be decided on.
type write struct {
	op        writeOp
	table     *table
	key       string // encoded
	item      item   // of a put, else the key
	condition bound
	update    bound
	oldOnFail bool
}

// change is a decided write. Without before the item is new, without after it
// is deleted.
type change struct {
	table         *table
	key           string
	before, after *record
	// byTTL marks a deletion by the time to live.
	byTTL bool
}

// newRecord is the record of an item.
func newRecord(it item) *record { return &record{item: it, size: it.bytes()} }

// prepareWrite checks everything about a write that needs no look at the item.
// The order is the service's: parameters, expressions, table, key.
func (s *Server) prepareWrite(op writeOp, r *request) (*write, error) {
	w := newWrite(op, r)
	if err := w.bind(&s.expressions, r); err != nil {
		return nil, err
	}
	var err error
	if w.table, err = s.table(*r.table); err != nil {
		return nil, err
	}
	return w, w.resolve(r)
}

func newWrite(op writeOp, r *request) *write {
	return &write{op: op, oldOnFail: r.returnOnFail.value == "ALL_OLD"}
}

// bind checks parameters and expressions.
func (w *write) bind(cache *expressionCache, r *request) error {
	if err := w.checkUse(r); err != nil {
		return err
	}
	if r.complaint != nil {
		return r.complaint
	}
	if w.op != opUpdate && r.returnValues.given && r.returnValues.value != "ALL_OLD" && r.returnValues.value != "NONE" {
		return invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	if w.op == opPut && r.item.bytes() > maxItemBytes {
		return errItemTooLarge
	}
	return w.bindExpressions(cache, r)
}

// bindAction is bind for the action of a transaction. There the service tells
// what is wrong with the expressions before what is wrong with the Key.
func (w *write) bindAction(cache *expressionCache, r *request) error {
	if w.op == opPut {
		return w.bind(cache, r)
	}
	if err := w.checkUse(r); err != nil {
		return err
	}
	if err := w.bindExpressions(cache, r); err != nil {
		return err
	}
	return r.complaint
}

// checkUse refuses names and values without an expression.
func (w *write) checkUse(r *request) error {
	if w.op == opUpdate {
		return r.checkExpressionUse(given{updateExpression, r.update}, given{conditionExpression, r.condition})
	}
	return r.checkExpressionUse(given{conditionExpression, r.condition})
}

// bindExpressions parses the expressions and resolves their placeholders.
func (w *write) bindExpressions(cache *expressionCache, r *request) error {
	if err := r.checkPlaceholders(); err != nil {
		return err
	}
	var err error
	if w.op == opUpdate {
		if w.update, err = r.bind(cache, updateExpression, r.update); err != nil {
			return err
		}
	}
	if w.condition, err = r.bind(cache, conditionExpression, r.condition); err != nil {
		return err
	}
	return r.checkUnused()
}

// resolve checks the write against its table.
func (w *write) resolve(r *request) error {
	w.item = r.key
	schema, indexes := w.table.shape()
	if w.op == opPut {
		w.item = r.item
		if err := schema.checkItem(w.item); err != nil {
			return err
		}
		for _, x := range indexes {
			if err := x.checkItem(w.item); err != nil {
				return err
			}
		}
	} else if err := schema.checkKey(w.item); err != nil {
		return err
	}
	if w.update.present() {
		if err := w.checkTargets(schema, indexes); err != nil {
			return err
		}
		if err := w.update.checkScalarKeys(w.table); err != nil {
			return err
		}
	}
	w.key = schema.encode(w.item)
	return nil
}

// checkTargets refuses an update of a key attribute, and one that is bound to
// give the key attribute of an index a wrong type.
func (w *write) checkTargets(s schema, indexes []*index) error {
	for _, a := range s.attrs() {
		if slices.ContainsFunc(w.update.paths, func(p path) bool { return p[0].key(&w.update.scope) == a.name }) {
			return invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", a.name)
		}
	}
	for _, x := range indexes {
		if err := w.update.update.checkIndexed(x, &w.update.scope); err != nil {
			return err
		}
	}
	return nil
}

// decide is what the write makes of its item: nil for a deleted one, the same
// record for a mere check. The error says why it must not happen.
func (w *write) decide(old *record) (*record, error) {
	if !w.condition.holds(old.attrs()) {
		return nil, w.conditionFailed(old)
	}
	switch w.op {
	case opPut:
		return newRecord(w.item), nil
	case opDelete:
		return nil, nil
	case opCheck:
		return old, nil
	}
	return w.updated(old)
}

// updated is the record after the update; a missing item begins as its key.
func (w *write) updated(old *record) (*record, error) {
	it := w.item
	if old != nil {
		it = old.item
	}
	if !w.update.present() {
		return newRecord(it), nil
	}
	it, err := w.update.update.apply(&w.update.scope, it)
	if err != nil {
		return nil, err
	}
	r := newRecord(it)
	if r.size > maxItemBytes {
		return nil, errUpdateTooLarge
	}
	for _, a := range it {
		if a.value.depth() > maxDepth {
			return nil, errTooDeep
		}
	}
	for _, x := range w.table.indexes {
		if err := x.checkUpdated(it); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// conditionFailed is the refusal, with the item if the caller wants it and there
// is one.
func (w *write) conditionFailed(old *record) error {
	if !w.oldOnFail || old == nil {
		return errConditionFailed
	}
	return &apiError{code: codeConditionFailed, message: errConditionFailed.Error(), item: old.item}
}

// writeItem is PutItem, UpdateItem or DeleteItem.
func (s *Server) writeItem(op writeOp, r *request, out *writer) error {
	if err := r.checkWrite(op); err != nil {
		return err
	}
	w, err := s.prepareWrite(op, r)
	if err != nil {
		return err
	}
	done, used, err := s.perform(w)
	if err != nil {
		return err
	}
	out.open('{')
	if attrs := w.returned(r.returnValues.value, done); attrs != nil {
		out.field("Attributes")
		out.item(attrs)
	}
	if r.wantsCapacity() {
		out.field("ConsumedCapacity")
		out.capacity(used, r.returnCapacity.value, noSplit)
	}
	out.writeMetrics(r, w)
	out.close('}')
	return nil
}

// checkWrite checks the parameters of a single write.
func (r *request) checkWrite(op writeOp) error {
	if err := r.checkTableGiven(); err != nil {
		return err
	}
	var c constraints
	c.capacity(r)
	c.table(r)
	if op == opPut {
		c.present(r.item != nil, "item")
		c.choice(r.returnValues, "returnValues", returnValues...)
		c.metrics(r)
	} else {
		c.metrics(r)
		c.choice(r.returnValues, "returnValues", returnValues...)
		c.present(r.key != nil, "key")
	}
	c.choice(r.returnOnFail, "returnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
	return c.err()
}

var returnValues = []string{"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"}

// perform decides on a write and, if it may happen, does it. It returns when
// the outcome, good or bad, is durable.
func (s *Server) perform(w *write) (change, consumed, error) {
	t := w.table
	t.mu.Lock()
	done, used, err := s.decideAndCommit(w)
	last := t.last
	t.mu.Unlock()
	s.stats.wrote(used.total())
	if failed := s.log.wait(last); failed != nil {
		return done, used, internal(failed)
	}
	return done, used, err
}

// decideAndCommit is perform's part under the table's lock. A write that its
// condition refuses costs as much as one of the item that is there.
func (s *Server) decideAndCommit(w *write) (change, consumed, error) {
	t := w.table
	if t.deleted {
		return change{}, consumed{}, errNoTable
	}
	s.expire(t)
	if t.open[w.key] != nil {
		return change{}, consumed{}, errConflict
	}
	before := t.find(w.key)
	after, err := w.decide(before)
	if err != nil {
		return change{}, consumed{table: t.name, units: writeUnits(before.bytes())}, err
	}
	done := change{table: t, key: w.key, before: before, after: after}
	used := s.commit([]change{done}, nil)
	return done, used[0], nil
}

// returned are the attributes that ReturnValues asks for.
func (w *write) returned(values string, done change) item {
	switch values {
	case "ALL_OLD":
		return done.before.attrs()
	case "ALL_NEW":
		return done.after.attrs()
	case "UPDATED_OLD":
		return w.touched(done.before)
	case "UPDATED_NEW":
		return w.touched(done.after)
	}
	return nil
}

// touched is the part of a record that the update's paths lead to, nil if none.
func (w *write) touched(r *record) item {
	if !w.update.present() {
		return nil
	}
	if out := project(r.attrs(), w.update.paths, &w.update.scope); len(out) > 0 {
		return out
	}
	return nil
}
