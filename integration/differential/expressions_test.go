package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// expressions makes the expressions of one request, which share their placeholders.
type expressions struct {
	*generator
	names, values object
	// targets are the attributes that paths of an update or projection begin with.
	targets map[string]bool
	// plain: paths do not lead into attributes.
	plain bool
}

func (g *generator) expressions() *expressions {
	return &expressions{generator: g, names: object{}, values: object{}, targets: map[string]bool{}}
}

// addTo adds the placeholders to a request. Rarely there is one too many or too few.
func (e *expressions) addTo(body object) {
	if e.mistake(1) {
		e.values[":unused"] = e.value("", 0)
	}
	if e.mistake(1) {
		e.names["#unused"] = "x"
	}
	if len(e.names) > 0 && !e.mistake(1) {
		body["ExpressionAttributeNames"] = e.names
	}
	if len(e.values) > 0 && !e.mistake(1) {
		body["ExpressionAttributeValues"] = e.values
	}
}

// literal is a placeholder for the value.
func (e *expressions) literal(v object) string {
	name := fmt.Sprintf(":v%d", len(e.values))
	e.values[name] = v
	return name
}

// name is an attribute's name or, if it is reserved and sometimes otherwise, a placeholder for it.
func (e *expressions) name(attribute string) string {
	if attribute == "status" && !e.mistake(3) || e.chance(20) {
		placeholder := "#" + attribute
		e.names[placeholder] = attribute
		return placeholder
	}
	return attribute
}

// path is a path to something of that type, mostly; "" is any.
func (e *expressions) path(kind string) string {
	switch {
	case e.plain:
		return e.name(e.attribute(kind))
	case e.chance(12):
		return e.name("m") + "." + e.name(e.attribute(kind))
	case e.chance(6):
		return e.name("l") + one(e.generator, "[0]", "[1]", "[7]", "[0].s", "[1][0]")
	case e.mistake(3):
		return e.name(one(e.generator, attributes...).name) + one(e.generator, "[0]", ".s", "[0].n", ".l[0]", ".m.m.m")
	}
	return e.name(e.attribute(kind))
}

// target is a path of a projection, which must not overlap with the others; mostly it does not.
func (e *expressions) target() string {
	for {
		names := maps.Clone(e.names)
		path := e.path("")
		if root := rootOf(path); !e.targets[root] || e.mistake(10) {
			e.targets[root] = true
			return path
		}
		e.names = names
	}
}

// rootOf is the attribute that a path begins with.
func rootOf(path string) string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("#.[", r) })[0]
}

// attribute is the name of an attribute of that type, mostly.
func (e *expressions) attribute(kind string) string {
	if e.mistake(2) {
		return one(e.generator, "pk", "sk")
	}
	for {
		a := one(e.generator, attributes...)
		if kind == "" || a.kind == kind || e.mistake(2) {
			return a.name
		}
	}
}

// operand is what something is compared with: a path, a value or a size.
func (e *expressions) operand(kind string) string {
	switch {
	case e.paths && kind == "N" && e.chance(15):
		return e.size()
	case e.paths && e.chance(50):
		return e.path(kind)
	case !e.documents:
		return e.literal(e.scalarOf(kind))
	}
	return e.literal(e.typed(kind))
}

func (e *expressions) size() string {
	return "size(" + e.path(one(e.generator, "S", "L", "M", "SS", "B")) + ")"
}

// scalarOf is mostly of that type, and always a string, number or binary.
func (e *expressions) scalarOf(kind string) object {
	if e.mistake(4) || kind != "S" && kind != "N" && kind != "B" {
		kind = one(e.generator, "S", "N", "B")
	}
	return e.value(kind, 0)
}

// condition is a condition or filter.
func (e *expressions) condition(depth int) string {
	if depth < 2 {
		switch e.IntN(8) {
		case 0:
			return e.condition(depth+1) + one(e.generator, " AND ", " and ") + e.condition(depth+1)
		case 1:
			return e.condition(depth+1) + one(e.generator, " OR ", " or ") + e.condition(depth+1)
		case 2:
			return one(e.generator, "NOT ", "not ") + e.condition(depth+1)
		case 3:
			return "(" + e.condition(depth+1) + ")"
		}
	}
	return e.predicate()
}

