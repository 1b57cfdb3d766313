package dynamofake

// maxPage is how many bytes one Query or Scan reads (API reference, Query). What
// a filter drops counts, since filters are applied after the read.
const maxPage = 1 << 20

// page collects what one Query or Scan answers.
type page struct {
	view       *view
	query      bool // not a scan
	filter     bound
	projection bound
	limit      int  // 0: none
	countOnly  bool // Select COUNT
	// whole: what the index lacks is fetched from the table.
	whole bool

	items          []item
	count, scanned int
	bytes          int     // read from the view
	fetched        float64 // units for what was fetched from the table
	lastKey        item    // where it ended, nil at the end of the view
	last           *record // the last one that was read
}

// visit takes one record; false means that the page is full.
func (p *page) visit(_ string, r *record) bool {
	if p.limit > 0 && p.scanned == p.limit || p.scanned > 0 && p.bytes+r.size > maxPage {
		p.lastKey = p.view.keys(p.last.item)
		return false
	}
	p.scanned++
	p.bytes += r.size
	p.last = r
	it := p.full(r)
	if !p.filter.holds(it) {
		return true
	}
	p.count++
	if p.countOnly {
		return true
	}
	if p.projection.present() {
		it = project(it, p.projection.paths, &p.projection.scope)
	}
	p.items = append(p.items, it)
	return true
}

// full is the record's item with what the index lacks, if that is wanted.
func (p *page) full(r *record) item {
	if !p.whole {
		return r.item
	}
	base := p.view.table.find(p.view.primary.encode(r.item))
	p.fetched += readUnits(base.bytes(), true)
	return base.attrs()
}

// end marks a page that filled exactly at the end of the view: the service
// cannot know that nothing follows.
func (p *page) end() {
	if p.lastKey == nil && p.limit > 0 && p.scanned == p.limit {
		p.lastKey = p.view.keys(p.last.item)
	}
}

// consumed is what the page cost.
func (p *page) consumed(consistent bool) consumed {
	used := consumed{table: p.view.table.name}
	units := readUnits(p.bytes, consistent)
	if !consistent {
		p.fetched /= 2
	}
	if p.view.index == nil {
		used.units = units
		return used
	}
	used.units = p.fetched
	used.addIndex(p.view.index, units)
	return used
}

// write writes the answer.
func (p *page) write(w *writer, r *request, used consumed) {
	w.open('{')
	if !p.countOnly {
		w.field("Items")
		w.open('[')
		for _, it := range p.items {
			w.item(it)
		}
		w.close(']')
	}
	w.field("Count")
	w.int(p.count)
	w.field("ScannedCount")
	w.int(p.scanned)
	if p.lastKey != nil {
		w.field("LastEvaluatedKey")
		w.item(p.lastKey)
	}
	if r.wantsCapacity() {
		w.field("ConsumedCapacity")
		w.capacity(used, r.returnCapacity.value, noSplit)
	}
	w.close('}')
}
