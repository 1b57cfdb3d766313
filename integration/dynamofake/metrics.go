package dynamofake

// collectionMetrics writes the value of ItemCollectionMetrics for one item: the
// partition, and how many GB its items and local index entries take, as a
// range. The service estimates; this server gives the range of small ones.
func (w *writer) collectionMetrics(key value, name string) {
	w.open('{')
	w.field("ItemCollectionKey")
	w.open('{')
	w.field(name)
	w.value(&key)
	w.close('}')
	w.field("SizeEstimateRangeGB")
	w.open('[')
	w.float(0)
	w.float(1)
	w.close(']')
	w.close('}')
}

// hasCollections reports whether the table has local indexes: only then is
// there something to tell about collections.
func (t *table) hasCollections() bool {
	_, indexes := t.shape()
	for _, x := range indexes {
		if !x.global {
			return true
		}
	}
	return false
}

// writeMetrics writes the member for a single write, if it is asked for.
func (w *writer) writeMetrics(r *request, done *write) {
	if r.returnMetrics.value != "SIZE" || !done.table.hasCollections() {
		return
	}
	w.field("ItemCollectionMetrics")
	key, name := done.partition()
	w.collectionMetrics(key, name)
}

// writeAllMetrics writes the member for a batch or transaction: by table.
func (w *writer) writeAllMetrics(r *request, all []*write) {
	if r.returnMetrics.value != "SIZE" {
		return
	}
	byTable := map[*table][]*write{}
	var tables []*table
	for _, one := range all {
		if one.table.hasCollections() {
			if byTable[one.table] == nil {
				tables = append(tables, one.table)
			}
			byTable[one.table] = append(byTable[one.table], one)
		}
	}
	w.field("ItemCollectionMetrics")
	w.open('{')
	for _, t := range tables {
		w.field(t.name)
		w.open('[')
		for _, one := range byTable[t] {
			key, name := one.partition()
			w.collectionMetrics(key, name)
		}
		w.close(']')
	}
	w.close('}')
}

// partition is the partition key of a write's item.
func (w *write) partition() (value, string) {
	schema, _ := w.table.shape()
	v, _ := w.item.get(schema.hash.name)
	return v, schema.hash.name
}
