package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// build builds each function by the recipe that SAM uses, build-<LogicalId>, for this machine instead of Lambda. The
// bootstrap of function f is then in artifacts/f.
func build(ctx context.Context, l *launcher, log *logger, functions []function, artifacts string) error {
	if _, err := exec.LookPath("make"); err != nil {
		return errors.New("the functions are built by make, which is not on this machine's PATH: install it")
	}
	var names []string
	for _, f := range functions {
		names = append(names, f.id)
	}
	log.printf("sandbox", "building %s (the first time takes a minute) …", strings.Join(names, ", "))
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for _, f := range functions {
		g.Go(func() error { return buildOne(ctx, l, log, f, filepath.Join(artifacts, f.id)) })
	}
	return g.Wait()
}

func buildOne(ctx context.Context, l *launcher, log *logger, f function, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "make", "--silent", "build-"+f.id, "ARTIFACTS_DIR="+dir, "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Dir, cmd.Env = f.codeDir, withoutMake(os.Environ())
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err := runLogged(l, log, f.id, cmd); err != nil {
		return fmt.Errorf("make build-%s in %s failed, see its messages above: %w", f.id, f.codeDir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bootstrap")); err != nil {
		return fmt.Errorf("make build-%s in %s left no file bootstrap in ARTIFACTS_DIR", f.id, f.codeDir)
	}
	return nil
}

// withoutMake drops what an outer make (make run) hands down: its flags and command-line variables are not meant for
// this one.
func withoutMake(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "MAKEFLAGS" || name == "MFLAGS" || name == "MAKELEVEL" || name == "MAKEOVERRIDES"
	})
}

// runLogged runs a command whose output goes to the log.
func runLogged(l *launcher, log *logger, name string, cmd *exec.Cmd) error {
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		log.copy(name, r)
	}()
	err := l.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	w.Close()
	<-copied
	return err
}
