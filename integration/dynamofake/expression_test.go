package dynamofake

import (
	"fmt"
	"strings"
	"testing"
)

// document reads an item written as JSON on the wire.
func document(tb testing.TB, text string) item {
	tb.Helper()
	var it item
	complaint, err := decode([]byte(text), func(d *decoder) error { return d.item(&it) })
	if err != nil || complaint != nil {
		tb.Fatalf("%s: %v %v", text, err, complaint)
	}
	return it
}

// bindText binds an expression with #names given as "#n=name …" and :values as
// an item on the wire.
func bindText(tb testing.TB, kind expressionKind, text, names, values string) (bound, error) {
	tb.Helper()
	r := new(request)
	for pair := range strings.FieldsSeq(names) {
		placeholder, name, _ := strings.Cut(pair, "=")
		r.names = append(r.names, nameArg{placeholder: placeholder, name: name})
	}
	if values != "" {
		for _, a := range document(tb, values) {
			r.values = append(r.values, valueArg{placeholder: a.name, value: a.value})
		}
	}
	b, err := r.bind(new(expressionCache), kind, &text)
	if err == nil {
		err = r.checkUnused()
	}
	return b, err
}

const conditionItem = `{"pk":{"S":"a"},"n":{"N":"10"},"s":{"S":"hello"},"b":{"B":"AQID"},"t":{"BOOL":true},"nul":{"NULL":true},
	"l":{"L":[{"N":"1"},{"S":"x"}]},"m":{"M":{"in":{"M":{"k":{"N":"5"}}},"arr":{"L":[{"S":"a0"},{"S":"a1"}]}}},
	"ss":{"SS":["red","blue"]},"ns":{"NS":["1","2"]},"utf":{"S":"héllo😀"}}`

func TestConditions(t *testing.T) {
	it := document(t, conditionItem)
	const values = `{":one":{"N":"1"},":nine":{"N":"9"},":ten":{"N":"10.0"},":eleven":{"N":"11"},":s":{"S":"hello"},":h":{"S":"he"},":x":{"S":"x"},
		":red":{"S":"red"},":re":{"S":"re"},":b":{"B":"AQID"},":b1":{"B":"AQ=="},":S":{"S":"S"},":NULL":{"S":"NULL"},":five":{"N":"5"},":two":{"N":"2"},
		":a1":{"S":"a1"},":true":{"BOOL":true},":set":{"SS":["blue","red"]},":list":{"L":[{"N":"1.0"},{"S":"x"}]},":seven":{"N":"7"},":z":{"S":"z"}}`
	for expr, want := range map[string]bool{
		"n = :ten": true, "n <> :ten": false, "n < :eleven": true, "n <= :ten": true, "n > :nine": true, "n >= :eleven": false,
		":nine < n": true, "n = :s": false, "n <> :s": true, "n < :s": false, "s < :z": true, "t = :true": true, "b = :b": true,
		"zz = :one": false, "zz <> :one": true, "zz < :one": false, "NOT zz = :one": true, "zz <> yy": true,
		"ss = :set": true, "l = :list": true, "m.arr[1] = :a1": true, "m.arr[2] = :a1": false, "l.arr = :a1": false, "s[0] = :a1": false,
		"n = :ten OR n = :one AND n = :one": true, "(n = :ten OR n = :one) AND n = :one": false, "NOT n = :ten OR n = :ten": true,
		"NOT (n = :ten AND attribute_exists(zz))": true, "not attribute_exists(zz) and attribute_exists(pk)": true,
		"n BETWEEN :nine AND :ten": true, "n BETWEEN :one AND :nine": false, "zz BETWEEN :one AND :nine": false,
		"n BETWEEN :nine AND :ten AND s = :s": true, "n between :nine and :eleven": true,
		"n IN (:one, :ten)": true, "n IN (:one)": false, "zz IN (:one)": false, "n in (m.arr[0], :ten)": true,
		"begins_with(s, :h)": true, "begins_with(s, :x)": false, "begins_with(b, :b1)": true, "begins_with(n, :h)": false, "begins_with(zz, :h)": false,
		"contains(s, :h)": true, "contains(ss, :red)": true, "contains(ss, :re)": false, "contains(l, :x)": true, "contains(ns, :two)": true,
		"contains(b, :b1)": true, "contains(n, :one)": false, "contains(l, :one)": true, "contains(m, :x)": false,
		"attribute_type(s, :S)": true, "attribute_type(n, :S)": false, "attribute_type(nul, :NULL)": true, "attribute_type(zz, :S)": false,
		"attribute_exists(m.arr[0])": true, "attribute_not_exists(m.arr[5])": true, "attribute_exists(nul)": true,
		"size(s) = :five": true, "size(l) = :two": true, "size(ss) = :two": true, "size(m) < :five": true, "size(b) > :two": true,
		"size(n) = :two": false, "size(zz) = :two": false, "size(utf) = :seven": true, "size(m.arr) IN (:two)": true, ":two = size(l)": true,
		"(n) = (:ten)": true, "((n = :ten) AND (s = :s))": true, "(n = :ten) AND (NOT (s = :x))": true,
	} {
		used := map[string]bool{}
		for _, tok := range mustLex(t, expr) {
			used[tok.text] = tok.kind == tokenValue
		}
		var given strings.Builder
		for _, a := range document(t, values) {
			if used[a.name] {
				var w writer
				w.value(&a.value)
				given.WriteString(`,"` + a.name + `":` + string(w.out))
			}
		}
		b, err := bindText(t, conditionExpression, expr, "", strings.Replace("{"+given.String()+"}", ",", "", 1))
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if got := b.holds(it); got != want {
			t.Errorf("%s: got %v, want %v", expr, got, want)
		}
	}
}

