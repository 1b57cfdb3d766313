package dynamofake

import (
	"sync"

	"github.com/tidwall/btree"
)

// table is one table with its items and indexes.
type table struct {
	name string

	// mu guards everything below. It is held for the time of a look-up or a
	// change, never while anything waits.
	mu      sync.RWMutex
	def     definition
	schema  schema
	items   btree.Map[string, *record] // by encoded key
	bytes   int64                      // sum of the records' sizes
	indexes []*index
	stream  *stream // nil: none
	ttl     ttl
	// open are the items of transactions that are not finished, by encoded key.
	open map[string]*transaction
	// deleted is set when the table is dropped; who waited for mu sees it.
	deleted bool
	// last is the log's batch with the last change; nil if it is done for sure.
	last *batch
}

// record is a stored item. It is never changed, only replaced.
type record struct {
	item item
	size int   // item.bytes()
	due  int64 // when TTL deletes it, in Unix milliseconds; 0: never
}

// size is the size of a record, 0 for none.
func (r *record) bytes() int {
	if r == nil {
		return 0
	}
	return r.size
}

// attrs is the record's item, empty for none.
func (r *record) attrs() item {
	if r == nil {
		return nil
	}
	return r.item
}

// find is the record at an encoded key, nil if there is none.
func (t *table) find(key string) *record {
	r, _ := t.items.Get(key)
	return r
}

// shape is the key schema and the indexes as they are now.
func (t *table) shape() (schema, []*index) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.schema, t.indexes
}
