package dynamofake

import "fmt"

// A condition is true or false for any item, but some can be right for none: an
// order of booleans, a prefix that is a number, bounds the wrong way round.
// The checks in this file need the values of the placeholders but no item: the
// service refuses such a request even if there is no item to look at.

func (c orCondition) check(sc *scope) string  { return checkBoth(sc, c.left, c.right) }
func (c andCondition) check(sc *scope) string { return checkBoth(sc, c.left, c.right) }
func (c notCondition) check(sc *scope) string { return c.inner.check(sc) }
func (bare) check(*scope) string              { return "" }

func checkBoth(sc *scope, left, right condition) string {
	if message := left.check(sc); message != "" {
		return message
	}
	return right.check(sc)
}

func (c comparison) check(sc *scope) string {
	if message := checkDistinct(c.op, c.left, c.right, sc); message != "" {
		return message
	}
	if message := checkOperands(sc, c.left, c.right); message != "" || c.op == "=" || c.op == "<>" {
		return message
	}
	return checkOrdered(c.op, sc, c.left, c.right)
}

func (c between) check(sc *scope) string {
	if message := checkOperands(sc, c.x, c.low, c.high); message != "" {
		return message
	}
	if message := checkOrdered("BETWEEN", sc, c.x, c.low, c.high); message != "" {
		return message
	}
	low, okLow := literal(c.low, sc)
	high, okHigh := literal(c.high, sc)
	switch {
	case !okLow || !okHigh:
		return ""
	case low.kind != high.kind:
		return "The BETWEEN operator requires same data type for lower and upper bounds; " + bounds(low, high)
	case low.compare(high) > 0:
		return "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; " + bounds(low, high)
	}
	return ""
}

func bounds(low, high value) string {
	return fmt.Sprintf("lower bound operand: AttributeValue: {%s:%s}, upper bound operand: AttributeValue: {%s:%s}",
		low.kind, low.plain(), high.kind, high.plain())
}

func (c in) check(sc *scope) string {
	return checkOperands(sc, append([]operand{c.needle}, c.list...)...)
}

func (c function) check(sc *scope) string {
	if message := checkOperands(sc, c.args...); message != "" {
		return message
	}
	if len(c.args) == 2 {
		if message := checkDistinct(c.name, c.args[0], c.args[1], sc); message != "" {
			return message
		}
	}
	switch c.name {
	case "attribute_exists", "attribute_not_exists":
		if _, ok := c.args[0].(path); !ok {
			return "Operator or function requires a document path; operator or function: " + c.name
		}
	case "begins_with":
		return checkPrefix(sc, c.args)
	case "attribute_type":
		return checkTypeName(sc, c.args[1])
	}
	return ""
}

// checkPrefix refuses a prefix that is neither text nor bytes.
func checkPrefix(sc *scope, args []operand) string {
	for _, a := range args {
		if v, ok := literal(a, sc); ok && v.kind != kindS && v.kind != kindB {
			return operandType("begins_with", v.kind.String())
		}
	}
	return ""
}

// checkTypeName wants the name of a type, and as a value: a path could be
// anything.
func checkTypeName(sc *scope, name operand) string {
	v, ok := literal(name, sc)
	switch {
	case !ok:
		return operandType("attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
	case v.kind != kindS:
		return operandType("attribute_type", v.kind.String())
	}
	if _, ok := kindNamed(v.text); !ok {
		return "Invalid attribute type name found; type: " + v.text + ", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
	}
	return ""
}

// checkOrdered refuses a :value that has no order beside an operator that
// needs one.
func checkOrdered(op string, sc *scope, operands ...operand) string {
	for _, o := range operands {
		if v, ok := literal(o, sc); ok && !v.kind.ordered() {
			return operandType(op, v.kind.String())
		}
	}
	return ""
}

// checkOperands refuses size() of a :value that has no size.
func checkOperands(sc *scope, operands ...operand) string {
	for _, o := range operands {
		s, ok := o.(sizeOperand)
		if !ok {
			continue
		}
		if v, ok := literal(s.of, sc); ok {
			if _, sized := v.length(); !sized {
				return operandType("size", v.kind.String())
			}
		}
	}
	return ""
}

// checkDistinct refuses to compare a path with itself.
func checkDistinct(op string, left, right operand, sc *scope) string {
	a, okA := left.(path)
	b, okB := right.(path)
	if !okA || !okB || !samePath(a, b, sc) {
		return ""
	}
	return "The first operand must be distinct from the remaining operands for this operator or function; operator: " +
		op + ", first operand: " + a.text(sc)
}

// literal is the value of a :placeholder operand.
func literal(o operand, sc *scope) (value, bool) {
	v, ok := o.(valueOperand)
	if !ok {
		return value{}, false
	}
	return sc.values[v], true
}

func operandType(op, kind string) string {
	return "Incorrect operand type for operator or function; operator or function: " + op + ", operand type: " + kind
}
