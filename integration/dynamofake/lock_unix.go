//go:build unix

package dynamofake

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockDir makes sure that one server has the directory. The lock goes with the
// process, however it ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s is in use by another server; stop it or use another directory", dir)
	}
	return f, nil
}
