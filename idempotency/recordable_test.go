package idempotency

import (
	"net/http"
	"strings"
	"testing"
)

// TestCheckRecordable: what a person wants recorded is recorded whole or refused.
func TestCheckRecordable(t *testing.T) {
	header := func(name, value string) *Response {
		return &Response{Status: 200, Header: http.Header{name: {"fine", value}}}
	}
	for name, tt := range map[string]struct {
		response *Response
		want     string // in the error; "": none
	}{
		"plain":                  {&Response{Status: 201, Header: http.Header{"Location": {"/x"}, "X-Empty": {""}}, Body: []byte("{}")}, ""},
		"no headers":             {&Response{Status: 599}, ""},
		"empty 204":              {&Response{Status: 204}, ""},
		"text beyond ASCII":      {header("X", "zwölf\tEuro\xff"), ""},
		"interim status":         {&Response{Status: 199}, "not 199"},
		"no status":              {&Response{}, "not 0"},
		"no HTTP status":         {&Response{Status: 600}, "not 600"},
		"204 with a body":        {&Response{Status: 204, Body: []byte("x")}, "204 has no body"},
		"304 with a body":        {&Response{Status: 304, Body: []byte("x")}, "304 has no body"},
		"space in a name":        {header("a b", "c"), `"a b" is no header's name`},
		"control in a name":      {header("a\x1b[31m", "c"), `"a\x1b[31m" is no header's name`},
		"no name":                {header("", "c"), "no header's name"},
		"name beyond ASCII":      {header("Größe", "c"), "no header's name"},
		"CR and LF, F47":         {header("X", "a\r\nb"), "header X: HTTP cannot carry"},
		"control in a value":     {header("X", "a\x1b"), "cannot carry"},
		"DEL in a value":         {header("X", "a\x7f"), "cannot carry"},
		"spaces around a value":  {header("X", " a"), "cannot carry"},
		"of the session":         {header("set-cookie", "a=b"), "Set-Cookie is never recorded"},
		"of the exchange":        {header("Content-Length", "2"), "Content-Length is never recorded"},
		"of the gateway":         {header("X-Amzn-Trace-Id", "1"), "never recorded"},
		"of the replay":          {header(ReplayHeader, "true"), "never recorded"},
		"hop by hop":             {header("Connection", "X"), "never recorded"},
		"several things at once": {&Response{Header: http.Header{"Date": {"x"}, "a b": {"c"}}}, "\n"},
	} {
		err := CheckRecordable(tt.response)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
