package dynamofake

// describeInput is the input of DescribeTable and DeleteTable.
type describeInput struct {
	TableName string
}

type tableOutput struct {
	Table map[string]any `json:",omitempty"`
}

type createInput struct {
	definition
}

func (s *Server) createTable(in *createInput) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables[in.TableName] != nil {
		return nil, fail(codeInUse, "Table already exists: %s", in.TableName)
	}
	t := newTable(in.definition)
	s.tables[in.TableName] = t
	return map[string]any{"TableDescription": t.describe("CREATING")}, nil
}

func newTable(d definition) *table {
	t := &table{name: d.TableName, def: d, schema: d.schema(d.KeySchema), open: map[string]*transaction{}}
	for _, x := range d.LocalSecondaryIndexes {
		t.indexes = append(t.indexes, newIndex(&d, x, false))
	}
	for _, x := range d.GlobalSecondaryIndexes {
		t.indexes = append(t.indexes, newIndex(&d, x, true))
	}
	return t
}

func (t *table) describe(status string) map[string]any {
	return map[string]any{"TableName": t.name, "TableStatus": status, "KeySchema": t.def.KeySchema, "AttributeDefinitions": t.def.AttributeDefinitions, "TableArn": t.def.arn()}
}

func (s *Server) describeTable(in *describeInput) (map[string]any, error) {
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Table": t.describe("ACTIVE")}, nil
}
