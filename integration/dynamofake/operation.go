package dynamofake

import "encoding/json"

// The services that this server speaks for, as in X-Amz-Target.
const (
	serviceDynamo  = "DynamoDB_20120810"
	serviceStreams = "DynamoDBStreams_20120810"
)

// perform does a decoded call and writes its answer.
type perform func(*Server, *writer) error

// operation is one call of the API.
type operation struct {
	service string
	// decode reads the body and returns what to do, and the tables it names.
	decode func(body []byte) (perform, []string, error)
}

// onItems is a call on items; foreign are members that it does not have.
func onItems(do func(*Server, *request, *writer) error, foreign ...string) *operation {
	return &operation{serviceDynamo, func(body []byte) (perform, []string, error) {
		r, err := decodeRequest(body, foreign...)
		return func(s *Server, w *writer) error { return do(s, r, w) }, r.tables(), err
	}}
}

// onTables is a call on tables or streams, whose input and output are plain
// structs in the service's spelling.
func onTables[In, Out any](service string, do func(*Server, *In) (Out, error)) *operation {
	return &operation{service, func(body []byte) (perform, []string, error) {
		var in struct{ TableName string }
		args := new(In)
		if err := unmarshal(body, &in); err != nil {
			return nil, nil, err
		}
		if err := unmarshal(body, args); err != nil {
			return nil, nil, err
		}
		return func(s *Server, w *writer) error {
			out, err := do(s, args)
			if err != nil {
				return err
			}
			w.out, err = json.Marshal(out)
			return err
		}, []string{in.TableName}, nil
	}}
}

func unmarshal(body []byte, to any) error {
	if err := json.Unmarshal(body, to); err != nil {
		return fail(codeSerialization, "%s", err)
	}
	return nil
}

// tables are the tables that a call on items names.
func (r *request) tables() []string {
	if r.table != nil {
		return []string{*bareName(r.table)}
	}
	var out []string
	for _, b := range r.batch {
		out = append(out, *bareName(&b.name))
	}
	for _, a := range r.actions {
		if a.req.table != nil {
			out = append(out, *bareName(a.req.table))
		}
	}
	return out
}

// operations are the calls that the server offers.
var operations map[string]*operation

func init() { // not in the declaration: Inject, which some calls lead to, reads it
	operations = map[string]*operation{
		"PutItem":            onItems(func(s *Server, r *request, w *writer) error { return s.writeItem(opPut, r, w) }),
		"UpdateItem":         onItems(func(s *Server, r *request, w *writer) error { return s.writeItem(opUpdate, r, w) }),
		"DeleteItem":         onItems(func(s *Server, r *request, w *writer) error { return s.writeItem(opDelete, r, w) }),
		"GetItem":            onItems((*Server).getItem, foreignToGets...),
		"Query":              onItems((*Server).query),
		"Scan":               onItems((*Server).scan, "KeyConditionExpression"),
		"BatchGetItem":       onItems((*Server).batchGetItem),
		"BatchWriteItem":     onItems((*Server).batchWriteItem),
		"TransactGetItems":   onItems((*Server).transactGetItems),
		"TransactWriteItems": onItems((*Server).transactWriteItems),

		"CreateTable":               onTables(serviceDynamo, (*Server).createTable),
		"DescribeTable":             onTables(serviceDynamo, (*Server).describeTable),
		"UpdateTable":               onTables(serviceDynamo, (*Server).updateTable),
		"DeleteTable":               onTables(serviceDynamo, (*Server).deleteTable),
		"ListTables":                onTables(serviceDynamo, (*Server).listTables),
		"TagResource":               onTables(serviceDynamo, (*Server).tagResource),
		"UntagResource":             onTables(serviceDynamo, (*Server).untagResource),
		"ListTagsOfResource":        onTables(serviceDynamo, (*Server).listTagsOfResource),
		"UpdateTimeToLive":          onTables(serviceDynamo, (*Server).updateTimeToLive),
		"DescribeTimeToLive":        onTables(serviceDynamo, (*Server).describeTimeToLive),
		"DescribeContinuousBackups": onTables(serviceDynamo, (*Server).describeContinuousBackups),

		"ListStreams":      onTables(serviceStreams, (*Server).listStreams),
		"DescribeStream":   onTables(serviceStreams, (*Server).describeStream),
		"GetShardIterator": onTables(serviceStreams, (*Server).getShardIterator),
		"GetRecords":       onTables(serviceStreams, (*Server).getRecords),
	}
}
