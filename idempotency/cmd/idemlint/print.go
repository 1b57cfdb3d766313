package main

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis/checker"

	"firstwriter/idempotency/lint"
)

// finding is one complaint.
type finding struct {
	at   token.Position
	text string
}

// print writes the findings, in the order of files and lines, and what the analyzers could not decide.
func (c *checking) print(graph *checker.Graph) {
	var found []finding
	for _, act := range graph.Roots {
		if act.Err != nil {
			c.fail(fmt.Errorf("%s: %w", act.Package.PkgPath, act.Err))
		}
		for _, d := range act.Diagnostics {
			found = append(found, finding{act.Package.Fset.Position(d.Pos), d.Message})
		}
		if u, ok := act.Result.(*lint.Undecided); ok && u != nil {
			for _, n := range u.Notes {
				c.note("%s", c.short(n))
			}
		}
	}
	c.findings = len(found)
	if c.json {
		if err := graph.PrintJSON(c.stdout); err != nil {
			c.fail(err)
		}
		return
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.at.Filename, b.at.Filename), a.at.Offset-b.at.Offset, cmp.Compare(a.text, b.text))
	})
	for _, f := range slices.Compact(found) {
		fmt.Fprintf(c.stderr, "%s: %s\n", c.short(f.at.String()), f.text)
	}
}
