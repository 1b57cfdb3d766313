package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"firstwriter/idempotency/lint/samtemplate"
)

// checking is one run of the command.
type checking struct {
	settings
	analyzers      []*analysis.Analyzer
	stdout, stderr io.Writer
	findings       int
	failed         bool // something could not be checked
}

// what is loaded: the packages that are named from their sources, what they import from export data.
const needed = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// check loads, analyses and prints. It goes on as far as it can.
func (c *checking) check() {
	template := c.readTemplate()
	pkgs, err := packages.Load(&packages.Config{Mode: needed, Dir: c.dir, BuildFlags: []string{"-tags=" + c.tags}}, c.patterns...)
	if err != nil {
		c.fail(err)
		return
	}
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool {
		for _, e := range p.Errors {
			c.failPackage(p, e)
		}
		return p.Types == nil
	})
	graph, err := checker.Analyze(c.analyzers, pkgs, nil)
	if err != nil {
		c.fail(err)
		return
	}
	c.noteTemplate(template, pkgs)
	c.print(graph)
}

// fail says what could not be checked.
func (c *checking) fail(err error) {
	c.failed = true
	fmt.Fprintln(c.stderr, "idemlint:", err)
}

// failPackage says what is wrong with a package. What the compiler prints, after a line "# package", is left out: the same
// errors come with positions of their own.
func (c *checking) failPackage(p *packages.Package, e packages.Error) {
	switch {
	case e.Pos != "" && e.Pos != "-":
		c.fail(fmt.Errorf("%s: %s", c.short(e.Pos), e.Msg))
	case len(p.Errors) == 1 || !strings.HasPrefix(e.Msg, "# "):
		c.fail(fmt.Errorf("%s: %s", p.PkgPath, e.Msg))
	}
}

// note says what could not be decided.
func (c *checking) note(format string, args ...any) {
	fmt.Fprintf(c.stderr, "idemlint: not decided: "+format+"\n", args...)
}

// readTemplate reads the template, where one is given, and gives it to its rule.
func (c *checking) readTemplate() *samtemplate.Template {
	if c.template == "" {
		return nil
	}
	file := c.template
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.dir, file)
	}
	file, err := filepath.Abs(file)
	if err != nil {
		c.fail(err)
		return nil
	}
	template, err := samtemplate.Read(file)
	if err != nil {
		c.fail(fmt.Errorf("the template cannot be read, so its routes are not checked: %w", err))
		return nil
	}
	if err := analyzer(c.analyzers, "unguarded").Flags.Set("template", file); err != nil {
		c.fail(err)
	}
	return template
}

// noteTemplate says which of the template's routes could not be followed.
func (c *checking) noteTemplate(t *samtemplate.Template, pkgs []*packages.Package) {
	if t == nil {
		return
	}
	for _, n := range t.Notes {
		c.note("%s:%d: %s", c.short(t.File), n.Line, n.Text)
	}
	for _, f := range t.Functions {
		if f.Dir != "" && f.Writes() && !slices.ContainsFunc(pkgs, func(p *packages.Package) bool { return isMainOf(p, f.Dir) }) {
			c.note("%s:%d: %s: no main package in %s was among those to check", c.short(t.File), f.Line, f.ID, c.short(f.Dir))
		}
	}
}

func isMainOf(p *packages.Package, dir string) bool {
	if p.Name != "main" || len(p.GoFiles) == 0 {
		return false
	}
	a, err := os.Stat(filepath.Dir(p.GoFiles[0]))
	if err != nil {
		return false
	}
	b, err := os.Stat(dir)
	return err == nil && os.SameFile(a, b)
}

// short is a path, or a position that starts with one, relative to the working directory if that is shorter.
func (c *checking) short(path string) string {
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}
