package dynamofake

// batchGetItem reads items one by one: the batch is no transaction, and each
// item is as it was when it was looked at.
func (s *Server) batchGetItem(r *request, out *writer) error {
	for i := range r.batch {
		switch b := &r.batch[i]; {
		case b.shape == '[':
			return unexpected("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeysAndAttributes")
		case b.keys == nil:
			return invalid("1 validation error detected: Value null at 'requestItems.%s.member.keys' failed to satisfy constraint: Member must not be null", b.name)
		}
	}
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

// prepareBatchGet checks all reads of a batch.
func (s *Server) prepareBatchGet(r *request) ([]batchPart, error) {
	projections, err := s.bindBatchGet(r)
	if err != nil {
		return nil, err
	}
	parts := make([]batchPart, len(r.batch))
	for i := range parts {
		b := &r.batch[i]
		parts[i] = batchPart{table: b.name, request: b}
		t, err := s.table(b.name)
		if err != nil {
			return nil, err
		}
		for _, key := range b.keys {
			g, err := resolveGet(t, key, projections[i])
			if err != nil {
				return nil, err
			}
			parts[i].gets = append(parts[i].gets, g)
		}
		if err := projections[i].checkScalarKeys(t); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// bindBatchGet checks what needs no look at the tables, and returns the
// projection of each part.
func (s *Server) bindBatchGet(r *request) ([]bound, error) {
	projections := make([]bound, len(r.batch))
	total := 0
	for i := range r.batch {
		b := &r.batch[i]
		var err error
		if projections[i], err = s.bindGet(&b.get); err != nil {
			return nil, err
		}
		if r.complaint != nil {
			return nil, r.complaint
		}
		if b.keysTwice() {
			return nil, invalid("Provided list of item keys contains duplicates")
		}
		if total += len(b.keys); total > maxBatchGet {
			return nil, invalid("Too many items requested for the BatchGetItem call")
		}
	}
	return projections, nil
}

// keysTwice reports whether two keys are the same.
func (b *tableRequest) keysTwice() bool {
	seen := make(map[string]bool, len(b.keys))
	for _, key := range b.keys {
		var w writer
		w.item(key)
		if seen[string(w.out)] {
			return true
		}
		seen[string(w.out)] = true
	}
	return false
}

// getPart reads the items of one table, as long as there is room for them in
// the answer; the rest is for the caller to ask again (API reference,
// BatchGetItem: UnprocessedKeys).
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
	used.capacity(cost, r.returnCapacity.value, noSplit)
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
