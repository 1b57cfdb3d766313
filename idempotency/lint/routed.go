package lint

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"firstwriter/idempotency/lint/samtemplate"
)

// Undecided is the result of the analyzer unguarded for the main package of a template's function: what it could not tell,
// as lines that start with file:line. It is nil for other packages.
type Undecided struct {
	Notes []string
}

var undecidedType = reflect.TypeFor[*Undecided]()

// templateFlag is the flag that names a template. The file is read once, when the first main package is looked at.
type templateFlag struct {
	file string
	read func() (*samtemplate.Template, error)
}

// String implements [flag.Value].
func (t *templateFlag) String() string { return t.file }

// Set implements [flag.Value].
func (t *templateFlag) Set(file string) error {
	t.file = file
	t.read = sync.OnceValues(func() (*samtemplate.Template, error) {
		found, err := locate(file)
		if err != nil {
			return nil, err
		}
		return samtemplate.Read(found)
	})
	return nil
}

// locate returns the absolute path of a template. A relative one is looked for in the working directory and then in those
// above it: go vet runs its tool in the directory of each package.
func locate(file string) (string, error) {
	first, err := filepath.Abs(file)
	if err != nil || filepath.IsAbs(file) {
		return first, err
	}
	dir, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	for found := first; ; found = filepath.Join(dir, file) {
		if _, err := os.Stat(found); err == nil {
			return found, nil
		}
		if dir == filepath.Dir(dir) {
			return first, nil
		}
		dir = filepath.Dir(dir)
	}
}

// routed are the functions of a template that are built from one main package.
type routed struct {
	template  *samtemplate.Template
	functions []samtemplate.Function
}

// function returns the template's functions that a package is the main package of, nil if there are none.
func (t *templateFlag) function(pass *analysis.Pass) (*routed, error) {
	if t.read == nil || pass.Pkg.Name() != "main" || len(pass.Files) == 0 {
		return nil, nil
	}
	template, err := t.read()
	if err != nil {
		return nil, fmt.Errorf("the template cannot be read: %w", err)
	}
	r := &routed{template: template}
	dir := filepath.Dir(pass.Fset.Position(pass.Files[0].FileStart).Filename)
	for _, f := range template.Functions {
		if f.Dir != "" && sameDir(f.Dir, dir) {
			r.functions = append(r.functions, f)
		}
	}
	if len(r.functions) == 0 {
		return nil, nil
	}
	return r, nil
}

func sameDir(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// onlyReads tells whether no request that writes can reach the functions.
func (r *routed) onlyReads() bool {
	for _, f := range r.functions {
		for _, route := range f.Routes {
			if route.Writes() {
				return false
			}
		}
	}
	return r.template.Whole
}

// check reports the writing routes whose function runs without a guard, where the template makes them.
func (r *routed) check(pass *analysis.Pass, started []start, all verdict) *Undecided {
	undecided := &Undecided{}
	var lines *token.File
	for _, f := range r.functions {
		for _, route := range f.Routes {
			rule, problem := parseIgnore(directiveOf(route.Text))
			switch {
			case !route.Writes() || all == guarded || rule == "unguarded":
				continue
			case problem == "" && all == unknown:
				undecided.Notes = append(undecided.Notes, fmt.Sprintf(
					"%s:%d: whether %s of %s is guarded: its handler is not followed to where it is made", r.template.File, route.Line, route, f.ID))
				continue
			case problem == "":
				problem = fmt.Sprintf("%s is routed to %s, which runs without a guard (%s)", route, f.ID, where(pass, started))
			}
			if lines == nil {
				lines = pass.Fset.AddFile(r.template.File, -1, len(r.template.Text))
				lines.SetLinesForContent(r.template.Text)
			}
			pass.Reportf(lines.LineStart(min(route.Line, lines.LineCount())), "unguarded: %s", problem)
		}
	}
	return undecided
}

// directiveOf returns a directive in a comment of a YAML line.
func directiveOf(line string) string {
	_, comment, _ := strings.Cut(line, "#")
	return strings.TrimSpace(comment)
}

// where names the place where the handler is started.
func where(pass *analysis.Pass, started []start) string {
	for _, s := range started {
		if s.verdict == bare {
			at := pass.Fset.Position(s.call.Pos())
			return fmt.Sprintf("%s, %s:%d", s.name, filepath.Base(at.Filename), at.Line)
		}
	}
	return pass.Pkg.Path() + " imports no guard"
}

// started returns the verdict on all handlers that a main package starts. Somebody else may start one; without a guard
// among its imports, it is not guarded.
func (f *flow) started(all []start) verdict {
	v := nothing
	for _, s := range all {
		v = either(v, s.verdict)
	}
	switch {
	case v != nothing:
		return v
	case f.reachesGuard(f.pkg):
		return unknown
	}
	return bare
}
