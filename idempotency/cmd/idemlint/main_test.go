package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module writes files into a module of its own, which imports nothing but the standard library.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/shop\n\ngo 1.26\n"
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// check runs the command in a directory.
func check(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(dir, args, &out, &err)
	return code, out.String(), err.String()
}

// holds fails the test unless text has all of these.
func holds(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("this lacks %q:\n%s", w, text)
		}
	}
}

const shop = `package shop

import "net/http"

func routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /orders", orders)
	mux.HandleFunc("POST /orders", orders)
}

func orders(w http.ResponseWriter, r *http.Request) {}
`

func TestFindings(t *testing.T) {
	dir := module(t, map[string]string{"shop.go": shop})
	code, stdout, stderr := check(t, dir, "./...")
	if code != 1 || stdout != "" {
		t.Errorf("code %d, stdout %q", code, stdout)
	}
	holds(t, stderr, "shop.go:7:2: unguarded: the handler of POST /orders runs without a guard")
	if strings.Count(stderr, "\n") != 1 {
		t.Errorf("more than one line:\n%s", stderr)
	}
}

func TestClean(t *testing.T) {
	dir := module(t, map[string]string{"shop.go": strings.ReplaceAll(shop, "POST", "PUT")})
	if code, stdout, stderr := check(t, dir); code != 0 || stdout+stderr != "" {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
}

func TestJSON(t *testing.T) {
	dir := module(t, map[string]string{"shop.go": shop})
	code, stdout, stderr := check(t, dir, "-json", ".")
	if code != 0 || stderr != "" {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	var tree map[string]map[string][]struct{ Posn, Message string }
	if err := json.Unmarshal([]byte(stdout), &tree); err != nil {
		t.Fatal(err)
	}
	found := tree["example.com/shop"]["unguarded"]
	if len(found) != 1 || !strings.HasSuffix(found[0].Posn, "shop.go:7:2") || found[0].Message == "" {
		t.Errorf("%+v", tree)
	}
}

func TestBrokenCode(t *testing.T) {
	dir := module(t, map[string]string{"shop.go": shop, "broken/broken.go": "package broken\n\nvar x = nowhere\n",
		"worse/worse.go": "package worse\n\nfunc {\n", "lost/lost.go": "package lost\n\nimport _ \"example.com/nowhere\"\n"})
	code, _, stderr := check(t, dir, "./...")
	if code != 1 {
		t.Errorf("code %d", code)
	}
	holds(t, stderr, "broken/broken.go:3:9: undefined: nowhere", "worse/worse.go:3:6:", "lost/lost.go:3:10: could not import example.com/nowhere", "shop.go:7:2: unguarded")
}

func TestBadCommandLine(t *testing.T) {
	dir := module(t, map[string]string{"shop.go": shop})
	if code, _, stderr := check(t, dir, "-nosuch"); code != 2 {
		t.Errorf("an unknown flag: code %d: %s", code, stderr)
	}
	if code, _, stderr := check(t, dir, "./nowhere"); code != 1 || stderr == "" {
		t.Errorf("an unknown package: code %d: %s", code, stderr)
	}
	code, _, stderr := check(t, dir, "-template", "nosuch.yaml", ".")
	if code != 1 {
		t.Errorf("an unknown template: code %d", code)
	}
	holds(t, stderr, "nosuch.yaml", "shop.go:7:2: unguarded")
}

// TestVettool runs the rules as go vet's tool, which has a protocol of its own.
func TestVettool(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "idemlint")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir := module(t, map[string]string{"shop.go": shop, "clean/clean.go": "package clean\n", "cmd/shop/main.go": "package main\n\nfunc main() {}\n",
		"template.yaml": templateOf("cmd/shop")})
	vet := func(args ...string) (int, string) {
		cmd := exec.Command("go", append([]string{"vet", "-vettool=" + tool}, args...)...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	code, out := vet("./...")
	if code != 1 {
		t.Errorf("code %d", code)
	}
	holds(t, out, "shop.go:7:2: unguarded: the handler of POST /orders")
	if code, out := vet("./clean"); code != 0 || out != "" {
		t.Errorf("a clean package: %d %s", code, out)
	}
	code, out = vet("-template", "template.yaml", "./cmd/shop")
	if code != 1 {
		t.Errorf("with a template: code %d", code)
	}
	holds(t, out, "template.yaml:13:1: unguarded: POST /orders is routed to Shop, which runs without a guard")
	if code, out := vet("-json", "."); code != 0 {
		t.Errorf("-json: %d %s", code, out)
	}
}

// templateOf returns a template with one function, built from a directory, and one route, which writes.
func templateOf(dir string) string {
	return `Transform: AWS::Serverless-2016-10-31
Resources:
  Shop:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: ` + dir + `
      Handler: bootstrap
      Runtime: provided.al2023
      Events:
        Create:
          Type: HttpApi
          Properties:
            Method: post
            Path: /orders
`
}

func TestTemplate(t *testing.T) {
	main := "package main\n\nfunc main() {}\n"
	dir := module(t, map[string]string{"cmd/shop/main.go": main, "template.yaml": templateOf("cmd/shop")})
	code, _, stderr := check(t, dir, "-template", "template.yaml", "./...")
	if code != 1 {
		t.Errorf("code %d", code)
	}
	holds(t, stderr, "template.yaml:13:1: unguarded: POST /orders is routed to Shop, which runs without a guard (example.com/shop/cmd/shop imports no guard)")

	write(t, filepath.Join(dir, "template.yaml"), strings.Replace(templateOf("cmd/shop"), "post", "post # idemlint:ignore unguarded -- a search", 1))
	if code, _, stderr := check(t, dir, "-template", "template.yaml", "./..."); code != 0 || stderr != "" {
		t.Errorf("suppressed: %d %s", code, stderr)
	}

	write(t, filepath.Join(dir, "template.yaml"), strings.Replace(templateOf("cmd/shop"), "post", "post # idemlint:ignore unguarded", 1))
	code, _, stderr = check(t, dir, "-template", "template.yaml", "./...")
	if code != 1 {
		t.Errorf("suppressed without a reason: %d", code)
	}
	holds(t, stderr, "template.yaml:13:1: unguarded: idemlint:ignore suppresses nothing without a reason")

	write(t, filepath.Join(dir, "template.yaml"), templateOf("cmd/other"))
	code, _, stderr = check(t, dir, "-template", "template.yaml", "./...")
	if code != 0 {
		t.Errorf("a function that is nowhere: %d", code)
	}
	holds(t, stderr, "not decided: template.yaml:3: Shop:")

	write(t, filepath.Join(dir, "template.yaml"), templateOf("cmd/shop"))
	code, _, stderr = check(t, dir, "-template", "template.yaml", "fmt")
	if code != 0 {
		t.Errorf("a function that is not among the packages: %d", code)
	}
	holds(t, stderr, "not decided: template.yaml:3: Shop: no main package in cmd/shop was among those to check")
}
