package dynamofake

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A log grows with every change. Once it is this long, and several times as
// long as what it says in the end, it is replaced by a snapshot of that.
const (
	compactFrom  = 16 << 20
	compactRatio = 4
)

// compactIfDue replaces the log by a snapshot if that is worth it.
func (s *Server) compactIfDue() error {
	if s.log == nil || s.log.size() < s.compactAt.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log.size() < s.compactAt.Load() {
		return nil // somebody else did it
	}
	return s.compact()
}

// compact writes the snapshot beside the log, makes it durable, and puts it in
// the log's place. Nothing changes meanwhile: the caller holds s.mu, and it
// takes the locks of all tables.
func (s *Server) compact() error {
	tables := slices.Collect(maps.Values(s.tables))
	sortTables(tables)
	lockAll(tables)
	defer unlockAll(tables)
	content := s.snapshot(tables)
	if err := s.log.replace(content); err != nil {
		return fmt.Errorf("compacting the log: %w", err)
	}
	s.compactAt.Store(max(compactFrom, int64(len(content))*compactRatio))
	return nil
}

// snapshot is a log that leads to what there is now.
func (s *Server) snapshot(tables []*table) []byte {
	out, now := []byte(logMagic), s.now()
	add := func(build func(*encoder)) {
		var e encoder
		build(&e)
		frame := appendRecord(nil, e.out)
		seal(frame)
		out = append(out, frame...)
	}
	for _, t := range tables {
		text, err := json.Marshal(t.def)
		if err != nil {
			panic(fmt.Sprintf("dynamofake: a definition of plain fields has no JSON: %v", err))
		}
		add(func(e *encoder) {
			e.byte(recordTable)
			e.time(t.def.Created)
			e.str(string(text))
		})
		t.items.Scan(func(_ string, r *record) bool {
			add(func(e *encoder) {
				e.byte(recordItem)
				e.str(t.name)
				e.time(t.ttl.written(r, now))
				e.item(r.item)
			})
			return true
		})
	}
	for _, st := range s.streams {
		add(func(e *encoder) { e.stream(st) })
	}
	for _, use := range s.tokens.completed() {
		add(func(e *encoder) {
			e.byte(recordToken)
			e.time(use.at)
			e.token(use)
		})
	}
	return out
}

// written is a time of writing that leads to the record's due time again.
func (t *ttl) written(r *record, now time.Time) time.Time {
	if r.due == 0 {
		return now
	}
	return time.UnixMilli(r.due).Add(-t.delay)
}

// completed are the uses that a snapshot keeps.
func (t *tokens) completed() []*tokenUse {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.expiring)
}

// stream writes a stream with its records.
func (e *encoder) stream(s *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.byte(recordStream)
	e.str(s.table)
	e.str(s.label)
	e.str(s.view)
	e.uint(uint64(len(s.keys)))
	for _, k := range s.keys {
		e.str(k.AttributeName)
		e.str(k.KeyType)
	}
	e.uint(s.next)
	e.time(s.ended)
	for _, r := range s.records {
		e.uint(r.number)
		e.time(r.at)
		e.item(r.keys)
		e.item(r.before)
		e.item(r.after)
		flag := byte(changePut)
		if r.byTTL {
			flag = changeExpire
		}
		e.byte(flag)
	}
}

// replayStream brings back a stream of a snapshot.
func (s *Server) replayStream(p *payload) error {
	table, label := p.str(), p.str()
	st := s.streams[(&stream{table: table, label: label}).arn()]
	if st == nil { // it had ended
		st = &stream{table: table, label: label}
		s.streams[st.arn()] = st
	}
	st.view = p.str()
	st.keys = make([]keySchemaElement, min(p.uint(), 2))
	for i := range st.keys {
		st.keys[i] = keySchemaElement{p.str(), p.str()}
	}
	st.next, st.ended = p.uint(), p.time()
	for len(p.in) > 0 && p.err == nil {
		r := streamRecord{number: p.uint(), at: p.time(), keys: p.item(), before: p.item(), after: p.item()}
		r.byTTL = p.byte() == changeExpire
		st.records = append(st.records, r)
	}
	return p.err
}
