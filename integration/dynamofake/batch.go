package dynamofake

import (
	"fmt"
	"strings"
)

// Documented limits of batches.
const (
	maxBatchGet   = 100
	maxBatchWrite = 25
	maxBatchBytes = 16 << 20
)

// batchPart are the reads or writes of a batch that concern one table.
type batchPart struct {
	table   string
	request *tableRequest
	gets    []*get
	writes  []*write
}

// checkBatch checks what both batches have in common.
func (r *request) checkBatch(most int) error {
	var c constraints
	c.enum(r.returnCapacity, "returnConsumedCapacity", "INDEXES", "TOTAL", "NONE")
	c.enum(r.returnMetrics, "returnItemCollectionMetrics", "SIZE", "NONE")
	c.present(r.batch != nil, "requestItems")
	if r.batch != nil && len(r.batch) == 0 {
		c.add("'{}'", "requestItems", "Member must have length greater than or equal to 1")
	}
	for i := range r.batch {
		b := &r.batch[i]
		b.name = *bareName(&b.name)
		if n := len(b.keys) + len(b.writes); n == 0 || n > most {
			c.add("'{"+b.name+"=[…]}'", "requestItems", fmt.Sprintf(
				"Map value must satisfy constraint: [Member must have length less than or equal to %d, Member must have length greater than or equal to 1]", most))
		}
		if len(b.name) < 3 || len(b.name) > 255 || run(b.name, 0, isNameByte) < len(b.name) {
			c.add("'{"+b.name+"=[…]}'", "requestItems",
				"Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]")
		}
	}
	return c.err()
}

func (s *Server) batchGetItem(r *request, out *writer) error {
	if err := r.checkBatch(maxBatchGet); err != nil {
		return err
	}
	parts, err := s.prepareBatchGet(r)
	if err != nil {
		return err
	}
	var answers, rest, used writer
	answers.open('{')
	rest.open('{')
	used.open('[')
	left := maxBatchBytes
	for _, p := range parts {
		if err := s.getPart(p, r, &answers, &rest, &used, &left); err != nil {
			return err
		}
	}
	answers.close('}')
	rest.close('}')
	used.close(']')
	out.open('{')
	out.raw("Responses", answers)
	out.raw("UnprocessedKeys", rest)
	if r.wantsCapacity() {
		out.raw("ConsumedCapacity", used)
	}
	out.close('}')
	return nil
}

// raw writes a member that another writer made.
func (w *writer) raw(name string, from writer) {
	w.field(name)
	w.out = append(w.out, from.out...)
}

