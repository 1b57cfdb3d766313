package dynamofake

import (
	"fmt"
	"slices"
)

// transactGetItems reads all items as they are at one moment.
func (s *Server) transactGetItems(r *request, out *writer) error {
	if err := r.checkTransactGet(); err != nil {
		return err
	}
	if r.complaint != nil {
		return r.complaint
	}
	gets, err := s.prepareTransactGet(r)
	if err != nil {
		return err
	}
	tables, err := tablesOf(gets)
	if err != nil {
		return err
	}
	found, err := s.readTogether(gets, tables)
	if err != nil {
		return err
	}
	used := make([]consumed, len(tables))
	size := 0
	for i, g := range gets {
		at := slices.Index(tables, g.table)
		used[at].table = g.table.name
		used[at].units += 2 * readUnits(found[i].bytes(), true)
		size += found[i].bytes()
	}
	for _, u := range used {
		s.stats.read(u.units)
	}
	if size > maxTransactionBytes {
		return invalid("Transaction request exceeds the maximum size of 4 MB")
	}
	out.transactGet(gets, found, used, r)
	return nil
}

// checkTransactGet checks the parameters.
func (r *request) checkTransactGet() error {
	var c constraints
	c.capacity(r)
	c.actions(r)
	for i := range r.actions {
		a := &r.actions[i]
		at := fmt.Sprintf("transactItems.%d.member.get", i+1)
		if a.op != "Get" {
			c.add("null", at, "Member must not be null")
			continue
		}
		c.present(a.req.key != nil, at+".key")
		c.present(a.req.table != nil, at+".tableName")
		a.req.table = bareName(a.req.table)
		c.name(a.req.table, at+".tableName")
	}
	return c.err()
}

// prepareTransactGet checks everything that needs no look at items, in the order
// of prepareTransaction.
func (s *Server) prepareTransactGet(r *request) ([]*get, error) {
	gets := make([]*get, len(r.actions))
	for i := range r.actions {
		projection, err := s.bindGet(&r.actions[i].req)
		if err != nil {
			return nil, err
		}
		gets[i] = &get{projection: projection}
	}
	for i, g := range gets {
		var err error
		if g.table, err = s.table(*r.actions[i].req.table); err != nil {
			return nil, err
		}
	}
	return gets, cancelMisfits(len(gets), func(i int) (err error) {
		if gets[i], err = resolveGet(gets[i].table, r.actions[i].req.key, gets[i].projection); err != nil {
			return err
		}
		return gets[i].projection.checkScalarKeys(gets[i].table)
	})
}

// tablesOf lists the tables in the order in which they are locked, and refuses
// two reads of one item.
func tablesOf(gets []*get) ([]*table, error) {
	var tables []*table
	seen := make(map[target]bool, len(gets))
	for _, g := range gets {
		if seen[target{g.table, g.key}] {
			return nil, errOneItemTwice
		}
		seen[target{g.table, g.key}] = true
		if !slices.Contains(tables, g.table) {
			tables = append(tables, g.table)
		}
	}
	sortTables(tables)
	return tables, nil
}

// readTogether reads all items as they are at one moment, and returns when that
// is durable.
func (s *Server) readTogether(gets []*get, tables []*table) ([]*record, error) {
	for _, t := range tables {
		s.expireNow(t)
	}
	found, last, err := lookTogether(gets, tables)
	if err != nil {
		return nil, err
	}
	if err := s.log.wait(last); err != nil {
		return nil, internal(err)
	}
	return found, nil
}

// lookTogether is readTogether under the tables' locks. An item that an open
// transaction writes cancels the read, as in the service.
func lookTogether(gets []*get, tables []*table) (found []*record, last *batch, err error) {
	for _, t := range tables {
		t.mu.RLock()
		defer t.mu.RUnlock()
		last = later(last, t.last)
	}
	found = make([]*record, len(gets))
	reasons := make([]reason, len(gets))
	conflict := false
	for i, g := range gets {
		if g.table.deleted {
			return nil, nil, errNoTable
		}
		reasons[i] = reasonOf(nil)
		if g.table.open[g.key] != nil {
			conflict, reasons[i] = true, reasonOf(errConflict)
		}
		found[i] = g.table.find(g.key)
	}
	if conflict {
		return nil, nil, canceled(reasons)
	}
	return found, last, nil
}

// transactGet writes the answer.
func (w *writer) transactGet(gets []*get, found []*record, used []consumed, r *request) {
	w.open('{')
	w.field("Responses")
	w.open('[')
	for i, g := range gets {
		w.open('{')
		if found[i] != nil {
			w.field("Item")
			w.item(g.project(found[i]))
		}
		w.close('}')
	}
	w.close(']')
	if r.wantsCapacity() {
		w.field("ConsumedCapacity")
		w.open('[')
		for _, u := range used {
			w.capacity(u, r.returnCapacity.value, readSplit)
		}
		w.close(']')
	}
	w.close('}')
}