func mustLex(tb testing.TB, text string) []token {
	tb.Helper()
	tokens, message := lex(text)
	if message != "" {
		tb.Fatal(message)
	}
	return tokens
}

// TestExpressionsRefused has the service's messages where they are documented
// or were observed.
func TestExpressionsRefused(t *testing.T) {
	for _, c := range []struct {
		kind                      expressionKind
		text, names, values, want string
	}{
		{conditionExpression, "", "", "", "Invalid ConditionExpression: The expression can not be empty;"},
		{conditionExpression, "attribute_exists(a) AND", "", "", `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "AND"`},
		{conditionExpression, "a = ", "", "", `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="`},
		{conditionExpression, "a", "", "", `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "a"`},
		{conditionExpression, "a ? b", "", "", `Invalid ConditionExpression: Syntax error; token: "?", near: "a ?"`},
		{conditionExpression, "(a = b", "", "", `Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "b"`},
		{conditionExpression, "a = b)", "", "", `Invalid ConditionExpression: Syntax error; token: ")", near: "b)"`},
		{conditionExpression, "a[x] = b", "", "", `Invalid ConditionExpression: Syntax error; token: "x", near: "[x]"`},
		{conditionExpression, "a[99999999999] = b", "", "", `Invalid ConditionExpression: Syntax error; token: "99999999999", near: "[99999999999]"`},
		{conditionExpression, "((a = b))", "", "", "Invalid ConditionExpression: The expression has redundant parentheses;"},
		{conditionExpression, "attribute_missing(a)", "", "", "Invalid ConditionExpression: Invalid function name; function: attribute_missing"},
		{conditionExpression, "attribute_exists(a, b)", "", "", "Invalid ConditionExpression: Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2"},
		{conditionExpression, "size(a)", "", "", "Invalid ConditionExpression: The function is not allowed to be used this way in an expression; function: size"},
		{conditionExpression, "attribute_exists(a) = b", "", "", "Invalid ConditionExpression: The function is not allowed to be used this way in an expression; function: attribute_exists"},
		{conditionExpression, "b = contains(a, c)", "", "", "Invalid ConditionExpression: The function is not allowed to be used this way in an expression; function: contains"},
		{conditionExpression, "status = b", "", "", "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: status"},
		{conditionExpression, "IN (b, c)", "", "", `Invalid ConditionExpression: Syntax error; token: "IN", near: "IN ("`},
		{conditionExpression, "a = b.or", "", "", `Invalid ConditionExpression: Syntax error; token: "or", near: ".or"`},
		{conditionExpression, "m.Count = b", "", "", "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: Count"},
		{conditionExpression, "#a = b", "", "", "Invalid ConditionExpression: An expression attribute name used in the document path is not defined; attribute name: #a"},
		{conditionExpression, "a = :b", "", "", "Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :b"},
		{conditionExpression, "a = b", "#n=x", "", "Value provided in ExpressionAttributeNames unused in expressions: keys: {#n}"},
		{conditionExpression, "a = b", "", `{":v":{"N":"1"}}`, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"},
		{conditionExpression, "a = a", "", "", "Invalid ConditionExpression: The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]"},
		{conditionExpression, "a < :v", "", `{":v":{"BOOL":true}}`, "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
		{conditionExpression, "begins_with(a, :v)", "", `{":v":{"N":"1"}}`, "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
		{conditionExpression, "attribute_type(a, :v)", "", `{":v":{"S":"X"}}`, "Invalid ConditionExpression: Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
		{conditionExpression, "attribute_exists(:v)", "", `{":v":{"S":"X"}}`, "Invalid ConditionExpression: Operator or function requires a document path; operator or function: attribute_exists"},
		{conditionExpression, "size(:v) = a", "", `{":v":{"N":"1"}}`, "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: size, operand type: N"},
		{conditionExpression, "a BETWEEN :v AND :w", "", `{":v":{"N":"2"},":w":{"N":"1"}}`, "Invalid ConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
		{conditionExpression, "a BETWEEN :v AND :w", "", `{":v":{"N":"2"},":w":{"S":"1"}}`, "Invalid ConditionExpression: The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {S:1}"},
		{filterExpression, "a =", "", "", `Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="`},
		{projectionExpression, "a, status", "", "", "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: status"},
		{projectionExpression, "a, a.b", "", "", "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]"},
		{projectionExpression, "a.b, a[0]", "", "", "Invalid ProjectionExpression: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [0]]"},
		{updateExpression, "SET a", "", "", `Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "a"`},
		{updateExpression, "PUT a", "", "", `Invalid UpdateExpression: Syntax error; token: "PUT", near: "PUT a"`},
		{updateExpression, "SET a = b SET c = d", "", "", `Invalid UpdateExpression: The "SET" section can only be used once in an update expression;`},
		{updateExpression, "SET ttl = b", "", "", "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: ttl"},
		{updateExpression, "SET a = b, a = c", "", "", "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]"},
		{updateExpression, "SET a = foo(b, c)", "", "", "Invalid UpdateExpression: Invalid function name; function: foo"},
		{updateExpression, "SET a = list_append(b)", "", "", "Invalid UpdateExpression: Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1"},
		{updateExpression, "ADD a :v", "", `{":v":{"S":"x"}}`, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: STRING"},
		{updateExpression, "DELETE a :v", "", `{":v":{"N":"1"}}`, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER"},
		{updateExpression, "SET a = b + :v", "", `{":v":{"S":"1"}}`, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: +, operand type: S"},
		{updateExpression, "SET a = list_append(b, :v)", "", `{":v":{"S":"1"}}`, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: list_append, operand type: S"},
		{updateExpression, "SET a = if_not_exists(:v, b)", "", `{":v":{"S":"1"}}`, "Invalid UpdateExpression: Operator or function requires a document path; operator or function: if_not_exists"},
		{updateExpression, "ADD a b", "", "", `Invalid UpdateExpression: Syntax error; token: "b", near: "a b"`},
	} {
		_, err := bindText(t, c.kind, c.text, c.names, c.values)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestExpressionLimits(t *testing.T) {
	for name, text := range map[string]string{
		"4 KB":          strings.Repeat("a", maxExpressionBytes+1),
		"300 operators": strings.Repeat("NOT ", maxOperators+1) + "a = b",
		"depth 32":      "a" + strings.Repeat("[0]", maxPathDepth) + " = b",
		"100 operands":  "a IN (b" + strings.Repeat(", c", maxInOperands) + ")",
	} {
		if _, err := parseExpression(conditionExpression, text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := parseExpression(conditionExpression, strings.Repeat("NOT ", maxOperators-1)+"a = b"); err != nil {
		t.Errorf("300 operators: %v", err)
	}
}

func TestExpressionCacheIsBounded(t *testing.T) {
	var c expressionCache
	for i := range maxCached + 10 {
		if _, err := c.parse(conditionExpression, fmt.Sprintf("attribute_exists(a%d)", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.parsed) > maxCached {
		t.Errorf("%d expressions kept", len(c.parsed))
	}
	a, _ := c.parse(conditionExpression, "attribute_exists(z)")
	b, _ := c.parse(conditionExpression, "attribute_exists(z)")
	if a != b {
		t.Error("parsed twice")
	}
}

func TestUpdates(t *testing.T) {
	const old = `{"pk":{"S":"a"},"n":{"N":"10"},"s":{"S":"x"},"l":{"L":[{"S":"0"},{"S":"1"},{"S":"2"},{"S":"3"}]},"m":{"M":{"k":{"N":"1"},"l":{"L":[{"N":"1"}]}}},"ss":{"SS":["a","b"]}}`
	for _, c := range []struct{ text, names, values, want string }{
		{"SET v = :v", "", `{":v":{"N":"1"}}`, `"v":{"N":"1"}`},
		{"SET n = n + :v, w = n - :v", "", `{":v":{"N":"3"}}`, `"n":{"N":"13"},"w":{"N":"7"}`},
		{"SET n = :v + (n)", "", `{":v":{"N":"3"}}`, `"n":{"N":"13"}`},
		{"SET s = n, n = s", "", ``, `"s":{"N":"10"},"n":{"S":"x"}`},
		{"SET n = if_not_exists(n, :v), w = if_not_exists(w, :v)", "", `{":v":{"N":"3"}}`, `"w":{"N":"3"}`},
		{"SET w = if_not_exists(w, :v) + :v", "", `{":v":{"N":"3"}}`, `"w":{"N":"6"}`},
		{"SET l = list_append(l, :v)", "", `{":v":{"L":[{"N":"9"}]}}`, `"l":{"L":[{"S":"0"},{"S":"1"},{"S":"2"},{"S":"3"},{"N":"9"}]}`},
		{"SET l = list_append(:v, l)", "", `{":v":{"L":[{"N":"9"}]}}`, `"l":{"L":[{"N":"9"},{"S":"0"},{"S":"1"},{"S":"2"},{"S":"3"}]}`},
		{"SET l[1] = :v, l[9] = :w, l[7] = :v", "", `{":v":{"N":"9"},":w":{"N":"8"}}`, `"l":{"L":[{"S":"0"},{"N":"9"},{"S":"2"},{"S":"3"},{"N":"9"},{"N":"8"}]}`},
		{"REMOVE l[0], l[2]", "", ``, `"l":{"L":[{"S":"1"},{"S":"3"}]}`},
		{"REMOVE l[9], zz", "", ``, ``},
		{"SET l[3] = :v REMOVE l[0]", "", `{":v":{"N":"9"}}`, `"l":{"L":[{"S":"1"},{"S":"2"},{"N":"9"}]}`},
		{"SET m.#new = :v REMOVE m.k", "#new=x.y", `{":v":{"N":"9"}}`, `"m":{"M":{"x.y":{"N":"9"},"l":{"L":[{"N":"1"}]}}}`},
		{"SET m.l[0] = :v, m.l[5] = :v", "", `{":v":{"N":"9"}}`, `"m":{"M":{"k":{"N":"1"},"l":{"L":[{"N":"9"},{"N":"9"}]}}}`},
		{"ADD n :v, w :v, m.k :v", "", `{":v":{"N":"2"}}`, `"n":{"N":"12"},"w":{"N":"2"},"m":{"M":{"k":{"N":"3"},"l":{"L":[{"N":"1"}]}}}`},
		{"ADD ss :v, tt :v", "", `{":v":{"SS":["b","c"]}}`, `"ss":{"SS":["a","b","c"]},"tt":{"SS":["b","c"]}`},
		{"DELETE ss :v, tt :v", "", `{":v":{"SS":["b","c"]}}`, `"ss":{"SS":["a"]}`},
		{"DELETE ss :v", "", `{":v":{"SS":["a","b"]}}`, `-ss`},
		{"set n = :v remove s add w :v delete ss :d", "", `{":v":{"N":"2"},":d":{"SS":["a"]}}`, `"n":{"N":"2"},"w":{"N":"2"},"ss":{"SS":["b"]},-s`},
	} {
		b, err := bindText(t, updateExpression, c.text, c.names, c.values)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		before := document(t, old)
		got, err := b.update.apply(&b.scope, before)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if !before.equal(document(t, old)) {
			t.Errorf("%s: changed the item it began with", c.text)
		}
		if want := expected(t, old, c.want); !got.equal(want) {
			t.Errorf("%s:\n got %s\nwant %s", c.text, wire(got), wire(want))
		}
	}
}

// expected is the item old with changes: members to set, and -names to remove.
func expected(tb testing.TB, old, changes string) item {
	tb.Helper()
	it := document(tb, old)
	set, remove, _ := strings.Cut(changes, "-")
	for _, a := range document(tb, "{"+strings.TrimSuffix(set, ",")+"}") {
		it = it.with(a.name, a.value)
	}
	return it.without(remove)
}

// wire is an item as JSON.
func wire(it item) string {
	var w writer
	w.item(it)
	return string(w.out)
}

func TestUpdatesRefused(t *testing.T) {
	const old = `{"pk":{"S":"a"},"n":{"N":"10"},"s":{"S":"x"},"l":{"L":[{"S":"0"}]},"m":{"M":{}},"ss":{"SS":["a"]},"big":{"N":"9e125"}}`
	for _, c := range []struct {
		text, values string
		want         error
	}{
		{"SET a = zz", ``, errNoOperand},
		{"SET a = zz + :v", `{":v":{"N":"1"}}`, errNoOperand},
		{"SET a = s + :v", `{":v":{"N":"1"}}`, errOperandType},
		{"SET a = list_append(s, :v)", `{":v":{"L":[]}}`, errOperandType},
		{"SET zz.a = :v", `{":v":{"N":"1"}}`, errUpdatePath},
		{"SET s.a = :v", `{":v":{"N":"1"}}`, errUpdatePath},
		{"SET m[0] = :v", `{":v":{"N":"1"}}`, errUpdatePath},
		{"SET l[5].a = :v", `{":v":{"N":"1"}}`, errUpdatePath},
		{"REMOVE zz.a", ``, errUpdatePath},
		{"REMOVE s[0]", ``, errUpdatePath},
		{"ADD s :v", `{":v":{"N":"1"}}`, errOperandType},
		{"ADD ss :v", `{":v":{"NS":["1"]}}`, errOperandType},
		{"DELETE n :v", `{":v":{"NS":["1"]}}`, errOperandType},
		{"DELETE zz.a :v", `{":v":{"NS":["1"]}}`, errUpdatePath},
		{"ADD big :v", `{":v":{"N":"9e125"}}`, errOverflow},
		{"ADD big :v", `{":v":{"N":"1"}}`, errPrecision},
	} {
		b, err := bindText(t, updateExpression, c.text, "", c.values)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got, err := b.update.apply(&b.scope, document(t, old)); err != c.want {
			t.Errorf("%s: got %s, %v; want %v", c.text, wire(got), err, c.want)
		}
	}
}

func TestProjections(t *testing.T) {
	it := document(t, conditionItem)
	for _, c := range []struct{ text, names, want string }{
		{"n", "", `{"n":{"N":"10"}}`},
		{"n, zz, s", "", `{"n":{"N":"10"},"s":{"S":"hello"}}`},
		{"l[1]", "", `{"l":{"L":[{"S":"x"}]}}`},
		{"l[1], l[0]", "", `{"l":{"L":[{"N":"1"},{"S":"x"}]}}`},
		{"l[7], n[0], s.a", "", `{}`},
		{"m.#in.k, m.arr[1]", "#in=in", `{"m":{"M":{"arr":{"L":[{"S":"a1"}]},"in":{"M":{"k":{"N":"5"}}}}}}`},
		{"m.zz", "", `{}`},
	} {
		b, err := bindText(t, projectionExpression, c.text, c.names, "")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := wire(project(it, b.paths, &b.scope)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}
