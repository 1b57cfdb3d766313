package dynamofake

import "fmt"

// Limits of batches (API reference, BatchGetItem and BatchWriteItem): keys or
// writes in all, and bytes of an answer.
const (
	maxBatchGet   = 100
	maxBatchWrite = 25
	maxBatchBytes = 16 << 20
)

// batchPart are the reads or writes of a batch that concern one table.
type batchPart struct {
	table   string
	request *tableRequest
	gets    []*get
	writes  []*write
}

// checkBatch checks what both batches have in common.
func (r *request) checkBatch(most int) error {
	var c constraints
	c.capacity(r)
	c.metrics(r)
	c.present(r.batch != nil, "requestItems")
	if r.batch != nil && len(r.batch) == 0 {
		c.add("'{}'", "requestItems", "Member must have length greater than or equal to 1")
	}
	for i := range r.batch {
		b := &r.batch[i]
		b.name = *bareName(&b.name)
		if n := len(b.writes); b.keys == nil && (n == 0 || n > most) {
			c.add("'{"+b.name+"=[…]}'", "requestItems", fmt.Sprintf(
				"Map value must satisfy constraint: [Member must have length less than or equal to %d, Member must have length greater than or equal to 1]", most))
		}
		c.keys(b, most)
		if len(b.name) < 3 || len(b.name) > 255 || run(b.name, 0, isNameByte) < len(b.name) {
			c.add("'{"+b.name+"=[…]}'", "requestItems",
				"Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]")
		}
	}
	if err := c.err(); err != nil {
		return err
	}
	return r.checkTablesOnce()
}

// checkTablesOnce refuses a table that is named twice, by its name and its ARN
// or in two members: each can be used only once (API reference, BatchGetItem).
// The words are not the service's, which are not known.
func (r *request) checkTablesOnce() error {
	seen := make(map[string]bool, len(r.batch))
	for i := range r.batch {
		name := r.batch[i].name
		if seen[name] {
			return invalid("One or more parameter values were invalid: RequestItems names the table %s more than once", name)
		}
		seen[name] = true
	}
	return nil
}

// keys checks the number of keys to get.
func (c *constraints) keys(b *tableRequest, most int) {
	at := "requestItems." + b.name + ".member.keys"
	switch {
	case b.keys == nil:
	case len(b.keys) == 0:
		c.add("'[]'", at, "Member must have length greater than or equal to 1")
	case len(b.keys) > most:
		c.add("'[…]'", at, fmt.Sprintf("Member must have length less than or equal to %d", most))
	}
}

// raw writes a member that another writer made.
func (w *writer) raw(name string, from writer) {
	w.field(name)
	w.out = append(w.out, from.out...)
}
