package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListIsUpToDate: each mutation still finds what it changes, once.
func TestListIsUpToDate(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutations {
		sound, err := os.ReadFile(filepath.Join("../..", m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(sound), m.old); n != 1 {
			t.Errorf("%s: %q stands %d times in %s", m.name, m.old, n, m.file)
		}
		if names[m.name] || m.old == m.new {
			t.Errorf("%s: named twice, or no change", m.name)
		}
		names[m.name] = true
	}
}
