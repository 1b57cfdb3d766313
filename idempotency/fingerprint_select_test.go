package idempotency

import (
	"strings"
	"testing"
)

func including(pointers ...string) Selection { return Selection{Version: 1, Include: pointers} }
func excluding(pointers ...string) Selection { return Selection{Version: 1, Exclude: pointers} }

// selectionPairs are pairs of JSON texts that are the same by a selection, or are not.
var selectionPairs = []struct {
	name string
	s    Selection
	a, b string
	same bool
}{
	{"excluded member differs", excluding("/requestedAt"), `{"amount":1,"requestedAt":1}`, `{"requestedAt":2,"amount":1}`, true},
	{"excluded member is absent", excluding("/requestedAt"), `{"amount":1,"requestedAt":1}`, `{"amount":1}`, true},
	{"excluded member is long", excluding("/note"), `{"amount":1,"note":"` + strings.Repeat("x", maxForm) + `"}`, `{"amount":1}`, true},
	{"excluded member by escape", excluding("/requestedAt"), `{"requested\u0041t":1}`, `{}`, true},
	{"another case is another member", excluding("/requestedAt"), `{"requestedat":1}`, `{}`, false},
	{"a name that begins alike", excluding("/requestedAt"), `{"requestedAt":1,"requestedBy":2,"c":3}`, `{"requestedBy":2,"c":3,"requestedAt":4}`, true},
	{"same name further down", excluding("/requestedAt"), `{"order":{"requestedAt":1}}`, `{"order":{"requestedAt":2}}`, false},
	{"another member differs", excluding("/requestedAt"), `{"amount":1,"requestedAt":1}`, `{"amount":2,"requestedAt":1}`, false},
	{"excluded member of an object", excluding("/order/requestedAt"), `{"order":{"requestedAt":1,"a":1}}`, `{"order":{"a":1}}`, true},
	{"object on the way is absent", excluding("/order/requestedAt"), `{"order":{"requestedAt":1}}`, `{}`, false},
	{"string on the way", excluding("/order/requestedAt"), `{"order":"x"}`, `{"order":"y"}`, false},
	{"excluded of every element", excluding("/items/*/note"), `{"items":[{"a":1,"note":1},{"a":2}]}`, `{"items":[{"a":1},{"a":2,"note":3}]}`, true},
	{"number of elements", excluding("/items/*/note"), `{"items":[{"note":1},{"note":1}]}`, `{"items":[{"note":1}]}`, false},
	{"every element excluded", excluding("/items/*"), `{"items":[1,2]}`, `{"items":[3,4]}`, true},
	{"every element excluded, one more", excluding("/items/*"), `{"items":[1,2]}`, `{"items":[3,4,5]}`, false},
	{"one element excluded", excluding("/items/1"), `{"items":[1,2]}`, `{"items":[1,3]}`, true},
	{"another element", excluding("/items/1"), `{"items":[1,2]}`, `{"items":[2,2]}`, false},
	{"star is a member of an object", excluding("/items/*"), `{"items":{"*":1,"a":1}}`, `{"items":{"a":1}}`, true},
	{"star is no other member of an object", excluding("/items/*"), `{"items":{"a":1}}`, `{"items":{"a":2}}`, false},
	{"index is a member of an object", excluding("/items/0"), `{"items":{"0":1}}`, `{"items":{}}`, true},
	{"arrays of arrays", excluding("/*/*/x"), `[[{"x":1}],[{"y":1}]]`, `[[{}],[{"y":1,"x":2}]]`, true},
	{"slash and tilde in a name", excluding("/a~1b~0c"), `{"a/b~c":1}`, `{}`, true},
	{"tilde that makes no slash", excluding("/a~01"), `{"a~1":1}`, `{}`, true},
	{"empty name", excluding("/"), `{"":1}`, `{}`, true},
	{"excluded twice is still not JSON", excluding("/x"), `{"x":1,"x":2}`, `{"x":1, "x":2}`, false},
	{"excluded in two cases is still not JSON", excluding("/x"), `{"x":1,"X":2}`, `{"X":2,"x":1}`, false},
	{"excluded and invalid is still not JSON", excluding("/x"), `{"x":01}`, `{"x":02}`, false},
	{"not JSON counts whole", excluding("/x"), `x`, `y`, false},

	{"included members", including("/amount", "/currency"), `{"amount":1,"currency":"EUR","note":1}`, `{"currency":"EUR","amount":1.0}`, true},
	{"included member differs", including("/amount"), `{"amount":1}`, `{"amount":2}`, false},
	{"included member is absent", including("/amount"), `{"amount":null}`, `{}`, false},
	{"included object counts whole", including("/order"), `{"order":{"a":{"b":1}}}`, `{"order":{"a":{"b":2}}}`, false},
	{"included of every element", including("/items/*/sku"), `{"items":[{"sku":1,"x":1},{"sku":2}]}`, `{"items":[{"sku":1},{"x":3,"sku":2}]}`, true},
	{"included, elements in another order", including("/items/*/sku"), `{"items":[{"sku":1},{"sku":2}]}`, `{"items":[{"sku":2},{"sku":1}]}`, false},
	{"included, one more element", including("/items/*/sku"), `{"items":[{"sku":1}]}`, `{"items":[{"sku":1},{}]}`, false},
	{"included, an element of another kind", including("/items/*/sku"), `{"items":[1]}`, `{"items":[2]}`, false},
	{"included element", including("/items/1"), `{"items":[1,2,3]}`, `{"items":[0,2,0]}`, true},
	{"included element shifted", including("/items/1"), `{"items":[1,2,3]}`, `{"items":[2,1,3]}`, false},
	{"nothing included there is", including("/amount"), `{"a":1}`, `{"b":1}`, false},
	{"nothing included there is, spelled anew", including("/amount"), `{"a":1,"b":2}`, `{"b":2.0,"a":1}`, true},
	{"nothing included there is, but on the way", including("/order/id"), `{"order":{"a":1},"b":1}`, `{"order":{"a":1},"b":2}`, false},
	{"nothing included there is, or all of it", including("/a/b"), `{"a":{}}`, `{"a":{},"c":1}`, false},
	{"an included list without elements", including("/items/*/sku"), `{"items":[],"a":1}`, `{"items":[],"a":2}`, false},
	{"some of it there is", including("/amount", "/currency"), `{"amount":1,"a":1}`, `{"amount":1,"b":1}`, true},
	{"not an object", including("/amount"), `1`, `2`, false},

	{"included in another case", including("/amount"), `{"Amount":5}`, `{"Amount":500}`, false},
	{"included in another case, the rest differs", including("/amount"), `{"AMOUNT":5,"a":1}`, `{"AMOUNT":5.0,"b":1}`, true},
	{"included in another case than before", including("/amount"), `{"amount":5}`, `{"Amount":5}`, false},
	{"included in another case, another is there", including("/amount", "/currency"), `{"currency":"EUR","Amount":5}`, `{"currency":"EUR","Amount":500}`, false},
	{"included by a folded letter", including("/sku"), `{"\u017f\u212au":5}`, `{"\u017f\u212au":6}`, false}, // a long s and a Kelvin sign
	{"included by a long name", including("/" + strings.Repeat("long", 50)), `{"` + strings.Repeat("LONG", 50) + `":5}`, `{"` + strings.Repeat("LONG", 50) + `":6}`, false},
	{"included with dashes and underscores", including("/amountDue"), `{"amount_due":5}`, `{"amount_due":6}`, false},
	{"included without them", including("/amount_due"), `{"Amount-Due":5,"amountdue":1}`, `{"Amount-Due":5,"amountdue":2}`, false},
	{"included further down in another case", including("/order/items/*/sku"), `{"Order":{"Items":[{"SKU":1,"a":1}]}}`, `{"Order":{"Items":[{"a":2,"SKU":1}]}}`, true},
	{"included further down in another case, differs", including("/order/items/*/sku"), `{"Order":{"Items":[{"SKU":1}]}}`, `{"Order":{"Items":[{"SKU":2}]}}`, false},
	{"a pointer of another case", including("/Amount"), `{"amount":5}`, `{"amount":6}`, false},
	{"excluded from what is included in another case", Selection{Version: 1, Include: []string{"/order"}, Exclude: []string{"/order/at"}},
		`{"Order":{"at":1}}`, `{"Order":{"at":2}}`, false},
	{"excluded in the same case from it", Selection{Version: 1, Include: []string{"/order"}, Exclude: []string{"/Order/at"}},
		`{"Order":{"at":1,"a":1}}`, `{"Order":{"at":2,"a":1}}`, true},

	{"included but for", Selection{Version: 1, Include: []string{"/order", "/id"}, Exclude: []string{"/order/at"}},
		`{"id":1,"order":{"at":1,"b":1},"x":1}`, `{"order":{"b":1,"at":2},"id":1}`, true},
	{"included but for, differs", Selection{Version: 1, Include: []string{"/order"}, Exclude: []string{"/order/at"}},
		`{"order":{"b":1}}`, `{"order":{"b":2}}`, false},
	{"included but for, deep", Selection{Version: 1, Include: []string{"/o/*"}, Exclude: []string{"/o/*/a/b", "/o/*/c"}},
		`{"o":[{"a":{"b":1,"d":1},"c":1}]}`, `{"o":[{"a":{"d":1}}],"p":1}`, true},
}