// prepareBatchGet checks all reads of a batch.
func (s *Server) prepareBatchGet(r *request) ([]batchPart, error) {
	if r.complaint != nil {
		return nil, r.complaint
	}
	var parts []batchPart
	total := 0
	for i := range r.batch {
		b := &r.batch[i]
		p := batchPart{table: b.name, request: b}
		seen := map[string]bool{}
		for _, key := range b.keys {
			one := b.get
			one.table, one.key = &b.name, key
			g, err := s.prepareGet(&one)
			if err != nil {
				return nil, err
			}
			if seen[g.key] {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
			seen[g.key] = true
			p.gets = append(p.gets, g)
		}
		total += len(p.gets)
		parts = append(parts, p)
	}
	if total > maxBatchGet {
		return nil, invalid("Too many items requested for the BatchGetItem call")
	}
	return parts, nil
}

// getPart reads the items of one table, as long as there is room for them in
// the answer; the rest is for the caller to ask again.
func (s *Server) getPart(p batchPart, r *request, answers, rest, used *writer, left *int) error {
	cost := consumed{table: p.table}
	answers.field(p.table)
	answers.open('[')
	var unread []item
	for i, g := range p.gets {
		found, err := s.read(g.table, func() *record { return g.table.find(g.key) })
		if err != nil {
			return err
		}
		if *left -= found.bytes(); *left < 0 {
			unread = append(unread, p.request.keys[i])
			continue
		}
		cost.units += readUnits(found.bytes(), p.request.get.consistent)
		if found != nil {
			answers.item(g.project(found))
		}
	}
	answers.close(']')
	if unread != nil {
		rest.field(p.table)
		rest.unreadKeys(&p.request.get, unread)
	}
	s.stats.read(cost.units)
	used.capacity(cost, r.returnCapacity, noSplit)
	return nil
}

// unreadKeys writes what has to be asked again.
func (w *writer) unreadKeys(get *request, keys []item) {
	w.open('{')
	w.field("Keys")
	w.open('[')
	for _, key := range keys {
		w.item(key)
	}
	w.close(']')
	if get.projection != nil {
		w.member("ProjectionExpression", *get.projection)
	}
	if get.hasNames {
		w.field("ExpressionAttributeNames")
		w.open('{')
		for _, n := range get.names {
			w.member(n.placeholder, n.name)
		}
		w.close('}')
	}
	w.field("ConsistentRead")
	w.bool(get.consistent)
	w.close('}')
}

func (s *Server) batchWriteItem(r *request, out *writer) error {
	if err := r.checkBatch(maxBatchWrite); err != nil {
		return err
	}
	parts, err := s.prepareBatchWrite(r)
	if err != nil {
		return err
	}
	var rest, used writer
	var all []*write
	rest.open('{')
	used.open('[')
	for _, p := range parts {
		if err := s.writePart(p, r, &rest, &used); err != nil {
			return err
		}
		all = append(all, p.writes...)
	}
	rest.close('}')
	used.close(']')
	out.open('{')
	out.raw("UnprocessedItems", rest)
	if r.wantsCapacity() {
		out.raw("ConsumedCapacity", used)
	}
	out.writeAllMetrics(r, all)
	out.close('}')
	return nil
}

// prepareBatchWrite checks all writes of a batch.
func (s *Server) prepareBatchWrite(r *request) ([]batchPart, error) {
	if r.complaint != nil {
		return nil, r.complaint
	}
	var parts []batchPart
	total := 0
	for i := range r.batch {
		b := &r.batch[i]
		p := batchPart{table: b.name, request: b}
		seen := map[string]bool{}
		for j := range b.writes {
			w, err := s.prepareBatched(&b.name, &b.writes[j])
			if err != nil {
				return nil, err
			}
			if seen[w.key] {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
			seen[w.key] = true
			p.writes = append(p.writes, w)
		}
		total += len(p.writes)
		parts = append(parts, p)
	}
	if total > maxBatchWrite {
		return nil, invalid("Too many items requested for the BatchWriteItem call")
	}
	return parts, nil
}

// prepareBatched checks one write of a batch, which has no condition.
func (s *Server) prepareBatched(table *string, a *action) (*write, error) {
	one := request{table: table, item: a.req.item, key: a.req.key}
	switch {
	case a.op == "PutRequest" && one.item != nil:
		return s.prepareWrite(opPut, &one)
	case a.op == "DeleteRequest" && one.key != nil:
		return s.prepareWrite(opDelete, &one)
	}
	return nil, invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
}

// writePart does the writes to one table, each by itself. One whose item is in
// an open transaction is for the caller to try again.
func (s *Server) writePart(p batchPart, r *request, rest, used *writer) error {
	cost := consumed{table: p.table}
	var undone []int
	for i, w := range p.writes {
		_, units, err := s.perform(w)
		switch {
		case err == errConflict:
			undone = append(undone, i)
			continue
		case err != nil:
			return err
		}
		cost.add(units)
	}
	if undone != nil {
		rest.field(p.table)
		rest.open('[')
		for _, i := range undone {
			rest.undoneWrite(&p.request.writes[i])
		}
		rest.close(']')
	}
	used.capacity(cost, r.returnCapacity, noSplit)
	return nil
}

// undoneWrite writes what has to be tried again.
func (w *writer) undoneWrite(a *action) {
	w.open('{')
	w.field(a.op)
	w.open('{')
	if strings.HasPrefix(a.op, "Put") {
		w.field("Item")
		w.item(a.req.item)
	} else {
		w.field("Key")
		w.item(a.req.key)
	}
	w.close('}')
	w.close('}')
}
