package dynamofake

// get is a checked read of one item.
type get struct {
	table      *table
	key        string // encoded
	projection bound
}

// prepareGet checks everything about a read that needs no look at the item.
func (s *Server) prepareGet(r *request) (*get, error) {
	projection, err := s.bindGet(r)
	if err != nil {
		return nil, err
	}
	t, err := s.table(*r.table)
	if err != nil {
		return nil, err
	}
	g, err := resolveGet(t, r.key, projection)
	if err != nil {
		return nil, err
	}
	return g, projection.checkScalarKeys(t)
}

// bindGet checks the parameters and the projection.
func (s *Server) bindGet(r *request) (projection bound, err error) {
	if err := r.checkExpressionUse(given{projectionExpression, r.projection}); err != nil {
		return bound{}, err
	}
	if r.complaint != nil {
		return bound{}, r.complaint
	}
	if err := r.checkPlaceholders(); err != nil {
		return bound{}, err
	}
	if projection, err = r.bind(&s.expressions, projectionExpression, r.projection); err != nil {
		return bound{}, err
	}
	return projection, r.checkUnused()
}

// resolveGet checks the key against the table.
func resolveGet(t *table, key item, projection bound) (*get, error) {
	schema, _ := t.shape()
	if err := schema.checkKey(key); err != nil {
		return nil, err
	}
	return &get{t, schema.encode(key), projection}, nil
}

// project is what the read shows of a record.
func (g *get) project(r *record) item {
	if !g.projection.present() {
		return r.item
	}
	return project(r.item, g.projection.paths, &g.projection.scope)
}

// getItem reads one item. Without ConsistentRead it costs half, and shows the
// same: this server has no replicas that could be behind.
func (s *Server) getItem(r *request, out *writer) error {
	if err := r.checkGet(); err != nil {
		return err
	}
	g, err := s.prepareGet(r)
	if err != nil {
		return err
	}
	found, err := s.read(g.table, func() *record { return g.table.find(g.key) })
	if err != nil {
		return err
	}
	used := consumed{table: g.table.name, units: readUnits(found.bytes(), r.consistent)}
	s.stats.read(used.units)
	out.open('{')
	if found != nil {
		out.field("Item")
		out.item(g.project(found))
	}
	if r.wantsCapacity() {
		out.field("ConsumedCapacity")
		out.capacity(used, r.returnCapacity.value, noSplit)
	}
	out.close('}')
	return nil
}

// checkGet checks the parameters of GetItem.
func (r *request) checkGet() error {
	if err := r.checkTableGiven(); err != nil {
		return err
	}
	var c constraints
	c.capacity(r)
	c.table(r)
	c.present(r.key != nil, "key")
	return c.err()
}

// read looks something up under the table's read lock. It returns when what it
// saw is durable: an answer must not show what a crash could take back.
func (s *Server) read(t *table, look func() *record) (*record, error) {
	s.expireNow(t)
	t.mu.RLock()
	found, last, deleted := look(), t.last, t.deleted
	t.mu.RUnlock()
	if deleted {
		return nil, errNoTable
	}
	if err := s.log.wait(last); err != nil {
		return nil, internal(err)
	}
	return found, nil
}