func (e *expressions) predicate() string {
	kind := one(e.generator, "S", "N", "B", "N", "S")
	switch e.IntN(10) {
	case 0:
		return fmt.Sprintf("%s BETWEEN %s AND %s", e.left(kind), e.operand(kind), e.operand(kind))
	case 1:
		return fmt.Sprintf("%s IN (%s, %s)", e.left(kind), e.operand(kind), e.operand(kind))
	case 2, 3, 4, 5:
		return e.function()
	case 6, 7:
		kind = one(e.generator, attributes...).kind
		return e.path(kind) + one(e.generator, " = ", "=", " <> ") + e.operand(kind)
	}
	return e.left(kind) + one(e.generator, " < ", " <= ", ">", " >= ") + e.operand(kind)
}

// left is what stands on the left of an operator.
func (e *expressions) left(kind string) string {
	if kind == "N" && e.chance(20) {
		return e.size()
	}
	return e.path(kind)
}

func (e *expressions) function() string {
	switch e.IntN(6) {
	case 0:
		return "begins_with(" + e.path("S") + ", " + e.operand("S") + ")"
	case 1:
		return "contains(" + e.path(one(e.generator, "S", "SS", "L", "")) + ", " + e.operand("S") + ")"
	case 2:
		return "attribute_type(" + e.path("") + ", " + e.literal(object{"S": one(e.generator, kinds...)}) + ")"
	case 3:
		return "attribute_exists(" + e.keyOrPath() + ")"
	case 4:
		return "attribute_not_exists(" + e.keyOrPath() + ")"
	}
	return "contains(" + e.path(one(e.generator, "NS", "BS")) + ", " + e.operand(one(e.generator, "N", "B")) + ")"
}

func (e *expressions) keyOrPath() string {
	if e.chance(50) {
		return "pk"
	}
	return e.path("")
}

// projection is a list of paths.
func (e *expressions) projection() string {
	paths := []string{e.target()}
	for range e.IntN(3) {
		paths = append(paths, e.target())
	}
	return strings.Join(paths, one(e.generator, ", ", ","))
}

// update is an update of one or two clauses. For a peer that does not look for mistakes it is one that can be done.
func (e *expressions) update() string {
	e.plain = !e.mistakes
	defer func() { e.plain = false }()
	clauses := []string{"SET", "REMOVE", "ADD", "DELETE"}
	e.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
	var out []string
	for _, clause := range clauses[:1+e.IntN(2)] {
		actions := []string{e.action(clause)}
		if e.chance(50) { // two of each clause: there are enough attributes for that
			actions = append(actions, e.action(clause))
		}
		if clause == "REMOVE" && !e.targets["l"] && e.chance(25) {
			actions = append(actions, e.elements()...)
		}
		out = append(out, one(e.generator, clause, strings.ToLower(clause))+" "+strings.Join(actions, ", "))
	}
	return strings.Join(out, " ")
}

// elements are two or three elements of the list, in any order.
func (e *expressions) elements() []string {
	e.targets["l"] = true
	all := []string{e.name("l") + "[0]", e.name("l") + "[1]", e.name("l") + "[2]"}
	e.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:2+e.IntN(2)]
}

// takes are the types that the clauses of an update take.
var takes = map[string][]string{"ADD": {"N", "SS", "NS", "BS"}, "DELETE": {"SS", "NS", "BS"}}

// action is one action of a clause.
func (e *expressions) action(clause string) string {
	var fitting []key
	for _, a := range attributes {
		if !e.targets[a.name] && (takes[clause] == nil || slices.Contains(takes[clause], a.kind)) {
			fitting = append(fitting, a)
		}
	}
	if len(fitting) == 0 || e.mistake(10) {
		fitting = attributes
	}
	a := one(e.generator, fitting...)
	e.targets[a.name] = true
	target := e.name(a.name)
	if !e.plain && e.chance(15) {
		target = e.path(a.kind)
	}
	switch clause {
	case "REMOVE":
		return target
	case "SET":
		return target + one(e.generator, " = ", "=") + e.source(a.kind)
	}
	return target + " " + e.literal(e.typed(a.kind))
}

// source is what SET assigns.
func (e *expressions) source(kind string) string {
	switch {
	case kind == "N" && e.chance(50):
		return e.part(kind) + one(e.generator, " + ", " - ", "+") + e.part(kind)
	case kind == "L" && e.chance(50):
		return "list_append(" + e.part(kind) + ", " + e.part(kind) + ")"
	}
	return e.part(kind)
}

func (e *expressions) part(kind string) string {
	switch {
	case e.chance(25):
		return "if_not_exists(" + e.path(kind) + ", " + e.literal(e.typed(kind)) + ")"
	case e.mistake(40):
		return e.path(kind)
	}
	return e.literal(e.typed(kind))
}
