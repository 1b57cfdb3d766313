package dynamofake

// commit makes decided changes happen, all at once: items, indexes, streams
// and the log. The caller holds the locks of all their tables. It returns what
// each change cost; use is that of a transaction's client request token, if it has one.
func (s *Server) commit(changes []change, use *tokenUse) []consumed {
	used := make([]consumed, len(changes))
	for i := range changes {
		used[i] = changes[i].apply()
	}
	s.record(changes, use)
	return used
}

// apply changes the table's items and indexes and returns the cost.
func (c *change) apply() consumed {
	t := c.table
	used := consumed{table: t.name, units: writeUnits(max(c.before.bytes(), c.after.bytes()))}
	if c.before == c.after { // a mere check, or nothing deleted
		return used
	}
	if c.after == nil {
		t.items.Delete(c.key)
	} else {
		t.items.Set(c.key, c.after)
	}
	t.bytes += int64(c.after.bytes() - c.before.bytes())
	t.ttl.change(c)
	for _, x := range t.indexes {
		if units := x.change(c.before, c.after); units > 0 {
			used.addIndex(x, units)
		}
	}
	return used
}
