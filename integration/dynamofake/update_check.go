package dynamofake

// wireKinds are the names that messages about ADD and DELETE use.
var wireKinds = map[kind]string{
	kindS: "STRING", kindN: "NUMBER", kindB: "BINARY", kindNULL: "NULL", kindBOOL: "BOOLEAN", kindL: "LIST", kindM: "MAP",
}

// check tells what is wrong with an update once its placeholders are known.
func (u *update) check(sc *scope) string {
	for _, a := range u.adds {
		if k := sc.values[a.value].kind; k != kindN && !k.isSet() {
			return "Incorrect operand type for operator or function; operator: ADD, operand type: " + wireKinds[k]
		}
	}
	for _, d := range u.deletes {
		if k := sc.values[d.value].kind; !k.isSet() {
			return "Incorrect operand type for operator or function; operator: DELETE, operand type: " + wireKinds[k]
		}
	}
	for _, s := range u.sets {
		if message := s.source.check(sc); message != "" {
			return message
		}
	}
	return ""
}

func (path) check(*scope) string         { return "" }
func (valueOperand) check(*scope) string { return "" }

func (a arithmetic) check(sc *scope) string {
	return checkSources(sc, a.op, kindN, a.left, a.right)
}

func (f listAppend) check(sc *scope) string {
	return checkSources(sc, "list_append", kindL, f.head, f.tail)
}

func (f ifNotExists) check(sc *scope) string {
	if _, ok := f.path.(path); !ok {
		return "Operator or function requires a document path; operator or function: if_not_exists"
	}
	return f.otherwise.check(sc)
}

// checkSources refuses a :value of another kind than the operator takes.
func checkSources(sc *scope, op string, want kind, sources ...source) string {
	for _, s := range sources {
		if message := s.check(sc); message != "" {
			return message
		}
		if v, ok := s.(valueOperand); ok && sc.values[v].kind != want {
			return operandType(op, sc.values[v].kind.String())
		}
	}
	return ""
}
