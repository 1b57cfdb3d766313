package dynamofake

import "time"

// commit makes decided changes happen, all at once: items, indexes, streams
// and the log. The caller holds the locks of all their tables. It returns what
// each change cost; use is that of a transaction's client request token, if it has one.
func (s *Server) commit(changes []change, use *tokenUse) []consumed {
	return s.commitAt(changes, use, s.now())
}

// commitAt is commit at a given time.
func (s *Server) commitAt(changes []change, use *tokenUse, now time.Time) []consumed {
	if use != nil {
		use.at = now
	}
	used := make([]consumed, len(changes))
	for i := range changes {
		used[i] = changes[i].apply(now)
	}
	s.record(changes, use, now)
	return used
}

// apply changes the table's items and indexes and returns the cost.
func (c *change) apply(now time.Time) consumed {
	t := c.table
	used := consumed{table: t.name, units: writeUnits(max(c.before.bytes(), c.after.bytes()))}
	if c.before == c.after { // a mere check, or nothing deleted
		return used
	}
	t.ttl.change(c, now)
	if c.after == nil {
		t.items.Delete(c.key)
	} else {
		t.items.Set(c.key, c.after)
	}
	t.bytes += int64(c.after.bytes() - c.before.bytes())
	for _, x := range t.indexes {
		if units := x.change(c.before, c.after); units > 0 {
			used.addIndex(x, units)
		}
	}
	return used
}
