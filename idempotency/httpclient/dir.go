package httpclient

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Dir is a [Journal] in a folder that only its owner can read: one file for each operation. A file is written, synced and
// renamed into its place, and the folder is synced, so that there is no half-written entry to be repaired.
//
// Several processes may share a folder. If two of them begin different requests with one given key at the same moment, the
// journal may miss it; the server does not. The same holds for an entry that one of them begins while the other's folder
// cannot be synced. A Windows folder cannot be synced, so there an entry may be lost with the
// machine's power.
type Dir struct {
	path  string
	locks [64]sync.Mutex          // each of some entries
	hook  func(step string) error // nil; in tests it is called before each file operation
}

const (
	entrySuffix = ".operation"
	tempPrefix  = ".new-"
	tempAge     = time.Hour // after which nobody is still writing
	maxEntry    = 64 << 20  // bytes of a file
)

// OpenDir opens a journal in a folder and makes the folder if need be. What an earlier crash left half-written, of
// operations of which nothing was sent, is removed.
func OpenDir(path string) (*Dir, error) {
	d := &Dir{path: path}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("httpclient: open the journal: %w", err)
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("httpclient: open the journal: %w", err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && strings.HasPrefix(f.Name(), tempPrefix) && time.Since(info.ModTime()) > tempAge {
			err = os.Remove(filepath.Join(path, f.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("httpclient: open the journal: %w", err)
		}
	}
	return d, nil
}

// Begin implements [Journal].
func (d *Dir) Begin(e Entry) (Entry, error) {
	name := nameOf(e.Key)
	lock := d.lock(name)
	lock.Lock()
	defer lock.Unlock()
	old, err := d.read(name)
	switch {
	case err == nil:
		if e, err = e.Follow(old); err != nil {
			return Entry{}, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return Entry{}, err
	}
	placed, err := d.write(name, e)
	if err != nil {
		if placed != nil && (old.Key == "" || old.Status != 0) {
			d.takeBack(name, placed) // nothing is sent, so nothing is unfinished
		}
		return Entry{}, err
	}
	return e, nil
}

// takeBack removes a file that was placed here, unless another process has put its own into its place since.
func (d *Dir) takeBack(name string, placed fs.FileInfo) {
	path := filepath.Join(d.path, name)
	if now, err := os.Lstat(path); err == nil && os.SameFile(now, placed) {
		_ = os.Remove(path)
	}
}

// Finish implements [Journal].
func (d *Dir) Finish(e Entry) error {
	name := nameOf(e.Key)
	lock := d.lock(name)
	lock.Lock()
	defer lock.Unlock()
	_, err := d.write(name, e)
	return err
}

// Drop implements [Journal].
func (d *Dir) Drop(e Entry) error {
	name := nameOf(e.Key)
	err := d.step("remove")
	if err == nil {
		err = os.Remove(filepath.Join(d.path, name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d *Dir) lock(name string) *sync.Mutex {
	return &d.locks[(int(name[0])*31+int(name[1]))%len(d.locks)]
}

// Entries implements [Journal]. Files whose names begin with a dot are passed over.
func (d *Dir) Entries() (entries []Entry, err error) {
	files, err := os.ReadDir(d.path)
	errs := []error{err}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") {
			continue
		}
		e, err := d.read(f.Name())
		switch {
		case err == nil:
			entries = append(entries, e)
		case !errors.Is(err, fs.ErrNotExist): // dropped by another process
			errs = append(errs, err)
		}
	}
	return entries, errors.Join(errs...)
}

// read reads an entry's file.
func (d *Dir) read(name string) (Entry, error) {
	path := filepath.Join(d.path, name)
	info, err := os.Lstat(path)
	if err != nil {
		return Entry{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxEntry || !strings.HasSuffix(name, entrySuffix) {
		return Entry{}, fmt.Errorf("%s: %w", path, errForeign)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, err
	}
	e, err := decode(text)
	if err == nil && nameOf(e.Key) != name {
		err = errMisnamed
	}
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

// write puts an entry's file into its place, or leaves what was there. It returns the file that it has placed, also where
// only the last step failed, which makes that last.
func (d *Dir) write(name string, e Entry) (placed fs.FileInfo, err error) {
	text, err := encode(e)
	if err != nil {
		return nil, err
	}
	if err := d.step("create"); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(d.path, tempPrefix)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name()) // OpenDir does it later, if this fails
		}
	}()
	info, err := temp.Stat()
	if err := errors.Join(err, d.fill(temp, text), temp.Close(), d.step("rename")); err != nil {
		return nil, err
	}
	if err := os.Rename(temp.Name(), filepath.Join(d.path, name)); err != nil {
		return nil, err
	}
	return info, d.sync()
}

func (d *Dir) fill(f *os.File, text []byte) error {
	if err := d.step("write"); err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := d.step("sync"); err != nil {
		return err
	}
	return f.Sync()
}

// sync makes the renaming last.
func (d *Dir) sync() error {
	if err := d.step("sync folder"); err != nil {
		return err
	}
	folder, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return syncFolder(folder)
}

// step lets a test stop the next file operation.
func (d *Dir) step(name string) error {
	if d.hook == nil {
		return nil
	}
	return d.hook(name)
}
