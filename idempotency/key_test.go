package idempotency

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestParseKey(t *testing.T) {
	long := strings.Repeat("k", 255)
	for _, c := range []struct {
		name   string
		values []string
		key    string
		err    error
	}{
		{"bare", []string{"8e03978e-40d5"}, "8e03978e-40d5", nil},
		{"F50 quoted", []string{`"8e03978e-40d5"`}, "8e03978e-40d5", nil},
		{"quoted with escapes", []string{`"a\"b\\c"`}, `a"b\c`, nil},
		{"quoted with space and comma", []string{`"a, b"`}, "a, b", nil},
		{"parameters ignored", []string{`"a"; v=1`}, "a", nil},
		{"white space around", []string{"  a\t"}, "a", nil},
		{"one character", []string{"a"}, "a", nil},
		{"every bare character", []string{"!#$%&'()*+-./09:<=>?@AZ[]^_`az{|}~"}, "!#$%&'()*+-./09:<=>?@AZ[]^_`az{|}~", nil},
		{"F49 longest", []string{long}, long, nil},
		{"F49 longest quoted", []string{`"` + long + `"`}, long, nil},
		{"F49 missing", nil, "", errKeyMissing},
		{"F49 empty", []string{""}, "", errKeyLength},
		{"F49 empty quoted", []string{`""`}, "", errKeyLength},
		{"F49 too long", []string{long + "k"}, "", errKeyLength},
		{"F49 too long quoted", []string{`"` + long + `k"`}, "", errKeyLength},
		{"F49 two headers", []string{"a", "b"}, "", errKeyTwice},
		{"F49 two equal headers", []string{"a", "a"}, "", errKeyTwice},
		{"F49 joined", []string{"a,b"}, "", errKeyBare},
		{"F49 joined with space", []string{"a, b"}, "", errKeyBare},
		{"F49 joined, quoted", []string{`"a", "b"`}, "", errKeyTwice},
		{"F49 joined, quoted, as by an HTTP API", []string{`"a","b"`}, "", errKeyTwice},
		{"F49 joined, quoted and bare", []string{`"a",8e03978e-40d5`}, "", errKeyTwice},
		{"F49 joined, quoted and nothing", []string{`"a" ,`}, "", errKeyTwice},
		{"F49 joined, quoted with a comma inside", []string{`"a\",", "b"`}, "", errKeyTwice},
		{"F49 joined, bare and quoted", []string{`a,"b"`}, "", errKeyBare},
		{"F49 joined, with parameters", []string{`"a";v=1, "b"`}, "", errKeyParameters},
		{"no name of a parameter", []string{`"a";`}, "", errKeyParameters},
		{"parameter in upper case", []string{`"a" ;V=1`}, "", errKeyParameters},
		{"parameter with a comma inside", []string{`"a";v="1,2`}, "", errKeyParameters},
		{"unterminated", []string{`"abc`}, "", errKeyQuoted},
		{"unterminated by an escape", []string{`"abc\"`}, "", errKeyQuoted},
		{"a quote and a backslash", []string{`"\`}, "", errKeyQuoted},
		{"bad escape, then a comma", []string{`"a\n","b"`}, "", errKeyQuoted},
		{"text after the quote", []string{`"abc"d`}, "", errKeyBehind},
		{"a space and text after the quote", []string{`"abc" "d"`}, "", errKeyBehind},
		{"bad escape", []string{`"a\n"`}, "", errKeyQuoted},
		{"space", []string{"a b"}, "", errKeyBare},
		{"semicolon", []string{"a;b"}, "", errKeyBare},
		{"backslash", []string{`a\b`}, "", errKeyBare},
		{"quote inside", []string{`a"b`}, "", errKeyBare},
		{"F51 look-alike", []string{"kеy"}, "", errKeyBare}, // a Cyrillic e
		{"F51 look-alike quoted", []string{`"kеy"`}, "", errKeyQuoted},
		{"F51 line feed", []string{"a\nb"}, "", errKeyBare},
		{"F51 NUL", []string{"a\x00"}, "", errKeyBare},
		{"delete", []string{"a\x7f"}, "", errKeyBare},
		{"bad UTF-8", []string{"a\xff"}, "", errKeyBare},
	} {
		key, err := ParseKey(http.Header{KeyHeader: c.values})
		if key != c.key || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, key, err, c.key, c.err)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"a", `"a"`, `"a\"b"; v=1`, `"a", "b"`, "a,b", `"`, "", " ", "\xff", `"\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, err := ParseKey(http.Header{KeyHeader: {value}})
		if err != nil {
			if key != "" {
				t.Fatalf("%q: a key with an error", value)
			}
			if len(value) > 12 && strings.Contains(err.Error(), value) {
				t.Fatalf("%q: the error repeats the key", value)
			}
			return
		}
		if len(key) < 1 || len(key) > maxKey || strings.IndexFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Fatalf("%q: accepted as %q", value, key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := ParseKey(http.Header{KeyHeader: {quoted}}); again != key || err != nil {
			t.Fatalf("%q: quoted as %s it is %q, %v", value, quoted, again, err)
		}
	})
}
