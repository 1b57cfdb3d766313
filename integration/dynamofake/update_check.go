package dynamofake

import "slices"

// wireKinds are the names that messages about ADD and DELETE use.
var wireKinds = map[kind]string{
	kindS: "STRING", kindN: "NUMBER", kindB: "BINARY", kindNULL: "NULL", kindBOOL: "BOOLEAN", kindL: "LIST", kindM: "MAP",
}

// check tells what is wrong with an update once its placeholders are known.
func (u *update) check(sc *scope) string {
	for _, m := range u.members {
		switch k := sc.values[m.value].kind; {
		case m.remove && !k.isSet():
			return "Incorrect operand type for operator or function; operator: DELETE, operand type: " + wireKinds[k]
		case !m.remove && k != kindN && !k.isSet():
			return "Incorrect operand type for operator or function; operator: ADD, operand type: " + wireKinds[k]
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

func (path) fixed(*scope) (kind, bool)              { return 0, false }
func (v valueOperand) fixed(sc *scope) (kind, bool) { return sc.values[v].kind, true }
func (arithmetic) fixed(*scope) (kind, bool)        { return kindN, true }
func (listAppend) fixed(*scope) (kind, bool)        { return kindL, true }

func (f ifNotExists) fixed(sc *scope) (kind, bool) { return f.otherwise.fixed(sc) }

// What the service can know from the request it refuses before it looks at the
// item; for the rest see checkUpdated. In a transaction the first is an answer
// or a reason by itself, whatever the item is.

// checkIndexed refuses an update that is bound to give a key attribute of the
// index another type than the index has, or an empty value.
func (u *update) checkIndexed(x *index, sc *scope) error {
	for _, a := range x.schema.attrs() {
		if k, known := u.fixed(a.name, sc); known {
			if err := x.checkKind(a, k); err != nil {
				return err
			}
		}
		if u.empties(a.name, sc) {
			return a.emptied()
		}
	}
	return nil
}

// empties reports whether the update sets the attribute to an empty :value.
func (u *update) empties(name string, sc *scope) bool {
	return slices.ContainsFunc(u.sets, func(s setAction) bool {
		v, ok := s.source.(valueOperand)
		return ok && s.path.is(name, sc) && sc.values[v].kind.ordered() && sc.values[v].text == ""
	})
}

// fixed is the kind that the update is bound to give the attribute, if that is
// known before the item is.
func (u *update) fixed(name string, sc *scope) (k kind, known bool) {
	for _, s := range u.sets {
		if s.path.is(name, sc) {
			return s.source.fixed(sc)
		}
	}
	for _, m := range u.members {
		if m.path.is(name, sc) {
			return sc.values[m.value].kind, true
		}
	}
	return 0, false
}
