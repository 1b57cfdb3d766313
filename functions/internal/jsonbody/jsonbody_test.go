package jsonbody

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// read reads an object of a string "s" and a number "n".
func read(body string) (s string, n int64, err error) {
	err = ReadObject([]byte(body), func(name string, d *jsontext.Decoder) (err error) {
		switch name {
		case "s":
			s, err = ReadString(d, name, CheckReference)
		case "n":
			n, err = ReadWhole(d, name, "pieces", 100)
		default:
			err = Unknown("A thing", name, "s and n")
		}
		return err
	})
	return s, n, err
}

func TestReadObject(t *testing.T) {
	for body, want := range map[string]string{
		` {"s":"a\u00e9","n":1e2} `:      "",
		`{}`:                             "", // what is missing is the caller's business
		`{"n":1,"s":"` + "\u00e9" + `"}`: "",
		``:                               "not complete JSON",
		`{"n":1`:                         "not valid JSON",
		`[]`:                             "must be a JSON object",
		`{"n":1,"n":1}`:                  "twice",
		`{"n":1}{}`:                      "Nothing may follow",
		`{"n":+1}`:                       "see at or after byte 5",
		"{\"s\":\"\xff\"}":               "not valid JSON in UTF-8",
		`{"n":101}`:                      "n must be a whole number of pieces, from 1 to 100.",
		`{"n":"1"}`:                      "n must be a JSON number.",
		`{"s":1}`:                        "s must be a JSON string.",
		`{"s":""}`:                       "reference must have 1 to 64 characters.",
		`{"colour":1}`:                   "A thing has no member colour. It has s and n, in lower case.",
		`{"<b>":1}`:                      "A thing has no such member.",
	} {
		_, _, err := read(body)
		if invalid := Invalid(""); (err == nil) != (want == "") || err != nil && (!errors.As(err, &invalid) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

func TestCheckSource(t *testing.T) {
	for source, want := range map[string]bool{
		"tok_ok": true, "tok__": true, "tok_" + strings.Repeat("z", 60): true,
		"": false, "ok": false, "tok_": false, "tok_OK": false, "tok_\u00e9": false, "tok_a\n": false, "tok_" + strings.Repeat("z", 61): false,
	} {
		if err := CheckSource(source); (err == nil) != want {
			t.Errorf("%q: %v", source, err)
		}
	}
}

func TestAppendMember(t *testing.T) {
	if got := string(AppendMember([]byte{'{'}, "a", "\"<\u00e9\n")); got != "{\"a\":\"\\\"<\u00e9\\n\"" {
		t.Errorf("got %s", got)
	}
}
