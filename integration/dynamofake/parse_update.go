package dynamofake

// The grammar of updates is that of the developer guide ("Using update
// expressions in DynamoDB"); sources may also stand in parentheses and be
// operands of functions, in the service as here.

// update is a parsed UpdateExpression.
type update struct {
	sets    []setAction
	removes []path
	members []memberAction
}

type (
	// setAction is path = source of SET.
	setAction struct {
		path   path
		source source
	}
	// memberAction is path :value of ADD or, if remove is set, of DELETE.
	memberAction struct {
		remove bool
		path   path
		value  valueOperand
	}
)

// update reads SET …, REMOVE …, ADD … and DELETE …, each at most once.
func (p *parser) update() {
	u := &update{}
	p.out.update = u
	sections := []struct {
		word string
		one  func()
		used bool
	}{
		{word: "SET", one: func() { u.sets = append(u.sets, p.set()) }},
		{word: "REMOVE", one: func() { u.removes = append(u.removes, p.target()) }},
		{word: "ADD", one: func() { u.members = append(u.members, p.member(false)) }},
		{word: "DELETE", one: func() { u.members = append(u.members, p.member(true)) }},
	}
	for p.peek().kind != tokenEnd {
		found := false
		for i := range sections {
			s := &sections[i]
			if found = p.keyword(s.word); !found {
				continue
			}
			if s.used {
				p.fail(rankSection, `The "`+s.word+`" section can only be used once in an update expression;`)
			}
			s.used = true
			p.list(s.one)
			break
		}
		if !found {
			p.syntax()
		}
	}
}

// target reads a path that the update changes.
func (p *parser) target() path {
	t := p.path()
	p.operators++
	p.out.paths = append(p.out.paths, t)
	return t
}

// member reads path :value, of ADD and DELETE.
func (p *parser) member(remove bool) memberAction {
	m := memberAction{remove: remove, path: p.target()}
	v, ok := p.placeholder()
	if !ok {
		p.syntax()
	}
	m.value = v
	return m
}

// set reads path = source.
func (p *parser) set() setAction {
	s := setAction{path: p.target()}
	p.expect("=")
	s.source = p.source()
	return s
}

// source reads operand, operand + operand, or operand - operand.
func (p *parser) source() source {
	left := p.term()
	for _, op := range []string{"+", "-"} {
		if p.symbol(op) {
			p.operators++
			return arithmetic{op: op, left: left, right: p.term()}
		}
	}
	return left
}

// term reads a path, a :value, a function, or a source in parentheses.
func (p *parser) term() source {
	if p.symbol("(") {
		s := p.source()
		p.expect(")")
		return s
	}
	if p.called() {
		return p.updateFunction()
	}
	if v, ok := p.placeholder(); ok {
		return v
	}
	return p.path()
}

// updateFunction reads the call of one of the two functions that SET has.
func (p *parser) updateFunction() source {
	name := p.next().text
	p.expect("(")
	var args []source
	p.list(func() { args = append(args, p.source()) })
	p.expect(")")
	p.operators++
	switch {
	case name != "if_not_exists" && name != "list_append":
		p.fail(rankFunction, "Invalid function name; function: "+name)
	case len(args) != 2:
		p.fail(rankOperands, operandCount(name, len(args)))
	case name == "list_append":
		return listAppend{args[0], args[1]}
	default:
		return ifNotExists{args[0], args[1]}
	}
	return path{}
}
