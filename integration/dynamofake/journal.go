package dynamofake

import (
	"encoding/json"
	"fmt"
	"time"
)

// Kinds of log records.
const (
	recordTable  = 'T' // a table's definition, new or changed
	recordDrop   = 'D' // a table is gone
	recordWrite  = 'W' // changes of items that happened together
	recordItem   = 'I' // one item of a snapshot
	recordToken  = 'K' // one client request token of a snapshot
	recordStream = 'S' // one stream of a snapshot
)

// Flags of a change in a recordWrite.
const (
	changePut = iota
	changeDelete
	changeExpire // a deletion by TTL
)

// record writes changes to the streams and the log. It is called under the
// locks of their tables, after the changes were made.
func (s *Server) record(changes []change, use *tokenUse, now time.Time) {
	for i := range changes {
		changes[i].table.stream.append(&changes[i], now)
	}
	if s.log != nil {
		s.journal(changes, use, now)
	}
}

// journal writes changes to the log, unless nothing changed.
func (s *Server) journal(changes []change, use *tokenUse, now time.Time) {
	e := encoder{out: make([]byte, 0, 512)}
	e.byte(recordWrite)
	e.time(now)
	e.token(use)
	nothing := use == nil
	for i := range changes {
		if c := &changes[i]; c.before != c.after {
			nothing = false
			e.change(c)
		}
	}
	if nothing {
		return
	}
	last := s.log.append(e.out)
	for i := range changes {
		changes[i].table.last = last
	}
}

// token writes a client request token with the transaction that it was used
// for: after a crash, a repetition must not be done again.
func (e *encoder) token(use *tokenUse) {
	if use == nil {
		e.str("")
		return
	}
	e.str(use.token)
	e.str(string(use.request[:]))
}

// change writes what an item became, or the key of one that is gone. What it
// was before is known when the log is replayed.
func (e *encoder) change(c *change) {
	e.str(c.table.name)
	switch {
	case c.after != nil:
		e.byte(changePut)
		e.item(c.after.item)
	case c.byTTL:
		e.byte(changeExpire)
		e.item(c.table.schema.of(c.before.item))
	default:
		e.byte(changeDelete)
		e.item(c.table.schema.of(c.before.item))
	}
}

// replay does again what a record says.
func (s *Server) replay(in []byte) error {
	p := &payload{in: in}
	kind := p.byte()
	switch kind {
	case recordTable:
		return s.replayTable(p)
	case recordDrop:
		s.dropTable(p.str(), p.time())
	case recordWrite:
		return s.replayWrite(p)
	case recordItem:
		return s.replayItem(p)
	case recordToken:
		s.replayToken(p)
	case recordStream:
		return s.replayStream(p)
	default:
		return fmt.Errorf("unknown kind %q; the file is of another version", kind)
	}
	return p.err
}

// replayTable brings a table to a definition, from scratch or from an earlier
// one.
func (s *Server) replayTable(p *payload) error {
	now := p.time()
	var d definition
	if err := json.Unmarshal([]byte(p.str()), &d); err != nil {
		return err
	}
	t := s.tables[d.TableName]
	if t == nil {
		t = s.newTable(d.TableName)
		s.tables[d.TableName] = t
	}
	t.adopt(s, d, now)
	return p.err
}

// replayWrite makes changes again, with their stream records: since the order is
// the same, so are the sequence numbers.
func (s *Server) replayWrite(p *payload) error {
	now := p.time()
	use := p.token(now)
	var changes []change
	for len(p.in) > 0 && p.err == nil {
		t := s.tables[p.str()]
		if t == nil {
			return errPayload
		}
		c := change{table: t}
		flag := p.byte()
		it := p.item()
		c.key = t.schema.encode(it)
		c.before = t.find(c.key)
		c.byTTL = flag == changeExpire
		if flag == changePut {
			c.after = newRecord(it)
		}
		changes = append(changes, c)
	}
	if p.err == nil {
		s.commitAt(changes, nil, now)
		s.tokens.restore(use)
	}
	return p.err
}

// token reads what encoder.token wrote; nil if there was none.
func (p *payload) token(at time.Time) *tokenUse {
	use := &tokenUse{token: p.str(), done: true, at: at}
	if use.token == "" {
		return nil
	}
	copy(use.request[:], p.str())
	return use
}

// replayItem brings back an item of a snapshot, whose stream records come by
// themselves.
func (s *Server) replayItem(p *payload) error {
	t := s.tables[p.str()]
	if t == nil {
		return errPayload
	}
	written := p.time()
	it := p.item()
	if p.err == nil {
		c := change{table: t, key: t.schema.encode(it), after: newRecord(it)}
		c.apply(written)
	}
	return p.err
}

// replayToken brings back a token of a snapshot.
func (s *Server) replayToken(p *payload) {
	at := p.time()
	s.tokens.restore(p.token(at))
}
