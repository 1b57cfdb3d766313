package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// journal is a list that only grows. With a folder it is kept in a file, one line of JSON for each element.
type journal[T any] struct {
	mu   sync.Mutex // guards the following
	all  []T
	file *os.File // nil: memory only
}

// openJournal reads what an earlier run left in dir; "" keeps everything in memory.
func openJournal[T any](dir, name string) (*journal[T], error) {
	j := &journal[T]{}
	if dir == "" {
		return j, nil
	}
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := j.load(file); err != nil {
		file.Close()
		return nil, err
	}
	j.file = file
	return j, nil
}

// load reads the lines. A last one that is cut short, by a kill while it was written, is cut off: nobody was told that
// it is there.
func (j *journal[T]) load(file *os.File) error {
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	n := 0
	for line := range bytes.Lines(whole) {
		n++
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return fmt.Errorf("%s:%d: %w; correct or remove the line", file.Name(), n, err)
		}
		j.all = append(j.all, v)
	}
	return file.Truncate(int64(len(whole)))
}

// add appends an element. It is in the file before it is in the list.
func (j *journal[T]) add(v T) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if _, err := j.file.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	j.all = append(j.all, v)
	return nil
}

// list is the elements so far, oldest first; never nil.
func (j *journal[T]) list() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]T{}, j.all...)
}

func (j *journal[T]) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
