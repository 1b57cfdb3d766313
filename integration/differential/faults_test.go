package differential

import (
	"maps"
	"strings"
)

// Ways to say what a known fault looks like.

// refusal are the aspects in which a rule shows that a peer does not know: it accepts the call or, if there is another
// mistake in it, complains of that one.
var refusal = []aspect{aspectOutcome, aspectMessage}

func only(a aspect) []aspect { return []aspect{a} }

// oursSays matches differences where dynamofake refuses with a message that contains the text.
func oursSays(text string) func(exchange) bool {
	return func(x exchange) bool {
		return x.ours.code == "ValidationException" && strings.Contains(x.ours.message, text)
	}
}

// either matches if one of them does.
func either(all ...func(exchange) bool) func(exchange) bool {
	return func(x exchange) bool {
		for _, one := range all {
			if one(x) {
				return true
			}
		}
		return false
	}
}

// lacks matches answers that are the same but for a member that the peer's has not.
func lacks(member string) func(exchange) bool {
	return func(x exchange) bool {
		ours := maps.Clone(x.ours.body)
		delete(ours, member)
		return x.ours.body[member] != nil && text(ours) == text(x.theirs.body)
	}
}

// aboutCondition matches writes that one server refused for their condition, and the other did, or would have done.
func (x exchange) aboutCondition() bool {
	const failed = "ConditionalCheckFailedException"
	return (x.ours.code == failed) != (x.theirs.code == failed) && x.theirs.code != crash
}

// fetches matches reads of a local index that ask for more than it has.
func fetches(x exchange) bool {
	return x.body["IndexName"] == "by-s" && x.body["ProjectionExpression"] != nil && x.ours.ok() && x.theirs.ok()
}

// units are the capacity units that an answer reports in all.
func (r reply) units() float64 {
	switch c := r.capacity.(type) {
	case object:
		units, _ := c["CapacityUnits"].(float64)
		return units
	case list:
		sum := 0.0
		for _, one := range c {
			sum += reply{capacity: one}.units()
		}
		return sum
	}
	return 0
}

// names reports whether the call is about the table, alone or among others.
func (c call) names(table string) bool { return strings.Contains(text(c.body), `"`+table+`"`) }

// on matches calls of these operations, if all others match too.
func on(ops string, all ...func(exchange) bool) func(exchange) bool {
	return func(x exchange) bool {
		for _, one := range all {
			if !one(x) {
				return false
			}
		}
		return strings.Contains(" "+ops+" ", " "+x.op+" ")
	}
}

// expression are the texts of all expressions of a call.
func (c call) expressions() string {
	var out []string
	for _, member := range expressionMembers {
		if text, ok := c.body[member].(string); ok {
			out = append(out, text)
		}
	}
	return strings.Join(out, " ; ")
}
