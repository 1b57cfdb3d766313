package dynamofake

import (
	"slices"

	"github.com/tidwall/btree"
)

// index is a secondary index: the projected items of those records that have
// its key attributes. It is kept with the table, so that it is never behind.
type index struct {
	name       string
	global     bool
	schema     schema
	primary    schema
	projection projection
	entries    btree.Map[string, *record] // by entryKey
	bytes      int64
}

// newIndex is an empty index.
func newIndex(d *definition, def indexDefinition, global bool) *index {
	return &index{name: def.IndexName, global: global, schema: d.schema(def.KeySchema), primary: d.schema(d.KeySchema), projection: def.Projection}
}

// entryKey is the position of an item in the index: its index key, and its
// primary key to tell apart those with the same one.
func (x *index) entryKey(it item) string {
	hash, _ := it.get(x.schema.hash.name)
	out := appendPartition(make([]byte, 0, 96), hash)
	if x.schema.hasSort() {
		v, _ := it.get(x.schema.sort.name)
		out = appendOrdered(out, v.text)
	}
	return string(out) + x.primary.encode(it)
}

// projects reports whether the index has a copy of the attribute.
func (x *index) projects(name string) bool {
	return x.projection.ProjectionType == "ALL" || x.schema.has(name) || x.primary.has(name) ||
		slices.Contains(x.projection.NonKeyAttributes, name)
}

// entry is the part of a record that the index holds, nil if none.
func (x *index) entry(r *record) *record {
	if r == nil || !x.schema.holds(r.item) {
		return nil
	}
	if x.projection.ProjectionType == "ALL" {
		return r
	}
	out := make(item, 0, len(r.item))
	for _, a := range r.item {
		if x.projects(a.name) {
			out = append(out, a)
		}
	}
	return newRecord(out)
}

// change replaces the entry of old by that of new and returns the write units
// it costs ("Using Global Secondary Indexes in DynamoDB": write capacity units):
// nothing if the index does not see the change, one write for an
// entry that is put, updated or deleted, two if its key changes.
func (x *index) change(before, after *record) float64 {
	gone, come := x.entry(before), x.entry(after)
	switch {
	case gone == nil && come == nil:
		return 0
	case gone == nil:
		x.put(x.entryKey(come.item), come)
		return writeUnits(come.size)
	case come == nil:
		x.delete(x.entryKey(gone.item), gone)
		return writeUnits(gone.size)
	}
	from, to := x.entryKey(gone.item), x.entryKey(come.item)
	if from == to {
		x.bytes -= int64(gone.size)
		x.put(to, come)
		if gone.item.equal(come.item) {
			return 0
		}
		return writeUnits(max(gone.size, come.size))
	}
	x.delete(from, gone)
	x.put(to, come)
	return writeUnits(gone.size) + writeUnits(come.size)
}

// put adds or replaces an entry; who replaces one takes its bytes off first.
func (x *index) put(key string, r *record) {
	x.entries.Set(key, r)
	x.bytes += int64(r.size)
}

func (x *index) delete(key string, r *record) {
	x.entries.Delete(key)
	x.bytes -= int64(r.size)
}

// checkItem refuses an item whose attribute would be a key of the index but has
// another type, or is too long or empty.
func (x *index) checkItem(it item) error {
	for _, a := range x.schema.attrs() {
		v, ok := it.get(a.name)
		switch {
		case !ok:
		case v.kind != a.kind:
			return x.checkKind(a, v.kind)
		case v.text == "":
			return invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. %s IndexName: %s, IndexKey: %s", a.mustNotBeEmpty(), x.name, a.name)
		case a == x.schema.hash && len(v.text) > maxHashKey:
			return invalid("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
		case a != x.schema.hash && len(v.text) > maxSortKey:
			return invalid("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of %d bytes", maxSortKey)
		}
	}
	return nil
}

// emptied is the refusal of an update that leaves the key of an index empty.
func (a keyAttr) emptied() error {
	return invalid("One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. %s", a.mustNotBeEmpty())
}

// checkKind refuses a value that the index cannot have as that key attribute.
func (x *index) checkKind(a keyAttr, k kind) error {
	if a.kind == k {
		return nil
	}
	return misfit("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", a.name, a.kind, k, x.name)
}

// checkUpdated is checkItem for the outcome of an update.
func (x *index) checkUpdated(it item) error {
	for _, a := range x.schema.attrs() {
		switch v, ok := it.get(a.name); {
		case !ok:
		case v.kind != a.kind:
			return invalid("The update expression attempted to update the secondary index key to unsupported type")
		case v.text == "":
			return a.emptied()
		}
	}
	return x.checkItem(it)
}
