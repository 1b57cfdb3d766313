package idempotency

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// spellingPairs are pairs of JSON texts that mean the same, or do not.
var spellingPairs = []struct {
	name string
	a, b string
	same bool
}{
	{"members in another order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
	{"members of nested objects", `{"x":{"a":[1,{"c":3,"b":2}],"b":2},"w":0}`, `{"w":0,"x":{"b":2,"a":[1,{"b":2,"c":3}]}}`, true},
	{"order of elements", `[1,2]`, `[2,1]`, false},
	{"elements grouped otherwise", `[[1],[2]]`, `[[1,2]]`, false},
	{"elements side by side", `[1,23]`, `[12,3]`, false},
	{"an empty array inside", `[[]]`, `[]`, false},
	{"an empty object is no array", `{}`, `[]`, false},
	{"a value moved to another name", `{"a":1,"b":2}`, `{"a":2,"b":1}`, false},
	{"name and value exchanged", `{"a":"b"}`, `{"b":"a"}`, false},
	{"null is not absent", `{"a":null}`, `{}`, false},
	{"a string that looks like a number", `"1"`, `1`, false},
	{"a string that looks like a word", `"true"`, `true`, false},
	{"words", `[true,false,null]`, `[false,true,null]`, false},
	{"white space", "{ \"a\" :\t[ 1 ,\r\n2 ] }\n", `{"a":[1,2]}`, true},
	{"white space in strings", `"a b"`, `"ab"`, false},
	{"a form feed is no white space", "\f[1]", `[1]`, false},

	{"escapes", `"\u0041\/\u00e9\n"`, `"A/é\u000a"`, true},
	{"escapes in either case", `"\u00E9"`, `"\u00e9"`, true},
	{"escapes in names", `{"\u0061mount":1,"b":2}`, `{"b":2,"amount":1}`, true},
	{"surrogate pair", `"\ud83d\ude00"`, `"😀"`, true},
	{"NUL", `"a\u0000"`, `"a"`, false},
	{"NUL in names", `{"a":1,"a\u0000":2}`, `{"a\u0000":2,"a":1}`, true},
	{"quote and backslash", `"\"\\"`, `"\u0022\u005c"`, true},
	{"backslash n is no line feed", `"\\n"`, `"\n"`, false},
	{"composed letters", `"é"`, `"e\u0301"`, false},
	{"case in strings", `"A"`, `"a"`, false},
	{"case of a name", `{"Amount":1}`, `{"amount":1}`, false},
	{"a control character in a string", "\"\x01\"", `"\u0001"`, false},
	{"a control character in a longer string", "\"a\x01 and more\"", `"a\u0001 and more"`, false},
	{"DEL", "\"\x7f\"", `"\u007f"`, true},
	{"replacement character for a lone surrogate", `"\ud800"`, `"\ufffd"`, false},
	{"two lone surrogates", `"\ud800"`, `"\ud801"`, false},
	{"low surrogate first", `"\ude00\ud83d"`, `"\ufffd\ufffd"`, false},
	{"half a surrogate, then another character", `"\ud83d\u0041"`, `"\ufffdA"`, false},
	{"half a surrogate is no character of its own", `"\ud83d\u0041"`, `"\ufffd"`, false},
	{"bad UTF-8", "\"\xff\"", "\"\xfe\"", false},
	{"bad UTF-8 spelled otherwise", "[\"\xff\"]", "[ \"\xff\"]", false},
	{"overlong UTF-8", "\"\xc0\xaf\"", `"/"`, false},
	{"UTF-8 of a surrogate", "\"\xed\xa0\x80\"", "\"\ufffd\"", false},

	{"spelling of one", `[1,1.0,1e0,10e-1,0.1E+1]`, `[1,1,1,1,1]`, true},
	{"decimals", `12.50`, `12.5`, true},
	{"decimals a cent apart", `12.50`, `12.51`, false},
	{"0.1 + 0.2", `0.3`, `0.30000000000000004`, false},
	{"big integers", `9007199254740993`, `9007199254740992`, false},
	{"big integers spelled otherwise", `9007199254740993`, `9.007199254740993e15`, true},
	{"more digits than any float", `0.1000000000000000000000000000000000001`, `0.1`, false},
	{"minus zero", `-0`, `0`, true},
	{"zeros", `[0,0.0,0e5,-0.0E-3]`, `[0,0,0,0]`, true},
	{"sign", `-1`, `1`, false},
	{"beyond the greatest float", `1e400`, `1e401`, false},
	{"beyond the greatest float, spelled otherwise", `1e400`, `10E399`, true},
	{"below the least float", `1e-400`, `0`, false},
	{"hundred", `100`, `1e2`, true},
	{"digits with zeros inside", `1001`, `11`, false},
	{"exponent or element", `[1,2]`, `[1e2]`, false},
	{"greatest exponent", `1e999999999999999999`, `10e999999999999999998`, true},
	{"exponent with zeros in front", `1e0000000000000000000000002`, `100`, true},
	{"exponent of 19 digits", `1e1000000000000000000`, `10e999999999999999999`, false},
	{"plus in front", `+1`, `1`, false},
	{"zero in front", `01`, `1`, false},
	{"no digit behind the point", `1.`, `1`, false},
	{"no digit before the point", `.5`, `0.5`, false},
	{"no exponent", `1e`, `1`, false},
	{"a minus alone", `-`, `0`, false},
	{"no numbers", `NaN`, `Infinity`, false},

	{"duplicate members", `{"a":1,"a":2}`, `{"a":2}`, false},
	{"duplicate members, equal", `{"a":1,"a":1}`, `{"a":1}`, false},
	{"duplicate members in another order", `{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
	{"duplicate members apart", `{"a":1,"b":0,"a":2}`, `{"b":0,"a":1,"a":2}`, false},
	{"duplicate members by escape", `{"a":1,"\u0061":2}`, `{"\u0061":1,"a":2}`, false},
	{"case variants in another order", `{"amount":1,"Amount":2}`, `{"Amount":2,"amount":1}`, false},
	{"case variants spelled otherwise", `{"amount":1,"Amount":2}`, `{"amount":1, "Amount":2}`, false},
	{"case variants beyond ASCII", `{"k":1,"\u212a":2}`, `{"\u212a":2,"k":1}`, false},
	{"case variants beyond the first bytes", `{"requestedAt":1,"requestedat":2}`, `{"requestedat":2,"requestedAt":1}`, false},
	{"case variants on two levels", `{"a":{"A":1},"b":0}`, `{"b":0,"a":{"A":1}}`, true},
	{"long names alike", `{"requestedAt":1,"requestedBy":2}`, `{"requestedBy":2,"requestedAt":1}`, true},
	{"long names alike, beyond ASCII", `{"größenangabe":1,"größenAngaben":2}`, `{"größenAngaben":2,"größenangabe":1}`, true},
	{"long names alike but for half a character", `{"größenangabe é":1,"größenangabe è":2}`, `{"größenangabe è":2,"größenangabe é":1}`, true},

	{"nothing", ``, ` `, false},
	{"byte order mark", "\ufeff{}", `{}`, false},
	{"garbage behind", `{}x`, `{}`, false},
	{"garbage behind, spelled otherwise", `{}x`, `{} x`, false},
	{"two values", `1 2`, `1  2`, false},
	{"comma at the end", `[1,]`, `[1]`, false},
	{"comma at the end of an object", `{"a":1,}`, `{"a":1}`, false},
	{"only a comma", `[,]`, `[]`, false},
	{"no comma", `[1 2]`, `[1,2]`, false},
	{"no colon", `{"a" 1}`, `{"a":1}`, false},
	{"a name without quotes", `{a:1}`, `{"a":1}`, false},
	{"a comment", `[1/**/]`, `[1]`, false},
	{"cut off", `{"a":1`, `{"a":1}`, false},
	{"cut off in a string", `"abc`, `"abc"`, false},
	{"cut off in an escape", `"\u00`, `"\u00 `, false},
	{"cut off in a word", `tru`, `true`, false},
	{"a word run on", `[nullx]`, `[null]`, false},
	{"bad escape", `"\x41"`, `"A"`, false},
	{"brackets crossed", `[{]}`, `[{}]`, false},
	{"nested as deep as it may be", nestedArrays(128, "1"), nestedArrays(128, "1.0"), true},
	{"nested too deep", nestedArrays(129, "1"), nestedArrays(129, "1.0"), false},
	{"objects nested too deep", nestedObjects(129, "1"), nestedObjects(129, "1.0"), false},
}

func nestedArrays(depth int, inner string) string {
	return strings.Repeat("[", depth) + inner + strings.Repeat("]", depth)
}

func nestedObjects(depth int, inner string) string {
	return strings.Repeat(`{"a":`, depth) + inner + strings.Repeat("}", depth)
}

func TestMeaning(t *testing.T) {
	for _, c := range spellingPairs {
		t.Run(c.name, func(t *testing.T) {
			if same := reference([]byte(c.a), Selection{}) == reference([]byte(c.b), Selection{}); same != c.same {
				t.Errorf("the reference says %v", same)
			}
			if same := jsonForm(t, []byte(c.a), wholeBody) == jsonForm(t, []byte(c.b), wholeBody); same != c.same {
				t.Errorf("same = %v, want %v", same, c.same)
			}
		})
	}
}

// TestManyMembers sorts objects of sizes on both sides of the limits that the code has.
func TestManyMembers(t *testing.T) {
	for _, n := range []int{2, 23, 24, 25, 26, 300} {
		tree := make(map[string]any)
		for i := range n {
			tree[fmt.Sprintf("%d name with a long beginning %d", i%3, i)] = strings.Repeat("x", i)
		}
		first := jsonForm(t, respell(tree, 0), wholeBody)
		for seed := range uint64(5) {
			if jsonForm(t, respell(tree, seed), wholeBody) != first {
				t.Errorf("%d members in another order differ", n)
			}
		}
		text := respell(tree, 1)
		twice := bytes.Replace(text, []byte("{"), []byte(`{"1 name with a long beginning 1":"x",`), 1)
		if got := jsonForm(t, twice, wholeBody); got[0] != 'B' {
			t.Errorf("%d members and one of them twice were read by meaning", n)
		}
	}
}

// TestLongForms compares texts whose arrays and objects are replaced by hashes.
func TestLongForms(t *testing.T) {
	long := strings.Repeat("x", maxForm)
	a := `{"b":["` + long + `",{"d":1,"c":"` + long + `"}],"a":1}`
	for _, c := range []struct {
		name, b string
		same    bool
	}{
		{"another order", `{"a":1.0,"b":["` + long + `",{"c":"` + long + `","d":1}]}`, true},
		{"a change deep inside", `{"a":1.0,"b":["` + long + `",{"c":"` + long + `","d":2}]}`, false},
		{"a longer string", `{"b":["` + long + `",{"d":1,"c":"` + long + `y"}],"a":1}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if same := jsonForm(t, []byte(a), wholeBody) == jsonForm(t, []byte(c.b), wholeBody); same != c.same {
				t.Errorf("same = %v, want %v", same, c.same)
			}
		})
	}
	if got := jsonForm(t, []byte(a), wholeBody); len(got) > 64 {
		t.Errorf("the form of a long text has %d bytes", len(got))
	}
}

func TestTextBeyondTheLimitIsBytes(t *testing.T) {
	text := append([]byte(`"`), bytes.Repeat([]byte("x"), maxText-2)...)
	if got := jsonForm(t, append(text, '"'), wholeBody); got[0] != 'J' {
		t.Error("a text of the greatest length is not read by meaning")
	}
	if got := jsonForm(t, append(text, 'x', '"'), wholeBody); got[0] != 'B' {
		t.Error("a text over the greatest length is read by meaning")
	}
}

// TestCanonicalizerKeepsNothing uses one canonicalizer for texts that fail half way, and others.
func TestCanonicalizerKeepsNothing(t *testing.T) {
	var c canonicalizer
	text := []byte(`{"b":{"d":1,"c":2},"a":"é"}`)
	want := jsonForm(t, text, wholeBody)
	for _, before := range []string{`{"x":1,"y":{"z":`, `{"b":1,"a":{"a":1,"a":2}}`, `{"z":"` + strings.Repeat("z", 999) + `","a":1}`} {
		c.json([]byte(before), selector{})
		c.out = c.out[:0]
		c.body(media{kind: mediaJSON}, wholeBody, text)
		if string(c.out) != want {
			t.Errorf("after %q: %q, want %q", before, c.out, want)
		}
	}
}
