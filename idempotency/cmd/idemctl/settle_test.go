package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bodyFile is a file with a body.
func bodyFile(t *testing.T, body string) string {
	name := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTheQuestion: what is about to be recorded is shown before it is, and until when it will stand; what is hardly ever meant is
// warned of.
func TestTheQuestion(t *testing.T) {
	large := strings.Repeat("é", 300)
	for name, tt := range map[string]struct {
		args   []string
		body   string
		wants  []string
		unsaid []string
	}{
		"a response": {[]string{"--status", "201", "--header", "Content-Type: text/plain", "--header", "Location: /x", "--header", "location: /y"}, "0",
			[]string{"  status 201\n  Content-Type: text/plain\n  Location: /x\n  Location: /y\n  body of 1 bytes\n  | 0\n", "(--retention 24h0m0s)"}, []string{"Warning"}},
		"no body":           {[]string{"--status", "204"}, "", []string{"body of 0 bytes\n"}, []string{"Warning"}},
		"no content type":   {[]string{"--status", "200"}, "{}", []string{"Warning: the body has no Content-Type"}, nil},
		"5xx":               {[]string{"--status", "503"}, "", []string{"Warning: status 503 is not final"}, nil},
		"429":               {[]string{"--status", "429"}, "", []string{"Warning: status 429 is not final"}, nil},
		"large":             {[]string{"--status", "200"}, "x" + large, []string{"body of 601 bytes\n  | x" + large[:198] + " …\n"}, []string{large}},
		"hostile":           {[]string{"--status", "200"}, "\x1b[2J\nDo it? [y/N] y", []string{"  | \"\\x1b[2J\"\n  | Do it? [y/N] y\n"}, []string{"\x1b"}},
		"lines":             {[]string{"--status", "200"}, "{\n}\n", []string{"body of 4 bytes\n  | {\n  | }\nThat"}, nil},
		"another retention": {[]string{"--status", "200", "--retention", "1h"}, "", []string{"(--retention 1h0m0s)"}, nil},
		"rerun":             {[]string{"--rerun"}, "", []string{"will run the operation again", "Its key is kept for it until", "(--retention 24h0m0s), and is new after"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			args := append([]string{"resolve", d.orphan()}, tt.args...)
			if tt.body != "" {
				args = append(args, "--body", bodyFile(t, tt.body))
			}
			code, _, stderr := d.ctl(strings.NewReader("n\n"), args...)
			d.want(code, 1, stderr)
			for _, want := range tt.wants {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in\n%s", want, stderr)
				}
			}
			for _, text := range tt.unsaid {
				if strings.Contains(stderr, text) {
					t.Errorf("%q in\n%s", text, stderr)
				}
			}
		})
	}
}

// TestScriptsLogNoBody: without a question nobody looks at the body, and a script's log must not keep it.
func TestScriptsLogNoBody(t *testing.T) {
	d := newDesk(t)
	code, out, stderr := d.ctl(nil, "resolve", d.orphan(), "--status", "200", "--body", bodyFile(t, private), "--yes")
	d.want(code, 0, stderr)
	if strings.Contains(out+stderr, private) || !strings.Contains(stderr, "body of 12 bytes") || !strings.Contains(stderr, "Warning: the body has no Content-Type") {
		t.Errorf("%s%s", out, stderr)
	}
}

// TestUnrecordable: what would be left out or could not be sent is refused before anything is called: F46, F47.
func TestUnrecordable(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"cookie":            {[]string{"--status", "200", "--header", "Set-Cookie: a=b"}, "Set-Cookie is never recorded"},
		"length":            {[]string{"--status", "200", "--header", "content-length: 2"}, "Content-Length is never recorded"},
		"name with a space": {[]string{"--status", "200", "--header", "a b: c"}, "no header's name"},
		"space before :":    {[]string{"--status", "200", "--header", "a : c"}, "no header's name"},
		"no name":           {[]string{"--status", "200", "--header", ": c"}, "no header's name"},
		"end of line":       {[]string{"--status", "200", "--header", "X: a\n"}, "HTTP cannot carry"},
		"interim status":    {[]string{"--status", "101"}, "final status"},
		"body of 204":       {[]string{"--status", "204", "--body", bodyFile(t, "x")}, "has no body"},
	} {
		code, _, stderr := d.ctl(nil, append([]string{"resolve", id, "--yes"}, tt.args...)...)
		if code != 2 || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit status %d, %s", name, code, stderr)
		}
	}
	if calls := d.fake.Stats().Calls; calls["GetItem"] > 0 {
		t.Errorf("called %v", calls)
	}
}

// TestSecretOfNoGuard: a secret that no guard takes makes no id.
func TestSecretOfNoGuard(t *testing.T) {
	d := newDesk(t)
	d.env["IDEMPOTENCY_SECRET"] = "short"
	for _, command := range []string{"id", "inspect", "release"} {
		code, out, stderr := d.ctl(nil, command, "--scope", "acme", "--key", "k")
		if code != 2 || out != "" || !strings.Contains(stderr, "fewer than 16 bytes") {
			t.Errorf("%s: exit status %d, %s%s", command, code, out, stderr)
		}
	}
}
