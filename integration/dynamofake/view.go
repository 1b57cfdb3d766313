package dynamofake

import (
	"strings"

	"github.com/tidwall/btree"
)

// view is what a query or scan reads: a table or one of its indexes.
type view struct {
	table *table
	index *index // nil: the table itself
	// schema is the key of what is read, primary that of the table.
	schema, primary schema
	entries         *btree.Map[string, *record]
}

// view is the table, or the named index of it.
func (t *table) view(index *string) (*view, error) {
	schema, indexes := t.shape()
	if index == nil {
		return &view{table: t, schema: schema, primary: schema, entries: &t.items}, nil
	}
	for _, x := range indexes {
		if x.name == *index {
			return &view{table: t, index: x, schema: x.schema, primary: schema, entries: &x.entries}, nil
		}
	}
	return nil, invalid("The table does not have the specified index: %s", *index)
}

// position is the place of an item, or of a page's end, in the view.
func (v *view) position(it item) string {
	if v.index != nil {
		return v.index.entryKey(it)
	}
	return v.schema.encode(it)
}

// keys are the attributes that say where a page ended.
func (v *view) keys(it item) item {
	out := make(item, 0, 4)
	for _, a := range it {
		if v.schema.has(a.name) || v.primary.has(a.name) {
			out = append(out, a)
		}
	}
	return out
}

// checkStart checks an ExclusiveStartKey: it has the attributes of both keys
// and no others.
func (v *view) checkStart(start item) error {
	if len(start) != v.keyCount() {
		return errStartKey
	}
	for _, a := range v.schema.attrs() {
		value, ok := start.get(a.name)
		switch {
		case !ok:
			return errStartKey
		case value.kind != a.kind:
			return errKeySchema
		}
		if err := v.schema.checkSize(a, value); err != nil {
			return err
		}
	}
	return v.checkPrimary(v.primary.of(start))
}

// checkPrimary checks the table's key in an ExclusiveStartKey.
func (v *view) checkPrimary(key item) error {
	if err := v.primary.checkKey(key); err != nil {
		return invalid("The provided starting key is invalid: %s", err)
	}
	return nil
}

// keyCount is the number of attributes of both keys.
func (v *view) keyCount() int {
	n := len(v.primary.attrs())
	for _, a := range v.schema.attrs() {
		if !v.primary.has(a.name) {
			n++
		}
	}
	return n
}

var errStartKey = invalid("The provided starting key is invalid")

// bound is the place in the view of a sort key within a partition.
func (v *view) bound(partition, text string) string {
	if v.index != nil {
		return string(appendOrdered([]byte(partition), text))
	}
	return partition + text
}

// within visits the entries of a key range in order, or backwards, behind the
// position after ("" for all of it), until visit returns false.
func (v *view) within(r *keyRange, after string, backward bool, visit func(string, *record) bool) {
	partition := string(appendPartition(nil, r.hash))
	each := func(key string, rec *record) bool {
		if !strings.HasPrefix(key, partition) {
			return backward && key > partition
		}
		if key == after {
			return true
		}
		if place := v.place(r, rec); place != 0 {
			return (place > 0) == backward
		}
		return visit(key, rec)
	}
	if backward {
		v.entries.Descend(v.last(r, partition, after), each)
		return
	}
	first := partition
	if r.op != "" {
		first = strings.TrimSuffix(v.bound(partition, r.lowest()), "\x00\x01")
	}
	v.entries.Ascend(max(first, after), each)
}

// place is the place of a record's sort key in the range.
func (v *view) place(r *keyRange, rec *record) int {
	if r.op == "" {
		return 0
	}
	sortKey, _ := rec.item.get(v.schema.sort.name)
	return r.place(sortKey)
}

// last is where a backward visit begins.
func (v *view) last(r *keyRange, partition, after string) string {
	end := successor(partition)
	if text, open := r.highest(); r.op != "" && !open {
		end = v.bound(partition, text)
		if v.index != nil {
			end = successor(end)
		}
	}
	if after != "" {
		return min(end, after)
	}
	return end
}

// successor is a string behind all that begin with prefix, and before all
// others that are behind it.
func successor(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return prefix + "\xff"
}
