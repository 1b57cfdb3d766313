package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	tempPrefix = "firstwriter-sandbox-"
	tempLock   = "lock"
	// staleAge keeps sweepTemp away from a folder that another sandbox has made and not yet locked.
	staleAge = time.Minute
)

// makeTemp makes a folder for what is built, and a lock that says it is in use. remove undoes both.
func makeTemp(parent string) (dir string, remove func() error, err error) {
	sweepTemp(parent, time.Now())
	dir, err = os.MkdirTemp(parent, tempPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := lockFile(filepath.Join(dir, tempLock))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// sweepTemp removes the folders of sandboxes that were killed. It does its best: a folder of another user stays.
func sweepTemp(parent string, now time.Time) {
	dirs, _ := filepath.Glob(filepath.Join(parent, tempPrefix+"*")) // the pattern is good
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || now.Sub(info.ModTime()) < staleAge {
			continue
		}
		lock, err := lockFile(filepath.Join(dir, tempLock))
		if err != nil {
			continue // in use, or not ours
		}
		_ = os.RemoveAll(dir)
		_ = lock.Close()
	}
}

// lockFile makes a file and locks it for as long as it is open, or fails at once. The lock ends with the process,
// however that ends.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
