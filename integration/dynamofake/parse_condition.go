package dynamofake

// The grammar of conditions is that of the developer guide ("Condition and
// filter expressions, operators, and functions in DynamoDB"). What is refused
// beyond it (redundant parentheses, a function where a value must stand) is what
// the service refuses.

import (
	"fmt"
)

// whole reads a condition to the end of the text.
func (p *parser) whole() condition {
	c := p.truth(p.or())
	p.end()
	return c
}

// truth refuses an operand where a condition must stand: a path, a value, or
// size().
func (p *parser) truth(c condition) condition {
	b, ok := c.(bare)
	if !ok {
		return c
	}
	if _, ok := b.operand.(sizeOperand); ok {
		p.fail(rankMisused, "The function is not allowed to be used this way in an expression; function: size")
		return c
	}
	p.syntax()
	return c
}

// or binds weaker than and, and weaker than not: the service's precedence.
func (p *parser) or() condition {
	left := p.and()
	for p.keyword("OR") {
		p.operators++
		left = orCondition{p.truth(left), p.truth(p.and())}
	}
	return left
}

func (p *parser) and() condition {
	left := p.not()
	for p.keyword("AND") {
		p.operators++
		left = andCondition{p.truth(left), p.truth(p.not())}
	}
	return left
}

func (p *parser) not() condition {
	if p.keyword("NOT") {
		p.operators++
		return notCondition{p.truth(p.not())}
	}
	return p.predicate()
}

// predicate reads a comparison, BETWEEN, IN, a function, or a condition in
// parentheses. An operand that nothing follows comes back as bare.
func (p *parser) predicate() condition {
	c := p.primary()
	t := p.peek()
	switch {
	case t.kind == tokenSymbol && isComparator(t.text):
		p.pos++
		p.operators++
		return comparison{op: t.text, left: p.asOperand(c), right: p.operand()}
	case p.keyword("BETWEEN"):
		p.operators++
		low := p.operand()
		if !p.keyword("AND") {
			p.syntax()
		}
		return between{p.asOperand(c), low, p.operand()}
	case p.keyword("IN"):
		p.operators++
		return p.in(p.asOperand(c))
	}
	return c
}

func isComparator(s string) bool {
	switch s {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// primary reads what stands between operators: (…), a function, an operand.
func (p *parser) primary() condition {
	if p.symbol("(") {
		doubled := p.peek().text == "("
		start := p.pos
		inner := p.or()
		if doubled && p.closes(start) {
			p.fail(rankParens, "The expression has redundant parentheses;")
		}
		p.expect(")")
		return inner
	}
	if p.called() {
		return p.function()
	}
	return bare{p.simple()}
}

// closes reports whether the parenthesis at start is closed right before the
// current position: ((…)).
func (p *parser) closes(start int) bool {
	depth := 0
	for i := start; i < p.pos; i++ {
		if p.tokens[i].kind != tokenSymbol {
			continue
		}
		switch p.tokens[i].text {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 {
			return i == p.pos-1
		}
	}
	return false
}

// operand reads a path, a value or size(), perhaps in parentheses.
func (p *parser) operand() operand { return p.asOperand(p.primary()) }

// asOperand refuses a condition where something with a value must stand.
func (p *parser) asOperand(c condition) operand {
	switch c := c.(type) {
	case bare:
		return c.operand
	case function:
		p.fail(rankMisused, "The function is not allowed to be used this way in an expression; function: "+c.name)
	default:
		p.syntax()
	}
	return path{}
}

// simple reads a path or a :value.
func (p *parser) simple() operand {
	if v, ok := p.placeholder(); ok {
		return v
	}
	return p.path()
}

// in reads the list behind IN.
func (p *parser) in(left operand) condition {
	c := in{needle: left}
	p.expect("(")
	p.list(func() { c.list = append(c.list, p.operand()) })
	p.expect(")")
	if len(c.list) > maxInOperands {
		p.fail(rankOperands, fmt.Sprintf("Invalid number of operands for operator or function; operator or function: IN, number of operands: %d", len(c.list)+1))
	}
	return c
}

// maxInOperands is the limit of the list behind IN ("Condition and filter
// expressions, operators, and functions in DynamoDB").
const maxInOperands = 100

// function reads name(operand, …).
func (p *parser) function() condition {
	name := p.next().text
	p.expect("(")
	var args []operand
	if !p.symbol(")") {
		p.list(func() { args = append(args, p.operand()) })
		p.expect(")")
	}
	p.operators++
	want, known := conditionFunctions[name]
	switch {
	case !known:
		p.fail(rankFunction, "Invalid function name; function: "+name)
	case want != len(args):
		p.fail(rankOperands, operandCount(name, len(args)))
	default:
		return newCall(name, args)
	}
	return function{name: name}
}

// conditionFunctions has the number of operands of each function.
var conditionFunctions = map[string]int{
	"attribute_exists":     1,
	"attribute_not_exists": 1,
	"attribute_type":       2,
	"begins_with":          2,
	"contains":             2,
	"size":                 1,
}

// operandCount is the complaint about a wrong number of operands.
func operandCount(name string, n int) string {
	return fmt.Sprintf("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", name, n)
}

// newCall is the condition or, for size, the operand that a call stands for.
func newCall(name string, args []operand) condition {
	if name == "size" {
		return bare{sizeOperand{args[0]}}
	}
	return function{name: name, args: args}
}
