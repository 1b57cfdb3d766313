// Package lint finds write endpoints that run without a guard, and clients whose idempotency keys do not survive a retry.
// Its analyzers run in idempotency/cmd/idemlint, by itself or as go vet's tool, and in any other driver of go/analysis.
//
//	unguarded  a Lambda handler, a POST or PATCH route of net/http, or a route of a SAM template without a guard
//	freshkey   a key that is new on each attempt, or the same for different operations
//	ignore     a suppression that suppresses nothing
//
// Each has a page in doc/ with examples and limits. A finding is suppressed by a comment on its line or on the line above,
// in the comment of its function, or in the template beside the route. It must say why:
//
//	//idemlint:ignore unguarded -- reads only; the method is checked in the handler
//
// The analyzers follow values through variables, fields, parameters and functions of one package. Where a value leaves it,
// or comes from elsewhere, they say nothing. Test files are not checked: a fake server charges nobody.
package lint

import (
	"embed"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzers returns the analyzers of all rules. Each call makes new ones, with flags of their own.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{newUnguarded(), newFreshKey(), newIgnore()}
}

//go:embed doc/*.md
var pages embed.FS

// page returns the documentation of a rule as go/analysis wants it: a line of summary first, taken from the page's title.
func page(rule string) string {
	text, err := pages.ReadFile("doc/" + rule + ".md")
	if err != nil {
		panic(err) // the file is part of the program
	}
	return strings.TrimPrefix(string(text), "# "+rule+": ")
}

// sources returns the files of a package that are checked.
func sources(pass *analysis.Pass) []*ast.File {
	var files []*ast.File
	for _, f := range pass.Files {
		if !strings.HasSuffix(pass.Fset.Position(f.FileStart).Filename, "_test.go") {
			files = append(files, f)
		}
	}
	return files
}

// imports tells whether one of the files imports a package that match accepts.
func imports(files []*ast.File, match func(path string) bool) bool {
	for _, f := range files {
		for _, spec := range f.Imports {
			if match(strings.Trim(spec.Path.Value, `"`+"`")) {
				return true
			}
		}
	}
	return false
}

// reporter passes findings on, but for those that a comment suppresses.
type reporter struct {
	pass    *analysis.Pass
	rule    string
	ignored map[string]map[int]bool // lines by file
}

func newReporter(pass *analysis.Pass, rule string, files []*ast.File) *reporter {
	r := &reporter{pass: pass, rule: rule, ignored: map[string]map[int]bool{}}
	for _, f := range files {
		r.ignored[pass.Fset.Position(f.FileStart).Filename] = ignoredLines(pass.Fset, f, rule)
	}
	return r
}

func (r *reporter) reportf(pos token.Pos, format string, args ...any) {
	at := r.pass.Fset.Position(pos)
	if !r.ignored[at.Filename][at.Line] {
		r.pass.Reportf(pos, r.rule+": "+format, args...)
	}
}
