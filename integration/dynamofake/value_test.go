package dynamofake

import (
	"slices"
	"strings"
	"testing"
)

// TestItemSize has the documented sizes ("DynamoDB item sizes and formats").
func TestItemSize(t *testing.T) {
	for text, want := range map[string]int{
		`{}`:                              0,
		`{"a":{"S":""}}`:                  1,
		`{"é":{"S":"é"}}`:                 4,
		`{"a":{"B":"AQID"}}`:              4,
		`{"a":{"BOOL":true}}`:             2,
		`{"a":{"NULL":true}}`:             2,
		`{"a":{"N":"1234"}}`:              4,
		`{"a":{"L":[]}}`:                  4,
		`{"a":{"M":{}}}`:                  4,
		`{"a":{"L":[{"S":"xy"}]}}`:        7,
		`{"a":{"M":{"k":{"S":"xy"}}}}`:    8,
		`{"a":{"SS":["x","yz"]}}`:         4,
		`{"a":{"NS":["1","12"]}}`:         5,
		`{"a":{"S":"x"},"b":{"S":"y"}}`:   4,
		`{"a":{"L":[{"L":[{"N":"0"}]}]}}`: 10,
	} {
		if got := document(t, text).bytes(); got != want {
			t.Errorf("%s: %d bytes, want %d", text, got, want)
		}
	}
}

func TestItemIsCopiedOnWrite(t *testing.T) {
	const text = `{"b":{"N":"1"},"d":{"N":"2"}}`
	it, v := document(t, text), value{kind: kindS, text: "x"}
	for name, c := range map[string]struct {
		got  item
		want string
	}{
		"first":     {it.with("a", v), `{"a":{"S":"x"},"b":{"N":"1"},"d":{"N":"2"}}`},
		"between":   {it.with("c", v), `{"b":{"N":"1"},"c":{"S":"x"},"d":{"N":"2"}}`},
		"last":      {it.with("e", v), `{"b":{"N":"1"},"d":{"N":"2"},"e":{"S":"x"}}`},
		"replaced":  {it.with("d", v), `{"b":{"N":"1"},"d":{"S":"x"}}`},
		"removed":   {it.without("b"), `{"d":{"N":"2"}}`},
		"not there": {it.without("c"), text},
	} {
		equal(t, name, wire(c.got), c.want)
	}
	equal(t, "the first item", wire(it), text)
}

// Of two members with one name the later one counts.
func TestRepeatedMember(t *testing.T) {
	equal(t, "item", wire(document(t, `{"b":{"N":"1"},"a":{"N":"2"},"b":{"N":"3"},"a":{"N":"4"}}`)), `{"a":{"N":"4"},"b":{"N":"3"}}`)
}

// TestEncodedKeys: within a partition the encoded keys are in the order of the
// sort keys, in a table as in an index; partitions do not mix.
func TestEncodedKeys(t *testing.T) {
	sorted := []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00b", "a\x01", "aa", "b", "\xff", "\xff\xff"}
	s := schema{hash: keyAttr{"pk", kindB}, sort: keyAttr{"sk", kindB}}
	x := &index{schema: s, primary: schema{hash: keyAttr{"id", kindB}}}
	for _, hash := range []string{"a", "a\x00", "\xff"} {
		var inTable, inIndex []string
		for _, text := range sorted {
			it := item{{"id", value{kind: kindB, text: "\xff" + text}}, {"pk", value{kind: kindB, text: hash}}, {"sk", value{kind: kindB, text: text}}}
			inTable, inIndex = append(inTable, s.encode(it)), append(inIndex, x.entryKey(it))
		}
		if !slices.IsSorted(inTable) || !slices.IsSorted(inIndex) {
			t.Errorf("partition %q is out of order", hash)
		}
		partition := string(appendPartition(nil, value{kind: kindB, text: hash}))
		for _, key := range append(inTable, inIndex...) {
			if !strings.HasPrefix(key, partition) || key >= successor(partition) {
				t.Errorf("%q is not in its partition", key)
			}
		}
	}
}
