package integration

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the module's path; directories below are relative to its root.
const module = "firstwriter"

// source is one Go file's imports.
type source struct {
	dir, file string
	test      bool // a test, or a package for tests alone
	imports   []string
}

// confined are modules that only some directories may import, so that nobody who uses the library compiles them.
var confined = []struct {
	path string
	in   []string // directories, with those below
	test bool     // tests may import it anywhere
}{
	{"golang.org/x/tools", []string{"idempotency/lint", "idempotency/cmd/idemlint"}, false},
	// The linter's template reader is the one exception: a SAM template cannot be read without YAML, and the linter is a
	// program of its own, which no function or service imports.
	{"github.com/goccy/go-yaml", []string{"integration", "idempotency/storetest", "idempotency/lint/samtemplate"}, true},
	{"go.etcd.io/bbolt", []string{"integration", "idempotency/storetest"}, true},
	{"github.com/golang-jwt/jwt", []string{"integration", "idempotency/storetest"}, true},
	{"github.com/anishathalye/porcupine", []string{"integration", "idempotency/storetest"}, true},
	{module + "/integration", []string{"integration"}, true},
	{module + "/functions", []string{"functions", "integration"}, false},
	{module + "/idempotency/lint", []string{"idempotency/lint", "idempotency/cmd/idemlint"}, false},
}

// apart are packages that do not know each other, but for tests.
var apart = []string{"idempotency/dynamostore", "idempotency/apigateway", "idempotency/httpserver", "idempotency/httpclient"}

// TestImports keeps dependencies where they belong.
func TestImports(t *testing.T) {
	for _, s := range goFiles(t) {
		for _, path := range s.imports {
			if problem := s.forbids(path); problem != "" {
				t.Errorf("%s imports %s: %s", s.file, path, problem)
			}
		}
	}
}

// forbids says why a file must not import a package, "" if it may.
func (s source) forbids(path string) string {
	for _, c := range confined {
		if below(path, c.path) && !(s.test && c.test) && !slices.ContainsFunc(c.in, func(dir string) bool { return below(s.dir, dir) }) {
			return "it belongs in " + strings.Join(c.in, ", ") + " alone"
		}
	}
	if s.test {
		return ""
	}
	inside, ours := strings.CutPrefix(path, module+"/")
	switch {
	case s.dir == "idempotency" && ours:
		return "the root package imports none of its subpackages"
	case s.dir == "idempotency" && below(path, "github.com/aws"):
		return "the root package imports no AWS package"
	case slices.Contains(apart, s.dir) && slices.Contains(apart, inside):
		return "adapters and stores do not know each other"
	}
	return ""
}

// below tells whether a path is another, or inside it.
func below(path, other string) bool { return path == other || strings.HasPrefix(path, other+"/") }

// goFiles reads the imports of all Go files, but for those that the go command ignores.
func goFiles(t *testing.T) (all []source) {
	t.Helper()
	const root = ".."
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.Name() == "go.mod" && file != filepath.Join(root, "go.mod"):
			t.Errorf("%s: there is one go.mod", file)
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		s := source{dir: dir, file: rel, test: strings.HasSuffix(file, "_test.go") || strings.HasSuffix(dir, "test")}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, path)
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d Go files", len(all))
	}
	return all
}

// TestForbids shows that each rule can fail.
func TestForbids(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		test      bool
		forbidden bool
	}{
		{"functions/payments", "golang.org/x/tools/go/packages", false, true},
		{"integration", "golang.org/x/tools/go/packages", true, true},
		{"idempotency/lint", "golang.org/x/tools/go/packages", false, false},
		{"idempotency/lint", "github.com/goccy/go-yaml", false, true},
		{"idempotency/lint/samtemplate", "github.com/goccy/go-yaml/ast", false, false},
		{"idempotency", "github.com/golang-jwt/jwt/v5", false, true},
		{"idempotency", "github.com/golang-jwt/jwt/v5", true, false},
		{"idempotency/dynamostore", "go.etcd.io/bbolt", false, true},
		{"idempotency/storetest", "github.com/anishathalye/porcupine", false, false},
		{"idempotency", "firstwriter/integration/dynamofake", false, true},
		{"idempotency/apigateway", "firstwriter/functions/payments", true, true},
		{"functions/payments", "firstwriter/idempotency/lint", false, true},
		{"idempotency", "firstwriter/idempotency/apigateway", false, true},
		{"idempotency", "github.com/aws/aws-lambda-go/events", false, true},
		{"idempotency", "firstwriter/idempotency/dynamostore", true, false},
		{"idempotency/apigateway", "firstwriter/idempotency/dynamostore", false, true},
		{"idempotency/apigateway", "firstwriter/idempotency", false, false},
		{"idempotency/httpserver", "firstwriter/idempotency/httpclient", false, true},
	} {
		if problem := (source{dir: c.dir, test: c.test}).forbids(c.path); (problem != "") != c.forbidden {
			t.Errorf("%s imports %s (test: %v): %q", c.dir, c.path, c.test, problem)
		}
	}
}
