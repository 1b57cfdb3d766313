package dynamofake

// Capacity is counted by the developer guide's rules ("Read and write
// operations"): a write unit is 1 KB of the larger of the old and new item, a
// read unit 4 KB read consistently; half of it eventually consistent, twice of
// either in a transaction.

const (
	writeUnitBytes = 1024
	readUnitBytes  = 4096
)

// writeUnits is the cost of writing an item of that size; nothing written
// costs as much as the smallest item.
func writeUnits(bytes int) float64 {
	return float64(max((bytes+writeUnitBytes-1)/writeUnitBytes, 1))
}

// readUnits is the cost of reading that many bytes.
func readUnits(bytes int, consistent bool) float64 {
	units := float64(max((bytes+readUnitBytes-1)/readUnitBytes, 1))
	if consistent {
		return units
	}
	return units / 2
}

// consumed is what one call took from one table and its indexes.
type consumed struct {
	table   string
	units   float64 // of the table itself
	indexes []indexUnits
}

// indexUnits is what one index took.
type indexUnits struct {
	index *index
	units float64
}

// total is what the caller is charged: the table and all its indexes.
func (c *consumed) total() float64 {
	sum := c.units
	for _, i := range c.indexes {
		sum += i.units
	}
	return sum
}

// times multiplies everything, for transactions.
func (c consumed) times(factor float64) consumed {
	c.units *= factor
	for i := range c.indexes {
		c.indexes[i].units *= factor
	}
	return c
}

// addIndex adds units of one index.
func (c *consumed) addIndex(x *index, units float64) {
	for i := range c.indexes {
		if c.indexes[i].index == x {
			c.indexes[i].units += units
			return
		}
	}
	c.indexes = append(c.indexes, indexUnits{x, units})
}

// add adds what another call took from the same table.
func (c *consumed) add(o consumed) {
	c.units += o.units
	for _, i := range o.indexes {
		c.addIndex(i.index, i.units)
	}
}

// split names the member that shows a transaction's units a second time.
type split string

const (
	noSplit    split = ""
	readSplit  split = "ReadCapacityUnits"
	writeSplit split = "WriteCapacityUnits"
)

// capacity writes a ConsumedCapacity value; detail is the request's
// ReturnConsumedCapacity.
func (w *writer) capacity(c consumed, detail string, also split) {
	w.open('{')
	w.field("TableName")
	w.str(c.table)
	w.units(c.total(), also)
	if detail == "INDEXES" {
		w.field("Table")
		w.open('{')
		w.units(c.units, also)
		w.close('}')
		w.indexCapacity("LocalSecondaryIndexes", c, false, also)
		w.indexCapacity("GlobalSecondaryIndexes", c, true, also)
	}
	w.close('}')
}

// units writes CapacityUnits, and the same number once more where a transaction
// shows by which kind of operation it was taken.
func (w *writer) units(units float64, also split) {
	w.field("CapacityUnits")
	w.float(units)
	if also != noSplit {
		w.field(string(also))
		w.float(units)
	}
}

// indexCapacity writes the member for the local or the global indexes, if any
// of them took something.
func (w *writer) indexCapacity(name string, c consumed, global bool, also split) {
	opened := false
	for _, i := range c.indexes {
		if i.index.global != global {
			continue
		}
		if !opened {
			w.field(name)
			w.open('{')
			opened = true
		}
		w.field(i.index.name)
		w.open('{')
		w.units(i.units, also)
		w.close('}')
	}
	if opened {
		w.close('}')
	}
}

// wants reports whether the request asks for consumed capacity.
func (r *request) wantsCapacity() bool {
	return r.returnCapacity.value == "TOTAL" || r.returnCapacity.value == "INDEXES"
}
