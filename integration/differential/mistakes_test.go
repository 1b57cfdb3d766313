package differential

import (
	"maps"
	"slices"
	"strings"
)

// spoil makes a mistake in a call.
func (g *generator) spoil(c call) call {
	if g.chance(50) {
		return g.spoilExpression(c)
	}
	switch g.IntN(10) {
	case 0:
		raw := string(c.bytes())
		c.raw = raw[:g.IntN(len(raw))] + one(g, "", "}", "]", `"`, ",")
	case 1:
		c.op = one(g, "PutItems", "", "getItem", "ExecuteStatement.x")
	case 2:
		c.body["TableName"] = one(g, "differential-none", "no", "", "a table", strings.Repeat("long", 64))
	case 3:
		c.body["ReturnValues"] = one(g, "SOME", "all_old", "", "ALL_NEW")
	default:
		g.spoilNode(c.body)
	}
	return c
}

var expressionMembers = []string{
	"ConditionExpression", "UpdateExpression", "ProjectionExpression", "FilterExpression", "KeyConditionExpression",
}

// spoilExpression changes the text of an expression, or the placeholders beside it.
func (g *generator) spoilExpression(c call) call {
	for _, member := range expressionMembers {
		if text, ok := c.body[member].(string); ok && g.chance(70) {
			c.body[member] = g.spoilText(text)
			return c
		}
	}
	return c
}

// scraps are put into expressions.
var scraps = []string{
	"(", ")", "((", "))", ",", ":v9", "#n9", " AND ", " OR ", " NOT ", "size(", "size", "[0]", "[", "]", ".", "=", "<>", "< =", " SET ",
	" REMOVE ", " ADD ", "select", "5", "-", "+", `"`, "é", "::", "#", ":", " IN ", " BETWEEN ", "attribute_exists(", "foo(a)", "[-1]", "[01]", "\t",
}

// spoilText leaves a part of the text out, or puts a scrap in.
func (g *generator) spoilText(text string) string {
	if text == "" {
		return one(g, scraps...)
	}
	at := g.IntN(len(text) + 1)
	switch g.IntN(4) {
	case 0:
		return text[:at]
	case 1:
		return text[:at] + text[min(at+1+g.IntN(3), len(text)):]
	case 2:
		return text + one(g, scraps...)
	}
	return text[:at] + one(g, scraps...) + text[at:]
}

// spoilNode leaves out a member somewhere in the body, or gives it another value.
func (g *generator) spoilNode(body object) {
	names := slices.Sorted(maps.Keys(body))
	if len(names) == 0 {
		body["S"] = "a"
		return
	}
	name := one(g, names...)
	switch node := body[name].(type) {
	case object:
		if g.chance(70) {
			g.spoilNode(node)
			return
		}
	case list:
		if len(node) > 0 && g.chance(70) {
			if element, ok := node[g.IntN(len(node))].(object); ok {
				g.spoilNode(element)
				return
			}
		}
	}
	if g.chance(30) {
		delete(body, name)
		return
	}
	body[name] = one[any](g, nil, true, 5, -1, 1.5, "", "x", list{}, object{}, list{object{}}, list{"x"}, object{"S": "x"}, list{nil})
}
