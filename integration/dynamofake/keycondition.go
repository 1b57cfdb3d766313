package dynamofake

import "strings"

// keyRange is what a KeyConditionExpression selects: one partition, and a range
// of its sort keys ("Key condition expressions for the Query operation in
// DynamoDB").
type keyRange struct {
	hash value
	op   string // of the sort key, "" for all
	low  value  // the operand, or the lower one of BETWEEN
	high value  // the upper one of BETWEEN
}

// place is where a sort key lies: below the range (-1), in it, or above it.
func (r *keyRange) place(v value) int {
	atLow := v.compare(r.low)
	switch r.op {
	case "":
		return 0
	case "=":
		return atLow
	case "<":
		return max(atLow+1, 0)
	case "<=":
		return max(atLow, 0)
	case ">":
		return min(atLow-1, 0)
	case ">=":
		return min(atLow, 0)
	case "BETWEEN":
		if atLow < 0 {
			return -1
		}
		return max(v.compare(r.high), 0)
	}
	if strings.HasPrefix(v.text, r.low.text) {
		return 0
	}
	return atLow
}

// lowest is the sort key text at which the range begins.
func (r *keyRange) lowest() string {
	if r.op == "<" || r.op == "<=" {
		return ""
	}
	return r.low.text
}

// highest is the sort key text at which the range ends; open if it does not.
func (r *keyRange) highest() (text string, open bool) {
	switch r.op {
	case "=", "<", "<=":
		return r.low.text, false
	case "BETWEEN":
		return r.high.text, false
	}
	return "", true
}

// maxKeyTerms are the conditions that a key of two attributes can have.
const maxKeyTerms = 2

// keyTerm is the condition on one key attribute.
type keyTerm struct {
	op     string
	values []value
}

// keyTerms takes a key condition apart, by attribute.
type keyTerms map[string]keyTerm

// collect adds the terms of a condition. The error says what cannot stand in a
// key condition.
func (k keyTerms) collect(c condition, sc *scope) error {
	switch c := c.(type) {
	case andCondition:
		if err := k.collect(c.left, sc); err != nil {
			return err
		}
		return k.collect(c.right, sc)
	case comparison:
		return k.compare(c, sc)
	case between:
		return k.add("BETWEEN", sc, c.x, c.low, c.high)
	case function:
		if c.name == "begins_with" {
			return k.add(c.name, sc, c.args...)
		}
		return invalid("Invalid operator used in KeyConditionExpression: %s", c.name)
	case orCondition:
		return invalid("Invalid operator used in KeyConditionExpression: OR")
	case notCondition:
		return invalid("Invalid operator used in KeyConditionExpression: NOT")
	}
	return invalid("Invalid operator used in KeyConditionExpression: IN")
}

// compare adds a comparison, turned around if the value stands on the left.
func (k keyTerms) compare(c comparison, sc *scope) error {
	if c.op == "<>" {
		return invalid("Invalid operator used in KeyConditionExpression: <>")
	}
	if _, ok := c.left.(valueOperand); ok {
		turned := map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
		return k.add(turned[c.op], sc, c.right, c.left)
	}
	return k.add(c.op, sc, c.left, c.right)
}

// add adds one term: a key attribute and the values it is compared with.
func (k keyTerms) add(op string, sc *scope, operands ...operand) error {
	term := keyTerm{op: op}
	p, ok := operands[0].(path)
	if !ok {
		if _, nested := operands[0].(sizeOperand); nested {
			return invalid("KeyConditionExpressions cannot contain nested operations")
		}
		if op == "BETWEEN" || op == "begins_with" {
			return invalid("Invalid condition in KeyConditionExpression: %s operator must have the key attribute as its first operand", op)
		}
		return invalid("Invalid condition in KeyConditionExpression: No key attribute specified")
	}
	for _, o := range operands[1:] {
		v, ok := literal(o, sc)
		if !ok {
			if _, nested := o.(sizeOperand); nested {
				return invalid("KeyConditionExpressions cannot contain nested operations")
			}
			return invalid("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition")
		}
		term.values = append(term.values, v)
	}
	if len(p) > 1 {
		return invalid("KeyConditionExpressions cannot have conditions on nested attributes")
	}
	name := p[0].key(sc)
	if _, twice := k[name]; twice {
		return invalid("Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key")
	}
	k[name] = term
	return nil
}

// keyRange checks the terms against the key that is queried.
func (k keyTerms) keyRange(s schema) (*keyRange, error) {
	if len(k) > maxKeyTerms {
		return nil, invalid("The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)", len(k), len(s.attrs()))
	}
	for _, a := range s.attrs() {
		term, ok := k[a.name]
		if !ok {
			if a == s.hash || len(k) > 1 {
				return nil, invalid("Query condition missed key schema element: %s", a.name)
			}
			continue
		}
		for _, v := range term.values {
			if v.kind != a.kind {
				return nil, invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
			}
			if v.text == "" && term.op != "begins_with" {
				return nil, invalid("One or more parameter values are not valid. %s Key: %s", a.mustNotBeEmpty(), a.name)
			}
		}
	}
	if len(k) > len(s.attrs()) || k[s.hash.name].op != "=" {
		return nil, invalid("Query key condition not supported")
	}
	r := &keyRange{hash: k[s.hash.name].values[0]}
	if term, ok := k[s.sort.name]; ok && s.hasSort() {
		r.op, r.low = term.op, term.values[0]
		r.high = term.values[len(term.values)-1]
	}
	return r, nil
}
