package dynamofake

import "slices"

// query reads a range of one partition, of the table or of an index, in the
// order of the sort keys. Parameters and expressions are checked before the
// table is looked up, and the keys after that: the service's order.
func (s *Server) query(r *request, out *writer) error {
	if err := r.checkReading(given{filterExpression, r.filter}, given{keyConditionExpression, r.keyCondition}); err != nil {
		return err
	}
	if r.keyCondition == nil {
		return invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	p := &page{query: true}
	terms, err := s.bindPage(p, r)
	if err != nil {
		return err
	}
	if err := s.openView(p, r); err != nil {
		return err
	}
	keys, after, err := p.rangeOfQuery(r, terms)
	if err != nil {
		return err
	}
	if err := p.settle(r); err != nil {
		return err
	}
	return s.readPage(p, r, out, func() { p.view.within(keys, after, r.backward, p.visit) })
}

// checkReading checks the parameters of Query and Scan, of which conditions are
// the expressions that take values.
func (r *request) checkReading(conditions ...given) error {
	if err := r.checkTableGiven(); err != nil {
		return err
	}
	var c constraints
	c.choice(r.selected, "select", "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	c.name(r.index, "indexName")
	c.capacity(r)
	c.table(r)
	c.atLeast(r.totalSegments, "totalSegments", 1)
	c.atMost(r.totalSegments, "totalSegments", maxSegments)
	c.atLeast(r.segment, "segment", 0)
	c.atMost(r.segment, "segment", maxSegments-1)
	c.atLeast(r.limit, "limit", 1)
	if err := c.err(); err != nil {
		return err
	}
	if err := r.checkExpressionUse(append(conditions, given{projectionExpression, r.projection})...); err != nil {
		return err
	}
	return r.complaint
}

// bindPage binds the expressions of a Query or Scan.
func (s *Server) bindPage(p *page, r *request) (keyTerms, error) {
	if err := r.checkPlaceholders(); err != nil {
		return nil, err
	}
	keys, err := r.bind(&s.expressions, keyConditionExpression, r.keyCondition)
	if err != nil {
		return nil, err
	}
	if p.filter, err = r.bind(&s.expressions, filterExpression, r.filter); err != nil {
		return nil, err
	}
	if p.projection, err = r.bind(&s.expressions, projectionExpression, r.projection); err != nil {
		return nil, err
	}
	if err := r.checkUnused(); err != nil {
		return nil, err
	}
	terms := keyTerms{}
	if !keys.present() {
		return terms, nil
	}
	if err := terms.collect(keys.cond, &keys.scope); err != nil {
		return nil, err
	}
	return terms, nil
}

// openView finds the table or index.
func (s *Server) openView(p *page, r *request) error {
	t, err := s.table(*r.table)
	if err != nil {
		return err
	}
	if p.view, err = t.view(r.index); err != nil {
		return err
	}
	if p.view.index != nil && p.view.index.global && r.consistent {
		return invalid("Consistent reads are not supported on global secondary indexes")
	}
	return nil
}

// settle checks what is left, and settles how much is shown of the view.
func (p *page) settle(r *request) error {
	if err := p.projection.checkScalarKeys(p.view.table); err != nil {
		return err
	}
	if err := p.checkFilter(); err != nil {
		return err
	}
	if err := p.filter.checkScalarKeys(p.view.table); err != nil {
		return err
	}
	if r.limit != nil {
		p.limit = *r.limit
	}
	return p.choose(r)
}

// choose settles Select: what is shown, and whether an index must look into
// its table for it. A local index does so and charges for it, a global one
// refuses (API reference, Query: Select).
func (p *page) choose(r *request) error {
	p.countOnly = r.selected.value == "COUNT"
	x := p.view.index
	switch {
	case r.selected.value == "SPECIFIC_ATTRIBUTES" && r.projection == nil:
		return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case r.projection != nil && r.selected.given && r.selected.value != "SPECIFIC_ATTRIBUTES":
		return invalid("Cannot specify the ProjectionExpression when choosing to get %s", r.selected.value)
	case r.selected.value == "ALL_PROJECTED_ATTRIBUTES" && x == nil:
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	case x == nil || x.projection.ProjectionType == "ALL":
		return nil
	}
	missing := ""
	if p.projection.present() {
		for _, path := range p.projection.paths {
			if name := path[0].key(&p.projection.scope); !x.projects(name) {
				missing = name
			}
		}
	}
	switch {
	case missing != "" && x.global:
		return invalid("One or more parameter values were invalid: Global secondary index %s does not project [%s]", x.name, missing)
	case r.selected.value == "ALL_ATTRIBUTES" && x.global:
		return invalid("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", x.name)
	}
	p.whole = missing != "" || r.selected.value == "ALL_ATTRIBUTES"
	return nil
}

// rangeOfQuery is the range of keys that is read, and the position it is read
// from.
func (p *page) rangeOfQuery(r *request, terms keyTerms) (keys *keyRange, after string, err error) {
	if r.startKey != nil {
		if err := p.view.checkStart(r.startKey); err != nil {
			return nil, "", err
		}
	}
	if keys, err = terms.keyRange(p.view.schema); err != nil || r.startKey == nil {
		return keys, "", err
	}
	return keys, p.view.position(r.startKey), p.checkWithin(r.startKey, keys)
}

// checkWithin refuses an ExclusiveStartKey outside the range.
func (p *page) checkWithin(start item, keys *keyRange) error {
	hash, _ := start.get(p.view.schema.hash.name)
	inPartition := hash.equal(keys.hash)
	if keys.op == "" {
		if !inPartition {
			return invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
		return nil
	}
	sortKey, _ := start.get(p.view.schema.sort.name)
	switch {
	case keys.place(sortKey) != 0:
		return invalid("The provided starting key does not match the range key predicate")
	case !inPartition:
		return invalid("The query can return at most one row and cannot be restarted")
	}
	return nil
}

// checkFilter refuses a filter on a key attribute of what is queried ("Filter
// expressions for the Query operation in DynamoDB"); in a scan there may be one.
func (p *page) checkFilter() error {
	if !p.query || !p.filter.present() {
		return nil
	}
	for _, a := range p.view.schema.attrs() {
		if slices.ContainsFunc(p.filter.all, func(q path) bool { return q[0].key(&p.filter.scope) == a.name }) {
			return invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", a.name)
		}
	}
	return nil
}

// readPage reads the page under the table's lock and writes the answer.
func (s *Server) readPage(p *page, r *request, out *writer, visitAll func()) error {
	_, err := s.read(p.view.table, func() *record {
		visitAll()
		return nil
	})
	if err != nil {
		return err
	}
	p.end()
	used := p.consumed(r.consistent)
	s.stats.read(used.total())
	p.write(out, r, used)
	return nil
}
