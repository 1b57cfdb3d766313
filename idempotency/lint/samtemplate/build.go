package samtemplate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packageOf returns the directory of the main package that a function is built from; or what is the problem.
//
// Source: docs.aws.amazon.com/serverless-application-model/latest/developerguide/building-custom-runtimes.html
func (s *survey) packageOf(id string, r *node) (dir, problem string) {
	p := r.properties()
	code := p.get("CodeUri").scalar()
	switch {
	case p.get("PackageType").scalar() == "Image":
		return "", "it is built as a container image"
	case p.get("CodeUri") == nil && p.get("InlineCode") == nil:
		code = "." // as sam build takes it
	case code == "" || strings.Contains(code, "://"):
		return "", "its CodeUri is no directory"
	}
	dir = filepath.FromSlash(code)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.dir, dir)
	}
	if r.get("Metadata", "BuildMethod").scalar() == "makefile" {
		text, _ := os.ReadFile(filepath.Join(dir, "Makefile")) // without it, the build is done elsewhere
		if lines := recipe(string(text), "build-"+id); lines != nil {
			return builtBy(dir, lines)
		}
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*.go")); err != nil || len(names) == 0 {
		return "", "there is neither a Go package nor a recipe for make in " + code
	}
	return dir, ""
}

// builtBy returns the directory of the package that a recipe builds; or what is the problem.
func builtBy(dir string, recipe []string) (pkg, problem string) {
	for _, line := range recipe {
		at, arg := goBuild(line)
		switch {
		case arg == "":
		case strings.ContainsAny(at+arg, "$`*"):
			return "", "its recipe builds " + arg + ", which is not followed"
		default:
			return filepath.Join(dir, filepath.FromSlash(at), filepath.FromSlash(arg)), ""
		}
	}
	return "", "its recipe has no go build that is understood"
}

// recipe returns the lines of a make target's recipe, continuation lines joined; nil if there is no such target.
func recipe(makefile, target string) []string {
	makefile = strings.ReplaceAll(strings.ReplaceAll(makefile, "\r\n", "\n"), "\\\n", " ")
	var lines []string
	inside := false
	for line := range strings.Lines(makefile) {
		switch {
		case strings.HasPrefix(line, "\t"):
			if inside {
				lines = append(lines, strings.TrimSpace(line))
			}
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#"):
			if names, _, ok := strings.Cut(line, ":"); ok {
				inside = slices.Contains(strings.Fields(names), target)
				if inside && lines == nil {
					lines = []string{}
				}
			}
		}
	}
	return lines
}

// goBuild finds a go build in a line of shell: the directory it runs in, and its package. Without a package it builds ".".
func goBuild(line string) (dir, pkg string) {
	for _, command := range strings.FieldsFunc(line, func(r rune) bool { return r == ';' || r == '&' }) {
		words := strings.Fields(command)
		if len(words) == 2 && words[0] == "cd" {
			dir = filepath.ToSlash(filepath.Join(dir, words[1]))
		}
		for i := 0; i+1 < len(words); i++ {
			if (words[i] == "go" || words[i] == "$(GO)") && words[i+1] == "build" {
				at, pkg := buildArguments(words[i+2:])
				return filepath.ToSlash(filepath.Join(dir, at)), pkg
			}
		}
	}
	return "", ""
}

// buildArguments reads the arguments of go build. The package is the last of them, unless that is a flag or its value.
func buildArguments(words []string) (dir, pkg string) {
	pkg = "."
	for i, w := range words {
		switch {
		case i > 0 && words[i-1] == "-C":
			dir = w
		case i == len(words)-1 && !strings.HasPrefix(w, "-") && !valueOfFlag(words, i):
			pkg = strings.Trim(w, `"'`)
		}
	}
	if name, isFile := strings.CutSuffix(pkg, ".go"); isFile {
		pkg = filepath.ToSlash(filepath.Dir(name))
	}
	return dir, pkg
}

// valueOfFlag tells whether a word is the value of the flag before it, as in -o bootstrap.
func valueOfFlag(words []string, i int) bool {
	return i > 0 && slices.Contains([]string{"-o", "-tags", "-ldflags", "-gcflags", "-asmflags", "-mod", "-C", "-p"}, words[i-1])
}
