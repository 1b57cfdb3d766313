package dynamofake

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// request is the body of a call on items. The calls share most of their
// members, so one shape and one table of members serve them all; a call ignores
// the members of others, as the service does.
type request struct {
	table *string
	index *string

	key, item, startKey item // nil: not given

	condition, update, keyCondition, filter, projection *string

	names  []nameArg
	values []valueArg
	// hasNames and hasValues tell an empty map from none.
	hasNames, hasValues bool

	returnValues, returnOnFail, returnCapacity, returnMetrics, selected choice

	consistent, backward          bool
	limit, segment, totalSegments *int

	// foreign are members of other calls, of which this one knows nothing.
	foreign []string

	token   *string
	actions []action       // TransactItems
	batch   []tableRequest // RequestItems
	legacy  []string       // members of before expressions, which are refused
	// complaint is the first thing wrong with the value of an attribute, to be
	// reported in its turn; valueComplaint is that of the :values.
	complaint, valueComplaint error
	body                      []byte // as it came
}

// choice is a parameter of which the service names the allowed values. An empty
// one is not allowed, and is not the same as none.
type choice struct {
	value string
	given bool
}

// nameArg is one of the ExpressionAttributeNames.
type nameArg struct {
	placeholder, name string
	used              bool
}

// valueArg is one of the ExpressionAttributeValues.
type valueArg struct {
	placeholder string
	value       value
	used        bool
}

// action is one element of TransactItems: Put, Update, Delete, ConditionCheck
// or Get, or "" where none was given.
type action struct {
	op  string
	req request
}

// tableRequest is the part of a batch that concerns one table.
type tableRequest struct {
	name string
	// shape is '{' for an object, of which there are keys to get, and '[' for a
	// list of writes.
	shape jsontext.Kind
	// get has the members beside Keys; keys has those. For BatchGetItem.
	get  request
	keys []item
	// writes are PutRequest and DeleteRequest elements. For BatchWriteItem.
	writes []action
}

// legacyMembers are parameters from before expressions existed.
var legacyMembers = []string{
	"AttributesToGet", "AttributeUpdates", "ConditionalOperator", "Expected", "KeyConditions", "QueryFilter", "ScanFilter",
}

// members reads the value of each member of a request.
var members map[string]func(*decoder, *request) error

func init() { // not in the declaration: actions and batches contain requests
	members = map[string]func(*decoder, *request) error{
		"TableName":                 func(d *decoder, r *request) error { return d.optional(&r.table) },
		"IndexName":                 func(d *decoder, r *request) error { return d.optional(&r.index) },
		"Key":                       func(d *decoder, r *request) error { return d.item(&r.key) },
		"Item":                      func(d *decoder, r *request) error { return d.item(&r.item) },
		"ExclusiveStartKey":         func(d *decoder, r *request) error { return d.item(&r.startKey) },
		"ConditionExpression":       func(d *decoder, r *request) error { return d.optional(&r.condition) },
		"UpdateExpression":          func(d *decoder, r *request) error { return d.optional(&r.update) },
		"KeyConditionExpression":    func(d *decoder, r *request) error { return d.optional(&r.keyCondition) },
		"FilterExpression":          func(d *decoder, r *request) error { return d.optional(&r.filter) },
		"ProjectionExpression":      func(d *decoder, r *request) error { return d.optional(&r.projection) },
		"ExpressionAttributeNames":  (*decoder).names,
		"ExpressionAttributeValues": (*decoder).values,

		"ReturnValues":                        func(d *decoder, r *request) error { return d.choice(&r.returnValues) },
		"ReturnValuesOnConditionCheckFailure": func(d *decoder, r *request) error { return d.choice(&r.returnOnFail) },
		"ReturnConsumedCapacity":              func(d *decoder, r *request) error { return d.choice(&r.returnCapacity) },
		"ReturnItemCollectionMetrics":         func(d *decoder, r *request) error { return d.choice(&r.returnMetrics) },
		"Select":                              func(d *decoder, r *request) error { return d.choice(&r.selected) },

		"ConsistentRead": func(d *decoder, r *request) error { return d.boolean(&r.consistent) },
		"ScanIndexForward": func(d *decoder, r *request) error {
			forward := true
			err := d.boolean(&forward)
			r.backward = !forward
			return err
		},
		"Limit":         func(d *decoder, r *request) error { return d.integer(&r.limit) },
		"Segment":       func(d *decoder, r *request) error { return d.integer(&r.segment) },
		"TotalSegments": func(d *decoder, r *request) error { return d.integer(&r.totalSegments) },

		"ClientRequestToken": func(d *decoder, r *request) error { return d.optional(&r.token) },
		"TransactItems":      (*decoder).transactItems,
		"RequestItems":       (*decoder).requestItems,
	}
	for _, name := range legacyMembers {
		members[name] = func(d *decoder, r *request) error {
			r.legacy = append(r.legacy, name)
			return d.skip()
		}
	}
}

