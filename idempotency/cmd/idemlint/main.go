// Command idemlint finds write endpoints that run without a guard, and clients whose idempotency keys do not survive a
// retry. Its rules are those of firstwriter/idempotency/lint; idemlint help RULE prints the page of one.
//
//	idemlint -template template.yaml ./...
//	go vet -vettool=$(which idemlint) -template template.yaml ./...
//
// With -template, each POST, PATCH and ANY route of an AWS SAM template must lead to a function that is guarded. Findings go
// to standard error as those of go vet do, or with -json to standard output. The exit code is that of go vet: 0 if there
// is nothing to complain about, or with -json; 1 if there is, or if something could not be checked; 2 if the command line
// is wrong. What could not be decided is said on standard error and does not change the code; go vet does not say it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"firstwriter/idempotency/lint"
)

func main() {
	if calledByGoVet(os.Args[1:]) {
		vet()
	}
	os.Exit(run("", os.Args[1:], os.Stdout, os.Stderr))
}

// calledByGoVet recognises the calls of cmd/go: -V=full, -flags, and a file that describes a package.
func calledByGoVet(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := args[len(args)-1]
	return strings.HasPrefix(args[0], "-V") || args[0] == "-flags" || args[0] == "help" || strings.HasSuffix(last, ".cfg")
}

// vet is one call of cmd/go; it does not return. The flag -template is that of the rule, under a shorter name.
func vet() {
	analyzers := lint.Analyzers()
	for _, a := range analyzers {
		a.Flags.VisitAll(func(f *flag.Flag) { flag.Var(f.Value, f.Name, f.Usage) })
	}
	unitchecker.Main(analyzers...)
}

// settings are the command line.
type settings struct {
	dir      string // to work in, "" for the current one
	template string
	tags     string
	json     bool
	patterns []string
}

// run is the command by itself. It works in dir and returns the exit code.
func run(dir string, args []string, stdout, stderr io.Writer) int {
	s := settings{dir: dir}
	flags := flag.NewFlagSet("idemlint", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.template, "template", "", "SAM template `file` whose POST, PATCH and ANY routes must be guarded")
	flags.StringVar(&s.tags, "tags", "", "comma-separated `list` of build tags")
	flags.BoolVar(&s.json, "json", false, "print findings as JSON, in the form of go vet -json")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: idemlint [-template file] [-tags list] [-json] [packages]\n       idemlint help [rule]")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if s.patterns = flags.Args(); len(s.patterns) == 0 {
		s.patterns = []string{"."}
	}
	c := checking{settings: s, analyzers: lint.Analyzers(), stdout: stdout, stderr: stderr}
	c.check()
	if c.failed || c.findings > 0 && !s.json {
		return 1
	}
	return 0
}

// analyzer returns the analyzer of a rule.
func analyzer(all []*analysis.Analyzer, rule string) *analysis.Analyzer {
	for _, a := range all {
		if a.Name == rule {
			return a
		}
	}
	panic("idemlint: there is no rule " + rule)
}
