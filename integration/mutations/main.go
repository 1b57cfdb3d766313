// Command mutations breaks the protocol on purpose, one condition or sentence at a time, in a copy of the module, and
// runs the tests that must notice.
//
//	go run ./integration/mutations [-only REGEXP] [-v]
//
// It prints a line for each mutation with the first test that failed, and exits 1 if a mutation was not noticed. It takes
// some minutes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

// mutation replaces one piece of text in one file. The tests of its packages must fail then.
type mutation struct {
	name, file, old, new string
}

// packages are whose tests are run.
var packages = []string{"./idempotency/", "./idempotency/dynamostore/", "./integration/"}

func main() {
	only := flag.String("only", "", "`regexp` over the mutations' names")
	verbose := flag.Bool("v", false, "print what the failed tests say")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "mutations: -only takes a regular expression, and there are no arguments; see -help")
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, match, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, match *regexp.Regexp, verbose bool) error {
	dir, err := os.MkdirTemp("", "mutations-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		return fmt.Errorf("run it in the module's root: %w", err)
	}
	missed, tried := 0, 0
	for _, m := range mutations {
		if !match.MatchString(m.name) {
			continue
		}
		tried++
		said, err := m.try(ctx, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		caught := "NOT NOTICED"
		if said != "" {
			caught = firstFailure(said)
		} else {
			missed++
		}
		fmt.Printf("%-40s %s\n", m.name, caught)
		if verbose {
			fmt.Println(said)
		}
	}
	fmt.Printf("%d passed, %d failed\n", tried-missed, missed)
	if missed > 0 || tried == 0 {
		return fmt.Errorf("%d of %d mutations were not noticed", missed, tried)
	}
	return nil
}

// try makes the mutation, runs the tests, and takes it back. It returns what they said if they failed.
func (m mutation) try(ctx context.Context, dir string) (said string, err error) {
	path := filepath.Join(dir, m.file)
	sound, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(sound), m.old); n != 1 {
		return "", fmt.Errorf("%q stands %d times in %s: bring the list up to date", m.old, n, m.file)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(sound), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, sound, 0o600)) }()
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-failfast", "-timeout", "120s"}, packages...)...)
	cmd.Dir = dir
	out, runErr := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case runErr == nil:
		return "", ctx.Err()
	case !errors.As(runErr, &exit) || ctx.Err() != nil:
		return "", errors.Join(runErr, ctx.Err())
	case strings.Contains(string(out), "[build failed]"):
		return "", fmt.Errorf("it does not compile: %s", out)
	}
	return string(out), nil
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// firstFailure names the innermost of the first tests that failed.
func firstFailure(said string) string {
	found := failure.FindAllStringSubmatch(said, 2)
	switch {
	case len(found) == 0:
		return "a panic or a time-out"
	case len(found) == 2 && strings.HasPrefix(found[1][1], found[0][1]+"/"):
		return found[1][1]
	}
	return found[0][1]
}