// decodeRequest reads the body of a call on items.
func decodeRequest(body []byte, foreign ...string) (*request, error) {
	r := &request{body: body, foreign: foreign}
	complaint, err := decode(body, func(d *decoder) error { return d.request(r) })
	r.complaint = complaint
	return r, err
}

// request reads an object of members.
func (d *decoder) request(r *request) error {
	return d.object(func(name []byte) error { return d.member(r, name) })
}

// member reads one member, or skips it: a null, or one that the call does not
// have.
func (d *decoder) member(r *request, name []byte) error {
	foreign := func(f string) bool { return f == string(name) }
	read := members[string(name)]
	if read == nil || d.json.PeekKind() == 'n' || slices.ContainsFunc(r.foreign, foreign) {
		return d.skip()
	}
	return read(d, r)
}

// foreignToGets are the members that reads of single items do not have.
var foreignToGets = []string{"ExpressionAttributeValues", "ReturnItemCollectionMetrics"}

// names reads the #names.
func (d *decoder) names(r *request) error {
	r.hasNames = true
	return d.object(func(name []byte) error {
		r.names = append(r.names, nameArg{placeholder: string(name)})
		return d.str(&r.names[len(r.names)-1].name)
	})
}

// values reads the :values. What is wrong with one is reported with its name.
func (d *decoder) values(r *request) error {
	r.hasValues = true
	return d.object(func(name []byte) error {
		r.values = append(r.values, valueArg{placeholder: string(name)})
		last := &r.values[len(r.values)-1]
		complaint, err := d.apart(func() (err error) {
			last.value, err = d.value(0)
			return err
		})
		if r.valueComplaint == nil && complaint != nil {
			r.valueComplaint = invalid("ExpressionAttributeValues contains invalid value: %s for key %s", complaint, last.placeholder)
		}
		return err
	})
}

// transactItems reads the actions of a transaction. Each has a complaint of its
// own, since they are checked one by one.
func (d *decoder) transactItems(r *request) error {
	r.actions = make([]action, 0, 2) // the fewest that make sense
	return d.array(func() (err error) {
		r.actions = append(r.actions, action{})
		last := &r.actions[len(r.actions)-1]
		last.req.complaint, err = d.apart(func() error { return d.action(last) })
		return err
	})
}

// action reads an object whose one member names what to do.
func (d *decoder) action(a *action) error {
	return d.object(func(name []byte) error {
		op := string(name)
		if !slices.Contains(actionNames, op) || d.json.PeekKind() == 'n' {
			return d.skip()
		}
		switch {
		case a.op == "":
		case strings.HasSuffix(op, "Request"):
			d.complain(errNotOneRequest)
		default:
			d.complain(invalid("TransactItems can only contain one of Check, Put, Update or Delete"))
		}
		a.op = op
		if op == "Get" {
			a.req.foreign = foreignToGets
		}
		return d.request(&a.req)
	})
}

var actionNames = []string{"Put", "Update", "Delete", "ConditionCheck", "Get", "PutRequest", "DeleteRequest"}

// requestItems reads a batch: for each table, a list of writes or an object
// with keys to get.
func (d *decoder) requestItems(r *request) error {
	r.batch = []tableRequest{}
	return d.object(func(name []byte) error {
		r.batch = append(r.batch, tableRequest{name: string(name), shape: d.json.PeekKind()})
		t := &r.batch[len(r.batch)-1]
		if t.shape == '{' {
			return d.keysToGet(t)
		}
		return d.array(func() error {
			t.writes = append(t.writes, action{})
			return d.action(&t.writes[len(t.writes)-1])
		})
	})
}

// keysToGet reads the part of a BatchGetItem for one table.
func (d *decoder) keysToGet(t *tableRequest) error {
	t.get.foreign = foreignToGets
	return d.object(func(name []byte) error {
		if string(name) == "Keys" && d.json.PeekKind() != 'n' {
			t.keys = []item{}
			return d.array(func() error {
				t.keys = append(t.keys, nil)
				return d.item(&t.keys[len(t.keys)-1])
			})
		}
		return d.member(&t.get, name)
	})
}
