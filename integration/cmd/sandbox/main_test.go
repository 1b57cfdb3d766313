package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const echoTemplate = "integration/sandbox/testdata/echo/template.yaml"

// running is a sandbox as a command, with one process of its function known.
type running struct {
	cmd      *exec.Cmd
	url      string
	function int // process id
}

// build makes the command once for a test.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sandbox")
	if out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// launch starts a command with the echo template and waits until it serves.
func launch(t *testing.T, args ...string) *running {
	t.Helper()
	r := serve(t, append(args, "-template", echoTemplate)...)
	r.function = r.pid(t)
	return r
}

// serve starts a command from the project's root in a process group of its own and waits until it serves.
func serve(t *testing.T, args ...string) *running {
	t.Helper()
	cmd := exec.Command(args[0], append(args[1:], "-addr", "127.0.0.1:0")...)
	cmd.Dir = "../../.."
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "serving "); ok {
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return &running{cmd: cmd, url: strings.Fields(rest)[0]}
		}
	}
	t.Fatalf("%v ended: %s", args, stderr.String())
	return nil
}

// pid asks the function for its process id.
func (r *running) pid(t *testing.T) int {
	t.Helper()
	res, err := http.Get(r.url + "/open?do=pid")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(body))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// gone waits until neither the API nor the function's process is there.
func (r *running) gone(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		res, err := http.Get(r.url + "/open")
		if err == nil {
			res.Body.Close()
		}
		if err != nil && !alive(r.function) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: API %v, function %v", err == nil, alive(r.function))
		}
	}
}

// alive reports whether a process runs; one that is only not waited for does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, after, _ := strings.Cut(string(stat), ") ")
	return err != nil || !strings.HasPrefix(after, "Z")
}

func TestSignalsEndEverything(t *testing.T) {
	file := build(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		r := launch(t, file)
		if err := r.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := r.cmd.Wait(); err != nil {
			t.Errorf("%v: %v, want exit status 0", sig, err)
		}
		r.gone(t)
	}
}

func TestKillLeavesNoOrphans(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends the children of a killed process at once")
	}
	r := launch(t, build(t))
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait()
	r.gone(t)
}

func TestKilledGoRunLeavesNoOrphans(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		r := launch(t, "go", "run", "./integration/cmd/sandbox")
		if err := r.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = r.cmd.Wait()
		r.gone(t)
	}
}

func TestCtrlCUnderGoRun(t *testing.T) {
	r := launch(t, "go", "run", "./integration/cmd/sandbox")
	if err := syscall.Kill(-r.cmd.Process.Pid, syscall.SIGINT); err != nil { // as a terminal does
		t.Fatal(err)
	}
	_ = r.cmd.Wait() // go run itself ends with 1 after an interrupt, whatever its command said
	r.gone(t)
}

func TestWrongUseIsOneLineAndExit1(t *testing.T) {
	file := build(t)
	for name, tt := range map[string]struct {
		args []string
		env  string
		want string
	}{
		"flag":           {[]string{"-colour", "red"}, "", "flag provided but not defined: -colour"},
		"duration":       {[]string{"-timeout", "soon"}, "", `invalid value "soon" for flag -timeout: a duration such as 6s is expected`},
		"no unit":        {[]string{"-timeout", "6"}, "", `invalid value "6" for flag -timeout: a duration such as 6s is expected`},
		"zero timeout":   {[]string{"-timeout", "0s"}, "", "leave it out for the template's"},
		"short timeout":  {[]string{"-timeout", "1ns"}, "", "timeout 1ns is not between 1s and 15m"},
		"argument":       {[]string{"template.yaml"}, "", `"template.yaml" is not a flag`},
		"parameter":      {[]string{"-param", "X"}, "", "Name=Value is expected"},
		"public address": {[]string{"-addr", "0.0.0.0:3000"}, "", "only loopback addresses"},
		"empty address":  {[]string{"-addr", ""}, "", "-addr is empty: leave it out for its default"},
		"empty template": {[]string{"-template="}, "", "-template is empty: leave it out for its default"},
		"empty folder":   {[]string{"-data", ""}, "", "-data is empty: leave it out for its default"},
		"no template":    {[]string{"-addr", "127.0.0.1:0", "-template", "none.yaml"}, "", "open none.yaml"},
		"AWS":            {nil, "DYNAMODB_ENDPOINT=https://dynamodb.eu-west-1.amazonaws.com", "-allow-aws"},
		"no URL":         {nil, "DYNAMODB_ENDPOINT=localhost:8000", "is not an http or https URL"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, file, tt.args...)
			cmd.Env = append(os.Environ(), tt.env)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("%v, want exit status 1", err)
			}
			if text := string(out); !strings.HasPrefix(text, "sandbox: ") || !strings.Contains(text, tt.want) || strings.Count(text, "\n") != 1 {
				t.Errorf("printed %q, want one line with %q", text, tt.want)
			}
		})
	}
}
