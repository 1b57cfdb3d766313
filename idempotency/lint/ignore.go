package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// rules that can be suppressed.
var rules = []string{"unguarded", "freshkey"}

const directive = "idemlint:"

// parseIgnore reads the text of a comment after its marker: "idemlint:ignore rule -- reason". A text that is none of ours
// has neither rule nor problem.
func parseIgnore(text string) (rule, problem string) {
	rest, ok := strings.CutPrefix(text, directive)
	if !ok {
		return "", ""
	}
	rest, ok = strings.CutPrefix(rest, "ignore")
	if !ok || rest != "" && !strings.HasPrefix(rest, " ") {
		return "", "there is no such directive; write idemlint:ignore rule -- reason"
	}
	rule, reason, _ := strings.Cut(rest, "--")
	switch rule = strings.TrimSpace(rule); {
	case !slices.Contains(rules, rule):
		return "", "idemlint:ignore names one rule, " + strings.Join(rules, " or ") + ", and then its reason: idemlint:ignore rule -- reason"
	case strings.TrimSpace(reason) == "":
		return "", "idemlint:ignore suppresses nothing without a reason; write idemlint:ignore " + rule + " -- reason"
	}
	return rule, ""
}

// ignoredLines lists the lines of a file on which findings of a rule are suppressed: that of the comment, the one below,
// and all of a function whose comment it is in.
func ignoredLines(fset *token.FileSet, f *ast.File, rule string) map[int]bool {
	lines := map[int]bool{}
	for _, c := range comments(f) {
		if named, _ := parseIgnore(strings.TrimPrefix(c.Text, "//")); named == rule {
			line := fset.Position(c.Pos()).Line
			lines[line], lines[line+1] = true, true
		}
	}
	if len(lines) == 0 {
		return nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Doc == nil || !covers(fset, fn.Doc, lines) {
			continue
		}
		for line := fset.Position(fn.Pos()).Line; line <= fset.Position(fn.End()).Line; line++ {
			lines[line] = true
		}
	}
	return lines
}

// comments lists the line comments of a file.
func comments(f *ast.File) (all []*ast.Comment) {
	for _, group := range f.Comments {
		all = append(all, group.List...)
	}
	return all
}

func covers(fset *token.FileSet, doc *ast.CommentGroup, lines map[int]bool) bool {
	return slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//"+directive) && lines[fset.Position(c.Pos()).Line]
	})
}

// newIgnore returns the analyzer that complains about suppressions without a reason, or of no known rule.
func newIgnore() *analysis.Analyzer {
	return &analysis.Analyzer{Name: "ignore", Doc: page("ignore"), RunDespiteErrors: true,
		Run: func(pass *analysis.Pass) (any, error) {
			for _, f := range pass.Files {
				for _, c := range comments(f) {
					if _, problem := parseIgnore(strings.TrimPrefix(c.Text, "//")); problem != "" {
						pass.Reportf(c.Pos(), "ignore: %s", problem)
					}
				}
			}
			return nil, nil
		}}
}