func TestSelection(t *testing.T) {
	for _, c := range selectionPairs {
		t.Run(c.name, func(t *testing.T) {
			made, err := c.s.compile()
			if err != nil {
				t.Fatal(err)
			}
			if same := reference([]byte(c.a), c.s) == reference([]byte(c.b), c.s); same != c.same {
				t.Errorf("the reference says %v", same)
			}
			if same := jsonForm(t, []byte(c.a), made) == jsonForm(t, []byte(c.b), made); same != c.same {
				t.Errorf("same = %v, want %v", same, c.same)
			}
		})
	}
}

func TestSelectionOfBytes(t *testing.T) {
	f, err := newFingerprinter(Selection{Version: 1, Bytes: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stored := f.of(sending(typeJSON, `{"a":1}`)).current
	for body, want := range map[string]bool{`{"a":1}`: true, `{"a": 1}`: false, `{"a":1.0}`: false} {
		if same, _ := f.of(sending(typeJSON, body)).matches(stored); same != want {
			t.Errorf("%s: same = %v, want %v", body, same, want)
		}
	}
}

func TestSelectionRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		current Selection
		former  []Selection
		want    string // in the error
	}{
		{"no slash", excluding("requestedAt"), nil, "does not begin with a slash"},
		{"the whole body", excluding(""), nil, "whole body"},
		{"bad escape", including("/a~2"), nil, "neither ~0 nor ~1"},
		{"tilde at the end", including("/a~"), nil, "neither ~0 nor ~1"},
		{"twice", excluding("/a", "/a"), nil, "within"},
		{"one within another", excluding("/a/b", "/a"), nil, `"/a/b" is within "/a"`},
		{"included in two cases", including("/amount", "/Amount"), nil, `"/amount" is within "/Amount"`},
		{"included within another case", including("/ORDER/id", "/order"), nil, "within"},
		{"excluded whole in another case", Selection{Version: 1, Include: []string{"/a"}, Exclude: []string{"/A"}}, nil, "not within anything"},
		{"star and index, included", including("/a/*/x", "/a/0/y"), nil, "name the same element"},
		{"excluded and included", Selection{Version: 1, Include: []string{"/a"}, Exclude: []string{"/a"}}, nil, "not within anything"},
		{"excluded elsewhere", Selection{Version: 1, Include: []string{"/a"}, Exclude: []string{"/b"}}, nil, "not within anything"},
		{"star and index", excluding("/a/*/x", "/a/0/y"), nil, "name the same element"},
		{"star and index further down", excluding("/a/*/x/1", "/a/*/x/*"), nil, "name the same element"},
		{"bytes and members", Selection{Version: 1, Bytes: true, Include: []string{"/a"}}, nil, "Bytes"},
		{"no version", Selection{Exclude: []string{"/a"}}, nil, "Version from 1 to 255"},
		{"no version of bytes", Selection{Bytes: true}, nil, "Version from 1 to 255"},
		{"two of one version", excluding("/a"), []Selection{excluding("/b")}, "two selections have version 1"},
		{"a former one is wrong", Selection{}, []Selection{excluding("a")}, "selection of version 1: in Exclude"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := newFingerprinter(c.current, c.former); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}

func TestSelectionAccepted(t *testing.T) {
	for _, s := range []Selection{
		{}, {Version: 7}, {Version: 255, Bytes: true}, excluding("/a", "/ab", "/a~1b"), excluding("/a/*", "/a/01", "/a/-"),
		{Version: 1, Include: []string{"/a", "/b"}, Exclude: []string{"/b/c", "/a/c"}}, excluding("/a", "/A"),
	} {
		if _, err := newFingerprinter(s, []Selection{s, {}}); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
