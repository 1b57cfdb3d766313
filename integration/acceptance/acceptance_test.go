// Package acceptance holds black-box cases: what a client of the payments API sees, in one JSON file each. The test
// plays them against a sandbox of its own, or against a running one:
//
//	go test ./integration/acceptance -count=1 -args -base http://127.0.0.1:3000
//
// The slow cases wait for leases to end. They are run with -slow, best against functions with a short timeout
// (make run ARGS='-timeout 6s').
package acceptance

import (
	"flag"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"firstwriter/integration/sandbox"
)

var (
	base = flag.String("base", "", "a running sandbox to test, instead of a new one")
	slow = flag.Bool("slow", false, "also the slow cases")
)

func TestCases(t *testing.T) {
	files, err := filepath.Glob("cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	url := *base
	if url == "" {
		url = start(t)
	}
	x := newRunner(url)
	t.Cleanup(func() { x.control("POST /_sandbox/reset") }) // a failed case may have left faults behind
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			c, err := load(file)
			if err != nil {
				t.Fatal(err)
			}
			if c.Slow && !*slow {
				t.Skip("slow; run with -args -slow")
			}
			if err := c.run(x); err != nil {
				t.Errorf("%v\n%s", err, c.Why)
			}
		})
	}
}

// start runs the project's template on a free port.
func start(t *testing.T) string {
	s, err := sandbox.Start(t.Context(), sandbox.Config{Template: "../../template.yaml", Timeout: 6 * time.Second, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.URL()
}
