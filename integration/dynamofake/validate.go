package dynamofake

import (
	"fmt"
	"slices"
	"strings"
)

// constraints collects what is wrong with single parameters; the service
// reports all of it at once, ten at most.
type constraints []string

const maxConstraints = 10

// add notes a complaint: the value as it is shown, where it is, and what it must
// be.
func (c *constraints) add(shown, at, must string) {
	if len(*c) < maxConstraints {
		*c = append(*c, fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: %s", shown, at, must))
	}
}

// err is the answer, nil if there is nothing to complain about.
func (c constraints) err() error {
	switch len(c) {
	case 0:
		return nil
	case 1:
		return invalid("1 validation error detected: %s", c[0])
	}
	return invalid("%d validation errors detected: %s", len(c), strings.Join(c, "; "))
}

func quoted(s string) string { return "'" + s + "'" }

// present refuses a missing parameter.
func (c *constraints) present(is bool, at string) {
	if !is {
		c.add("null", at, "Member must not be null")
	}
}

// name checks a table or index name.
func (c *constraints) name(name *string, at string) {
	if name == nil {
		return
	}
	if run(*name, 0, isNameByte) < len(*name) || *name == "" {
		c.add(quoted(*name), at, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
	if len(*name) < 3 {
		c.add(quoted(*name), at, "Member must have length greater than or equal to 3")
	}
	if len(*name) > 255 {
		c.add(quoted(*name), at, "Member must have length less than or equal to 255")
	}
}

func isNameByte(b byte) bool { return isWordByte(b) || b == '.' || b == '-' }

// checkTableGiven refuses an empty TableName. That is told before and apart from
// everything else that is wrong: so most Regions answer.
func (r *request) checkTableGiven() error {
	if r.table != nil && *r.table == "" {
		return invalid("1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	return nil
}

// table checks the TableName, which may be an ARN, and replaces it by the name.
func (c *constraints) table(r *request) {
	c.present(r.table != nil, "tableName")
	r.table = bareName(r.table)
	c.name(r.table, "tableName")
}

// bareName is the table's name where its ARN was given.
func bareName(name *string) *string {
	if name == nil || !strings.HasPrefix(*name, "arn:") {
		return name
	}
	if _, after, ok := strings.Cut(*name, ":table/"); ok {
		return &after
	}
	return name
}

// enum refuses a value that is given, and so not empty, but none of the allowed
// ones.
func (c *constraints) enum(v, at string, allowed ...string) {
	c.choice(choice{v, v != ""}, at, allowed...)
}

// choice refuses a choice that is given but none of the allowed ones.
func (c *constraints) choice(v choice, at string, allowed ...string) {
	if v.given && !slices.Contains(allowed, v.value) {
		c.add(quoted(v.value), at, "Member must satisfy enum value set: ["+strings.Join(allowed, ", ")+"]")
	}
}

// atLeast refuses a number that is given but too small.
func (c *constraints) atLeast(n *int, at string, least int) {
	if n != nil && *n < least {
		c.add(fmt.Sprintf("'%d'", *n), at, fmt.Sprintf("Member must have value greater than or equal to %d", least))
	}
}

// atMost refuses a number that is given but too large.
func (c *constraints) atMost(n *int, at string, most int) {
	if n != nil && *n > most {
		c.add(fmt.Sprintf("'%d'", *n), at, fmt.Sprintf("Member must have value less than or equal to %d", most))
	}
}

// capacity checks ReturnConsumedCapacity.
func (c *constraints) capacity(r *request) {
	c.choice(r.returnCapacity, "returnConsumedCapacity", "INDEXES", "TOTAL", "NONE")
}

// metrics checks ReturnItemCollectionMetrics.
func (c *constraints) metrics(r *request) {
	c.choice(r.returnMetrics, "returnItemCollectionMetrics", "SIZE", "NONE")
}

// given is an expression parameter of a call.
type given struct {
	kind expressionKind
	text *string
}

// checkExpressionUse refuses parameters from before expressions, which this
// server does not have, and names or values without an expression to use them.
func (r *request) checkExpressionUse(expressions ...given) error {
	if len(r.legacy) > 0 {
		return invalid("dynamofake does not offer the legacy parameters {%s}: use expressions", strings.Join(r.legacy, ", "))
	}
	var takeValues []string
	used, usedWithValues := false, false
	for _, e := range expressions {
		used = used || e.text != nil
		if e.kind != projectionExpression {
			takeValues = append(takeValues, string(e.kind))
			usedWithValues = usedWithValues || e.text != nil
		}
	}
	if r.hasNames && !used {
		return invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if r.hasValues && !usedWithValues && len(takeValues) > 0 {
		verb := "is"
		if len(takeValues) > 1 {
			verb = "are"
		}
		return invalid("ExpressionAttributeValues can only be specified when using expressions: %s %s null", strings.Join(takeValues, " and "), verb)
	}
	return nil
}
