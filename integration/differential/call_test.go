package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type (
	object = map[string]any
	list   = []any
)

// call is one request.
type call struct {
	op   string
	body object
	// raw is sent instead of the body, where that is not even JSON.
	raw string
}

// bytes is the body as it is sent. Members are in the order of their names, so that every server sees the same.
func (c call) bytes() []byte {
	if c.raw != "" {
		return []byte(c.raw)
	}
	return []byte(text(c.body))
}

func (c call) String() string { return c.op + " " + string(c.bytes()) }

// reads tells calls that change nothing.
func (c call) reads() bool {
	return strings.Contains(c.op, "Get") || c.op == "Query" || c.op == "Scan"
}

// without is the call without one member of its body.
func (c call) without(member string) call {
	c.body = maps.Clone(c.body)
	delete(c.body, member)
	return c
}

// reply is what a server answers.
type reply struct {
	status int
	// code is the short name of an error's type.
	code, message string
	// body is the rest of the answer, in normal form.
	body object
	// capacity is the consumed capacity, apart from the body.
	capacity any
}

func (r reply) ok() bool { return r.status == 200 }

func (r reply) String() string {
	if r.ok() {
		return "200 " + text(r.body) + " " + text(r.capacity)
	}
	return fmt.Sprintf("%d %s: %s %s", r.status, r.code, r.message, text(r.body))
}

// text is JSON with the members in the order of their names.
func text(v any) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// newReply reads an answer.
func newReply(op string, status int, body []byte) reply {
	r := reply{status: status}
	if err := json.Unmarshal(body, &r.body); err != nil {
		r.message = string(body[:min(len(body), 300)])
		return r
	}
	code, _ := r.body["__type"].(string)
	r.code = code[strings.LastIndexByte(code, '#')+1:]
	for _, name := range []string{"message", "Message"} {
		if message, ok := r.body[name].(string); ok {
			r.message = message
		}
		delete(r.body, name)
	}
	r.capacity = normal(r.body["ConsumedCapacity"])
	delete(r.body, "__type")
	delete(r.body, "ConsumedCapacity")
	for _, name := range []string{"Attributes", "ItemCollectionMetrics"} { // none and empty are the same
		if none, ok := r.body[name].(object); ok && len(none) == 0 {
			delete(r.body, name)
		}
	}
	r.body = normal(r.body).(object)
	for table, items := range r.body {
		if op == "BatchGetItem" && table == "Responses" {
			sortLists(items.(object))
		}
	}
	return r
}

// normal is a value of an answer without what has no meaning: the order of a set's members or of capacities, empty
// lists of what was not done.
func normal(v any) any {
	switch v := v.(type) {
	case object:
		for name, member := range v {
			v[name] = normal(member)
			set, isList := v[name].(list)
			if isList && len(v) == 1 && (name == "SS" || name == "NS" || name == "BS") {
				sortByText(set)
			}
		}
		for _, estimate := range []string{"SizeEstimateRangeGB", "UnprocessedItems", "UnprocessedKeys"} {
			delete(v, estimate)
		}
	case list:
		for i := range v {
			v[i] = normal(v[i])
		}
	}
	return v
}

// sortLists orders the items of each table.
func sortLists(tables object) {
	for _, items := range tables {
		if items, ok := items.(list); ok {
			sortByText(items)
		}
	}
}

func sortByText(l list) {
	slices.SortFunc(l, func(a, b any) int { return strings.Compare(text(a), text(b)) })
}
