package dynamofake

import (
	"fmt"
	"strings"
)

// batchWriteItem does each write by itself. Some may be done and others not;
// the service promises no more.
func (s *Server) batchWriteItem(r *request, out *writer) error {
	for _, b := range r.batch {
		if b.shape == '{' {
			return unexpected("Start of structure or map found where not expected")
		}
	}
	if err := r.checkBatch(maxBatchWrite); err != nil {
		return err
	}
	if err := r.checkBatchedWrites(); err != nil {
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

// checkBatchedWrites refuses writes without an item or key.
func (r *request) checkBatchedWrites() error {
	var c constraints
	nothing := false
	for _, b := range r.batch {
		for i, a := range b.writes {
			at := fmt.Sprintf("requestItems.%s.member.%d.member.", b.name, i+1)
			switch a.op {
			case "PutRequest":
				c.present(a.req.item != nil, at+"putRequest.item")
			case "DeleteRequest":
				c.present(a.req.key != nil, at+"deleteRequest.key")
			default:
				nothing = true
			}
		}
	}
	if err := c.err(); err != nil || !nothing {
		return err
	}
	return errNotOneRequest
}

// errNotOneRequest is the answer to an element of a batch that has not exactly
// one of PutRequest and DeleteRequest, in the service's words.
var errNotOneRequest = invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")

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
	if a.op == "DeleteRequest" {
		return s.prepareWrite(opDelete, &one)
	}
	t, err := s.table(*table)
	if err != nil {
		return nil, err
	}
	schema, _ := t.shape()
	if err := schema.checkKeyIn(one.item); err != nil { // not in the words of a single put
		return nil, err
	}
	return s.prepareWrite(opPut, &one)
}

// writePart does the writes to one table, each by itself. One whose item is in
// an open transaction is for the caller to try again (API reference,
// BatchWriteItem: UnprocessedItems).
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
	used.capacity(cost, r.returnCapacity.value, noSplit)
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
