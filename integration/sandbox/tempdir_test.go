package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSweepTemp(t *testing.T) {
	parent := t.TempDir()
	inUse, remove, err := makeTemp(parent)
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(parent, tempPrefix+"left")
	other := filepath.Join(parent, "other")
	for _, dir := range []string{left, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	exists := func(dir string) bool {
		_, err := os.Stat(dir)
		return !errors.Is(err, fs.ErrNotExist)
	}
	sweepTemp(parent, time.Now())
	if !exists(left) {
		t.Error("a fresh folder was removed")
	}
	sweepTemp(parent, time.Now().Add(2*staleAge))
	if exists(left) || !exists(inUse) || !exists(other) {
		t.Errorf("left %v, in use %v, other %v", exists(left), exists(inUse), exists(other))
	}
	if err := remove(); err != nil || exists(inUse) {
		t.Errorf("still there: %v, error %v", exists(inUse), err)
	}
}
