package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"-addr 0.0.0.0:8000", `dynamofake: -addr "0.0.0.0:8000" is not a loopback address; use 127.0.0.1:8000`},
		{"-addr :8000", `dynamofake: -addr ":8000" is not a loopback address; use 127.0.0.1:8000`},
		{"-addr example.com:8000", `dynamofake: -addr "example.com:8000" is not a loopback address; use 127.0.0.1:8000`},
		{"-addr 8000", `dynamofake: -addr "8000": address 8000: missing port in address; use 127.0.0.1:8000`},
		{"extra", `dynamofake: unexpected argument "extra"; -h shows the flags`},
		{"-port 8000", `dynamofake: flag provided but not defined: -port; -h shows the flags`},
		{"-addr 127.0.0.1:0 -data " + file, "dynamofake: opening the data: mkdir " + file + ": not a directory"},
		{"-addr 127.0.0.1:99999", "dynamofake: listen tcp: address 99999: invalid port"},
	} {
		err := run(t.Context(), io.Discard, strings.Fields(c.args))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.args, err, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-h"}); err != nil || !strings.Contains(out.String(), "-data directory") {
		t.Errorf("%v %s", err, out.String())
	}
}

// TestServe starts the command, calls it at the URL that it prints, and stops
// it as a signal does.
func TestServe(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		read, write := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- run(ctx, write, []string{"-addr", addr, "-data", t.TempDir()}) }()
		line, err := bufio.NewReader(read).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		url, ok := strings.CutPrefix(strings.TrimSpace(line), "dynamofake: ")
		if !ok {
			t.Fatalf("printed %q", line)
		}
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		out, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(out.Body)
		if err != nil || string(text) != `{"TableNames":[]}` {
			t.Errorf("got %s, %v", text, err)
		}
		if err := out.Body.Close(); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-done; err != nil {
			t.Errorf("stopping: %v", err)
		}
	}
}
