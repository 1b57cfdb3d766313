package dynamofake

import (
	"encoding/binary"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"
)

// DefaultTTLDelay is how long an expired item stays by default. The service
// takes up to days; a program must be right for any time.
const DefaultTTLDelay = 10 * time.Second

// ttlHorizon is the age beyond which an expiry time is ignored ("Using time to
// live (TTL) in DynamoDB"): so that a time in another unit deletes nothing.
const ttlHorizon = 5 * 365 * 24 * time.Hour

// ttl knows which items of a table are to be deleted when. Nothing runs in the
// background: who uses the table deletes first what is due.
type ttl struct {
	attribute string // "": off
	delay     time.Duration
	due       btree.Map[string, string] // time and key -> key
	// next is the earliest time in due, in Unix milliseconds. It is read without
	// the table's lock.
	next atomic.Int64
}

// setTTL switches the expiry of a table on, or off with "".
func (t *table) setTTL(attribute string, now time.Time) {
	t.ttl.attribute = attribute
	t.ttl.due.Clear()
	t.items.Scan(func(key string, r *record) bool {
		again := *r
		again.due = t.ttl.dueTime(r.item, now)
		t.items.Set(key, &again)
		t.ttl.add(key, &again)
		return true
	})
	t.ttl.first()
}

// dueTime is when an item written now is to be deleted, in Unix milliseconds;
// 0 is never. An item that is expired when it is written gets the delay, too.
func (t *ttl) dueTime(it item, now time.Time) int64 {
	v, ok := it.get(t.attribute)
	if t.attribute == "" || !ok || v.kind != kindN {
		return 0
	}
	seconds, err := strconv.ParseFloat(string(appendNumber(nil, v.text)), 64)
	if err != nil || seconds <= 0 || seconds > math.MaxInt32*100 {
		return 0
	}
	expires := time.Unix(int64(seconds), 0)
	if expires.Before(now.Add(-ttlHorizon)) {
		return 0
	}
	if expires.Before(now) {
		expires = now
	}
	return expires.Add(t.delay).UnixMilli()
}

// change follows a change of the table.
func (t *ttl) change(c *change, now time.Time) {
	if t.attribute == "" {
		return
	}
	if c.before != nil && c.before.due != 0 {
		t.due.Delete(dueKey(c.before.due, c.key))
	}
	if c.after != nil {
		c.after.due = t.dueTime(c.after.item, now)
		t.add(c.key, c.after)
	}
	t.first()
}

// add notes when a record is due, if ever.
func (t *ttl) add(key string, r *record) {
	if r.due != 0 {
		t.due.Set(dueKey(r.due, key), key)
	}
}

// first keeps next up to date.
func (t *ttl) first() {
	at := int64(math.MaxInt64)
	if key, _, ok := t.due.Min(); ok {
		at = int64(binary.BigEndian.Uint64([]byte(key)))
	}
	t.next.Store(at)
}

// dueKey sorts by time.
func dueKey(due int64, key string) string {
	return string(binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(key)), uint64(due))) + key
}

// expire deletes what is due. The caller holds the table's lock. An item of an
// open transaction waits for its end.
func (s *Server) expire(t *table) {
	if t.ttl.attribute == "" {
		return
	}
	now := s.now().UnixMilli()
	if t.ttl.next.Load() > now {
		return
	}
	var gone []change
	t.ttl.due.Scan(func(due, key string) bool {
		if int64(binary.BigEndian.Uint64([]byte(due))) > now {
			return false
		}
		if t.open[key] == nil {
			gone = append(gone, change{table: t, key: key, before: t.find(key), byTTL: true})
		}
		return true
	})
	if len(gone) > 0 {
		s.commit(gone, nil)
	}
}

// expireNow is expire for those who do not hold the lock.
func (s *Server) expireNow(t *table) {
	if t.ttl.next.Load() > s.now().UnixMilli() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.deleted {
		s.expire(t)
	}
}

type ttlInput struct {
	TableName               *string
	TimeToLiveSpecification *timeToLive
}

type ttlOutput struct {
	TimeToLiveSpecification timeToLive
}

// updateTimeToLive switches expiry on or off. The service takes up to an hour
// for it, and refuses a second change meanwhile; here it holds at once.
func (s *Server) updateTimeToLive(in *ttlInput) (*ttlOutput, error) {
	if err := checkTableName(&in.TableName); err != nil {
		return nil, err
	}
	var c constraints
	c.name(in.TableName, "tableName")
	c.present(in.TimeToLiveSpecification != nil, "timeToLiveSpecification")
	if spec := in.TimeToLiveSpecification; spec != nil && spec.AttributeName == "" {
		c.add("''", "timeToLiveSpecification.attributeName", "Member must have length greater than or equal to 1")
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	want := *in.TimeToLiveSpecification
	err := s.changeTable(*in.TableName, func(d *definition) error {
		have := d.TimeToLive
		switch {
		case want.Enabled && have.Enabled && want.AttributeName != have.AttributeName:
			return invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", have.AttributeName)
		case want.Enabled && have.Enabled:
			return invalid("TimeToLive is already enabled")
		case !want.Enabled && !have.Enabled:
			return invalid("TimeToLive is already disabled")
		}
		d.TimeToLive = want
		return nil
	})
	return &ttlOutput{want}, err
}

type ttlDescription struct {
	TimeToLiveStatus string
	AttributeName    string `json:",omitempty"`
}

type describeTTLOutput struct {
	TimeToLiveDescription ttlDescription
}

// describeTimeToLive says which attribute expires items.
func (s *Server) describeTimeToLive(in *tableInput) (*describeTTLOutput, error) {
	t, err := s.described(in)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if have := t.def.TimeToLive; have.Enabled {
		return &describeTTLOutput{ttlDescription{"ENABLED", have.AttributeName}}, nil
	}
	return &describeTTLOutput{ttlDescription{TimeToLiveStatus: "DISABLED"}}, nil
}
