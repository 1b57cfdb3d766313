package differential

import (
	"math/rand/v2"
	"strings"
)

// generator makes random calls.
type generator struct {
	*rand.Rand
	features
	// favourite is the table of most calls of a sequence, so that they meet each other's items.
	favourite *table
}

// table is the table of one call, or of a part of it.
func (g *generator) table() *table {
	if g.chance(70) {
		return g.favourite
	}
	return &tables[g.IntN(len(tables))]
}

// chance is true that often in a hundred times.
func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// mistake is true that often in a hundred times, but never for a peer that does not look for mistakes.
func (g *generator) mistake(percent int) bool { return g.mistakes && g.chance(percent) }

// one is one of the choices.
func one[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }

// attributes are the names that items use, with the type they mostly have; x has any. status is a reserved word. s, g
// and n are keys of indexes.
var attributes = []key{
	{"s", "S"}, {"g", "S"}, {"status", "S"}, {"n", "N"}, {"b", "B"}, {"t", "BOOL"}, {"u", "NULL"},
	{"ss", "SS"}, {"ns", "NS"}, {"bs", "BS"}, {"l", "L"}, {"m", "M"}, {"x", ""},
}

var kinds = []string{"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"}

// The texts of scalars: equal ones in several spellings, neighbours, and the limits.
var (
	texts   = []string{"a", "b", "ab", "abc", "1", "é", "z\u0000"}
	numbers = []string{
		"0", "-0", "1", "2", "-1", "1.0", "01", "1e0", "10E-1", "0.5", ".5", "-.5", "100", "1e2", "1E+2",
		"9.9999999999999999999999999999999999999E+125", "-9.9999999999999999999999999999999999999E+125", "1E-130", "-1E-130",
		"12345678901234567890123456789012345678", "0.00000000000000000000000000000000000001", "1230000000000000000000000000000000000000000",
	}
	// plainNumbers are in the service's own spelling, and so are their sums.
	plainNumbers = []string{"0", "1", "2", "-1", "5", "100", "12345678901234567890", "-17"}
	// setNumbers are different numbers, for sets.
	setNumbers = []string{"0", "1.0", "2", "-1", ".5", "1e2", "1E-130"}
	noNumbers  = []string{
		"", "abc", "1E126", "-1E126", "1E-131", "123456789012345678901234567890123456789", "1,5", "NaN", "1e", "0x10", "1_000", "--1",
	}
	binaries = []string{"AA==", "AAE=", "AQ==", "/w==", "AAEC"}
)

// value is a random attribute value of that type, of any type for "".
func (g *generator) value(kind string, depth int) object {
	switch kind {
	case "":
		return g.value(one(g, kinds...), depth)
	case "S":
		return object{"S": g.scalar("S")}
	case "N":
		return object{"N": g.scalar("N")}
	case "B":
		return object{"B": g.scalar("B")}
	case "BOOL":
		return object{"BOOL": g.chance(50)}
	case "NULL":
		return object{"NULL": true}
	case "SS", "NS", "BS":
		return object{kind: g.set(kind[:1])}
	case "L":
		l := list{}
		for range g.size(depth) + 1 - min(depth, 1) {
			l = append(l, g.value("", depth+1))
		}
		return object{"L": l}
	}
	m := object{}
	for range g.size(depth) {
		a := one(g, attributes...)
		m[a.name] = g.value(a.kind, depth+1)
	}
	return object{"M": m}
}

// size is how many elements a list or map has.
func (g *generator) size(depth int) int {
	if depth > 2 {
		return 0
	}
	return g.IntN(3)
}

// scalar is the text of a string, number or binary. Few are wrong or empty.
func (g *generator) scalar(kind string) string {
	switch {
	case kind == "N" && !g.spellings:
		return one(g, plainNumbers...)
	case kind == "N" && g.mistake(2):
		return one(g, noNumbers...)
	case kind == "N" && g.chance(70):
		return one(g, numbers[:8]...)
	case kind == "N":
		return one(g, numbers...)
	case g.chance(5):
		return ""
	case kind == "B":
		return one(g, binaries...)
	case g.chance(1):
		return strings.Repeat("long", 300)
	}
	return one(g, texts...)
}

// set is up to three members; equal ones are rarely left in.
func (g *generator) set(kind string) list {
	seen := map[string]bool{}
	l := list{}
	for range 1 + g.IntN(3) {
		text := g.scalar(kind)
		if kind == "N" && g.spellings && !g.mistake(5) {
			text = one(g, setNumbers...)
		}
		if !seen[text] || text != "" && g.mistake(3) {
			l = append(l, text)
		}
		seen[text] = true
	}
	return l
}

// keyValues are few, so that calls meet.
var keyValues = map[string][]string{
	"S": {"a", "b", "ab"},
	"N": {"0", "1", "1.0", "-1.5", "20"},
	"B": {"AA==", "AAE=", "/w=="},
}

// keyValue is a value for a key attribute; rarely one that cannot be.
func (g *generator) keyValue(kind string) object {
	switch {
	case g.mistake(1):
		return g.value("", 2)
	case kind != "N" && g.mistake(1):
		return object{kind: ""}
	case kind == "N" && !g.spellings:
		return object{kind: one(g, plainNumbers[:4]...)}
	case g.chance(50): // most items are in one partition
		return object{kind: keyValues[kind][0]}
	}
	return object{kind: one(g, keyValues[kind]...)}
}

// keyOf is a key of the table, with rare mistakes.
func (g *generator) keyOf(keys []key) object {
	out := object{}
	for _, k := range keys {
		if !g.mistake(1) {
			out[k.name] = g.keyValue(k.kind)
		}
	}
	if g.mistake(1) {
		out["s"] = g.value("S", 0)
	}
	return out
}

// item is a key with some more attributes.
func (g *generator) item(t *table) object {
	out := g.keyOf(t.keys())
	for _, a := range attributes {
		if g.chance(40) {
			out[a.name] = g.typed(a.kind)
		}
	}
	return out
}

// typed is a value of that type, mostly.
func (g *generator) typed(kind string) object {
	if g.mistake(4) {
		kind = ""
	}
	return g.value(kind, 0)
}
