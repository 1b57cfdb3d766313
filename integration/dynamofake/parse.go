package dynamofake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of an expression ("Quotas in Amazon DynamoDB": expression parameters).
// Its bytes are counted as it was sent, before placeholders are resolved.
const (
	maxExpressionBytes = 4096
	maxOperators       = 300
	maxPathDepth       = 32
)

// rank orders the reasons to refuse an expression: the service reports the one
// of the lowest rank, not the first one in the text.
type rank uint8

const (
	rankSyntax rank = iota
	rankParens
	rankFunction
	rankMisused
	rankReserved
	rankSection
	rankOperands
	rankNone
)

// parser reads one expression by recursive descent. After a syntax error it
// sees only the end, so that every rule returns.
type parser struct {
	text      string
	tokens    []token
	pos       int
	rank      rank
	message   string
	operators int
	out       *expression
}

// parseExpression parses text as the given kind.
func parseExpression(kind expressionKind, text string) (*expression, error) {
	p := &parser{text: text, rank: rankNone, out: &expression{kind: kind}}
	p.parse()
	if p.rank != rankNone {
		return nil, invalid("Invalid %s: %s", kind, p.message)
	}
	return p.out, nil
}

// parse reads the whole text into p.out.
func (p *parser) parse() {
	switch {
	case p.text == "":
		p.fail(rankSyntax, "The expression can not be empty;")
		return
	case len(p.text) > maxExpressionBytes:
		p.fail(rankSyntax, "Expression size has exceeded the maximum allowed size; expression size: "+strconv.Itoa(len(p.text)))
		return
	}
	var message string
	if p.tokens, message = lex(p.text); message != "" {
		p.fail(rankSyntax, message)
		return
	}
	switch p.out.kind {
	case updateExpression:
		p.update()
	case projectionExpression:
		p.projection()
	default:
		p.out.cond = p.whole()
	}
	if p.operators > maxOperators {
		p.fail(rankParens, fmt.Sprintf("The expression contains too many operators; number of operators: %d, maximum: %d", p.operators, maxOperators))
	}
}

// fail keeps the message if no other one of its rank or a lower rank came.
func (p *parser) fail(r rank, message string) {
	if r < p.rank {
		p.rank, p.message = r, message
	}
}

// syntax fails at the current token and skips to the end.
func (p *parser) syntax() {
	p.fail(rankSyntax, syntaxMessage(p.text, p.tokens, p.pos))
	p.pos = len(p.tokens) - 1
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != tokenEnd {
		p.pos++
	}
	return t
}

// symbol consumes the symbol if it is next.
func (p *parser) symbol(s string) bool {
	t := p.peek()
	if t.kind != tokenSymbol || t.text != s {
		return false
	}
	p.pos++
	return true
}

// keyword consumes the keyword, in any case, if it is next.
func (p *parser) keyword(word string) bool {
	if !p.atKeyword(word) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) atKeyword(word string) bool {
	t := p.peek()
	return t.kind == tokenIdent && strings.EqualFold(t.text, word)
}

// expect consumes the symbol or fails.
func (p *parser) expect(s string) {
	if !p.symbol(s) {
		p.syntax()
	}
}

// end fails unless everything was read.
func (p *parser) end() {
	if p.peek().kind != tokenEnd {
		p.syntax()
	}
}

// list reads one or more things with commas between them.
func (p *parser) list(one func()) {
	one()
	for p.symbol(",") {
		one()
	}
}

// projection reads path, path, …
func (p *parser) projection() {
	p.list(func() { p.out.paths = append(p.out.paths, p.path()) })
	p.end()
}

// path reads a document path.
func (p *parser) path() path {
	out := path{p.pathName()}
	for {
		switch {
		case p.symbol("."):
			out = append(out, p.pathName())
		case p.symbol("["):
			out = append(out, p.pathIndex())
		default:
			if len(out) > maxPathDepth {
				p.fail(rankParens, "The document path has too many nesting elements; nesting elements: "+strconv.Itoa(len(out)))
			}
			p.out.all = append(p.out.all, out)
			return out
		}
	}
}

// pathName reads a name or #placeholder. Reserved words can stand only behind a
// placeholder, also as parts of a path.
func (p *parser) pathName() step {
	switch t := p.peek(); {
	case p.atOperator():
	case t.kind == tokenIdent:
		p.pos++
		if isReserved(t.text) {
			p.fail(rankReserved, "Attribute name is a reserved keyword; reserved keyword: "+t.text)
		}
		return step{kind: stepName, name: t.text}
	case t.kind == tokenName:
		p.pos++
		return step{kind: stepRef, n: number(&p.out.names, t.text)}
	}
	p.syntax()
	return step{}
}

// pathIndex reads the index of a list element and the bracket behind it.
func (p *parser) pathIndex() step {
	t := p.peek()
	n, err := strconv.ParseInt(t.text, 10, 32)
	if t.kind != tokenNumber || err != nil {
		p.syntax()
		return step{}
	}
	p.pos++
	p.expect("]")
	return step{kind: stepIndex, n: int(n)}
}

// placeholder reads a :value.
func (p *parser) placeholder() (valueOperand, bool) {
	t := p.peek()
	if t.kind != tokenValue {
		return 0, false
	}
	p.pos++
	return valueOperand(number(&p.out.values, t.text)), true
}

// number is the position of name in the list, to which it is added if new.
func number(list *[]string, name string) int {
	i := slices.Index(*list, name)
	if i < 0 {
		i = len(*list)
		*list = append(*list, name)
	}
	return i
}

// called reports whether a function's name and parenthesis are next.
func (p *parser) called() bool {
	next := p.tokens[min(p.pos+1, len(p.tokens)-1)]
	return p.peek().kind == tokenIdent && next.kind == tokenSymbol && next.text == "(" && !p.atOperator()
}

// atOperator reports whether a word is next that is an operator of conditions:
// they cannot be names there, not even with a complaint about reserved words.
func (p *parser) atOperator() bool {
	if p.out.kind == updateExpression || p.out.kind == projectionExpression {
		return false
	}
	return slices.ContainsFunc([]string{"AND", "OR", "NOT", "IN", "BETWEEN"}, p.atKeyword)
}
