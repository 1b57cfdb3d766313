package dynamofake

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// labelFormat is the form of a stream label: the time when it was enabled.
const labelFormat = "2006-01-02T15:04:05.000"

// newTable is an empty table; adopt gives it its definition.
func (s *Server) newTable(name string) *table {
	t := &table{name: name, open: map[string]*transaction{}}
	t.ttl.delay = max(0, s.options.TTLDelay)
	t.ttl.first()
	return t
}

// adopt makes the table be what the definition says. It is called for new
// tables, for changed ones, and when the log is replayed. The caller holds the
// table's lock.
func (t *table) adopt(s *Server, d definition, now time.Time) {
	t.def, t.schema = d, d.schema(d.KeySchema)
	t.adoptIndexes()
	t.adoptStream(s, now)
	attribute := ""
	if d.TimeToLive.Enabled {
		attribute = d.TimeToLive.AttributeName
	}
	if attribute != t.ttl.attribute {
		t.setTTL(attribute, now)
	}
}

// adoptIndexes drops and fills indexes.
func (t *table) adoptIndexes() {
	var keep []*index
	have := func(name string) *index {
		i := slices.IndexFunc(t.indexes, func(x *index) bool { return x.name == name })
		if i < 0 {
			return nil
		}
		return t.indexes[i]
	}
	add := func(def indexDefinition, global bool) {
		x := have(def.IndexName)
		if x == nil {
			x = newIndex(&t.def, def, global)
			t.items.Scan(func(_ string, r *record) bool {
				x.change(nil, r)
				return true
			})
		}
		keep = append(keep, x)
	}
	for _, def := range t.def.GlobalSecondaryIndexes {
		add(def, true)
	}
	for _, def := range t.def.LocalSecondaryIndexes {
		add(def, false)
	}
	t.indexes = keep
}

// adoptStream begins or ends the stream.
func (t *table) adoptStream(s *Server, now time.Time) {
	want := t.def.StreamSpecification != nil && t.def.StreamSpecification.StreamEnabled
	switch {
	case want && t.stream == nil:
		t.stream = newStream(&t.def)
		s.streams[t.stream.arn()] = t.stream
	case !want && t.stream != nil:
		t.stream.end(now)
		t.stream = nil
	}
}

// end marks the stream as disabled; it can be read until its records are gone.
func (s *stream) end(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = now
}

// createTable makes a table, which is ready at once.
func (s *Server) createTable(in *createInput) (*tableDescriptionOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	now := s.now()
	d := in.definition(now)
	t := s.newTable(d.TableName)
	s.mu.Lock()
	if s.tables[d.TableName] != nil {
		s.mu.Unlock()
		return nil, fail(codeInUse, "Table already exists: %s", d.TableName)
	}
	s.tables[d.TableName] = t
	t.adopt(s, d, now)
	last := s.logTable(&d, now)
	t.last = last
	out := t.describe(statusCreating)
	s.mu.Unlock()
	if err := s.log.wait(last); err != nil {
		return nil, internal(err)
	}
	return &tableDescriptionOutput{out}, nil
}

// logTable writes a definition to the log.
func (s *Server) logTable(d *definition, now time.Time) *batch {
	if s.log == nil {
		return nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("dynamofake: a definition of plain fields has no JSON: %v", err))
	}
	e := encoder{}
	e.byte(recordTable)
	e.time(now)
	e.str(string(text))
	return s.log.append(e.out)
}

// changeTable changes the definition of a table by a function that may refuse.
func (s *Server) changeTable(name string, change func(*definition) error) error {
	now := s.now()
	s.mu.Lock()
	t := s.tables[name]
	if t == nil {
		s.mu.Unlock()
		return notFound(name)
	}
	t.mu.Lock()
	d := t.def
	err := change(&d)
	if err == nil {
		t.adopt(s, d, now)
		t.last = s.logTable(&d, now)
	}
	last := t.last
	t.mu.Unlock()
	s.mu.Unlock()
	if failed := s.log.wait(last); failed != nil {
		return internal(failed)
	}
	return err
}

// notFound is the answer of calls on tables about one that is not there.
func notFound(table string) error {
	return fail(codeNotFound, "Requested resource not found: Table: %s not found", table)
}

// tableInput is the input of calls that take nothing but a table.
type tableInput struct {
	TableName *string
}

// described is the table that such a call is about.
func (s *Server) described(in *tableInput) (*table, error) {
	if err := checkTableName(&in.TableName); err != nil {
		return nil, err
	}
	var c constraints
	if c.name(in.TableName, "tableName"); len(c) > 0 {
		return nil, c.err()
	}
	t, err := s.table(*in.TableName)
	if err != nil {
		return nil, notFound(*in.TableName)
	}
	s.expireNow(t)
	return t, nil
}

// describeTable describes a table as it is now.
func (s *Server) describeTable(in *tableInput) (*describeTableOutput, error) {
	t, err := s.described(in)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return &describeTableOutput{t.describe(statusActive)}, nil
}

// deleteTable deletes a table with its items and indexes. Its stream stays
// readable until its records are too old, as in the service.
func (s *Server) deleteTable(in *tableInput) (*tableDescriptionOutput, error) {
	t, err := s.described(in)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	protected := t.def.DeletionProtectionEnabled
	out := t.describe(statusDeleting)
	t.mu.RUnlock()
	if protected {
		return nil, invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	now := s.now()
	s.mu.Lock()
	s.dropTable(t.name, now)
	var last *batch
	if s.log != nil {
		e := encoder{}
		e.byte(recordDrop)
		e.str(t.name)
		e.time(now)
		last = s.log.append(e.out)
	}
	s.mu.Unlock()
	if err := s.log.wait(last); err != nil {
		return nil, internal(err)
	}
	return &tableDescriptionOutput{out}, nil
}

// dropTable removes a table. The caller holds s.mu.
func (s *Server) dropTable(name string, now time.Time) {
	t := s.tables[name]
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deleted = true
	if t.stream != nil {
		t.stream.end(now)
	}
	delete(s.tables, name)
}

type listTablesInput struct {
	ExclusiveStartTableName *string
	Limit                   *int
}

type listTablesOutput struct {
	TableNames             []string
	LastEvaluatedTableName string `json:",omitempty"`
}

// maxListed is the limit of one answer (API reference, ListTables).
const maxListed = 100

// listTables lists the tables by name.
func (s *Server) listTables(in *listTablesInput) (*listTablesOutput, error) {
	var c constraints
	c.name(in.ExclusiveStartTableName, "exclusiveStartTableName")
	c.atLeast(in.Limit, "limit", 1)
	c.atMost(in.Limit, "limit", maxListed)
	if err := c.err(); err != nil {
		return nil, err
	}
	limit, after := maxListed, ""
	if in.Limit != nil {
		limit = *in.Limit
	}
	if in.ExclusiveStartTableName != nil {
		after = *in.ExclusiveStartTableName
	}
	s.mu.RLock()
	names := slices.AppendSeq([]string{}, maps.Keys(s.tables))
	s.mu.RUnlock()
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(n string) bool { return n <= after })
	out := &listTablesOutput{TableNames: names}
	if len(names) > limit {
		out.TableNames = names[:limit]
		out.LastEvaluatedTableName = names[limit-1]
	}
	return out, nil
}
