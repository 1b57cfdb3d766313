package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// parentCheck is how often a sandbox under go run looks for its parent.
const parentCheck = 250 * time.Millisecond

// watchGoRun stops the sandbox when the go command that runs it has gone. go run passes Ctrl-C on but no other signal:
// without this, killing it would leave the sandbox behind.
func watchGoRun(ctx context.Context, stop func()) {
	if !underGoRun() {
		return
	}
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(parentCheck)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if os.Getppid() != parent {
					stop()
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
}

// underGoRun reports whether the executable lies where go run puts it: a temporary folder or the build cache.
func underGoRun() bool {
	exe, err := os.Executable()
	if err != nil {
		return false
	}
	if strings.Contains(exe, string(filepath.Separator)+"go-build") {
		return true
	}
	cache := os.Getenv("GOCACHE")
	return cache != "" && strings.HasPrefix(exe, cache+string(filepath.Separator))
}
