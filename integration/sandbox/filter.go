package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
)

// pattern is an event filter: an object of patterns, or the values that a member may have. Of EventBridge's patterns it
// knows these two; others are refused.
//
// Source: docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html
type pattern struct {
	members map[string]*pattern // nil: values
	values  []any               // strings, numbers, booleans and null
}

// readFilters reads a FilterCriteria.
func readFilters(r *resolver, what string, criteria *node) ([]*pattern, error) {
	if criteria == nil {
		return nil, nil
	}
	if err := criteria.only(what+": FilterCriteria", "Filters"); err != nil {
		return nil, err
	}
	filters := criteria.get("Filters")
	if filters == nil || filters.kind != listNode {
		return nil, criteria.errorf("%s: FilterCriteria needs Filters", what)
	}
	var out []*pattern
	for _, f := range filters.items {
		text, err := r.member(f, "Pattern")
		if err != nil {
			return nil, err
		}
		p, err := parsePattern([]byte(text))
		if err != nil {
			return nil, f.errorf("%s: Pattern: %v", what, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func parsePattern(text []byte) (*pattern, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return parseValues(text)
	}
	p := &pattern{members: map[string]*pattern{}}
	for name, value := range members {
		var err error
		if p.members[name], err = parsePattern(value); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func parseValues(text []byte) (*pattern, error) {
	p := &pattern{}
	if err := json.Unmarshal(text, &p.values); err != nil || len(p.values) == 0 {
		return nil, fmt.Errorf("an object, or a list of values, is expected, not %.60s", text)
	}
	for _, v := range p.values {
		switch v.(type) {
		case map[string]any, []any:
			return nil, fmt.Errorf("the sandbox supports plain values alone, not %.60s", text)
		}
	}
	return p, nil
}

// matches reports whether a decoded JSON value has all that the pattern asks for.
func (p *pattern) matches(v any) bool {
	if p.members == nil {
		switch v.(type) {
		case map[string]any, []any:
			return false // neither equals a plain value, nor can be compared
		}
		return slices.Contains(p.values, v)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for name, member := range p.members {
		value, there := object[name]
		if !there || !member.matches(value) {
			return false
		}
	}
	return true
}

// filter leaves the records that match one of the mapping's filters.
func (m *mapping) filter(records []record) ([]record, error) {
	if len(m.filters) == 0 {
		return records, nil
	}
	var out []record
	for _, r := range records {
		v, err := r.decoded()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(m.filters, func(p *pattern) bool { return p.matches(v) }) {
			out = append(out, r)
		}
	}
	return out, nil
}
