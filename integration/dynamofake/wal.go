package dynamofake

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
)

// The log is one file: a magic, then frames of length, checksum and batch. A
// batch is what was written and synced at once: records, each with its length.
// The next frame is begun only when the one before it is on the disk, so a
// crash can spoil no frame but the last, and nothing in that one was
// acknowledged.
//
// Whoever changes data appends a record to the batch that is being built, under
// the lock of what it changes, so the log's order is the order of the changes.
// Then it waits for the batch, without the lock. Of those who wait at once, one
// writes and syncs for all, while the next batch is being built.
const (
	logName   = "dynamofake.log"
	logMagic  = "dynfake1"
	headBytes = 8 // length and checksum of a frame
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// wal is the open log. A nil one belongs to a server without a directory: it
// takes nothing, and waiting for it is over at once.
type wal struct {
	path string
	lock *os.File
	// turn has room for one: whoever put something in may use the file.
	turn chan struct{}
	file *os.File

	mu      sync.Mutex // guards what follows
	pending *batch     // the one that is being built
	spare   []byte     // the buffer of an earlier one
	length  int64      // of the file
	err     error      // the first failure: after it nothing is promised any more
}

// batch is what goes to the disk at once.
type batch struct {
	number int64         // batches go to the disk in the order of their numbers
	frame  []byte        // empty: no record in it
	done   chan struct{} // closed when it is on the disk, or never will be
	err    error         // to be read once it is done
}

// later is the batch that will be done last; nil is done.
func later(a, b *batch) *batch {
	if a == nil || b != nil && b.number > a.number {
		return b
	}
	return a
}

// begin begins a new batch. The caller holds the mutex.
func (l *wal) begin() {
	next := &batch{frame: l.spare[:0], done: make(chan struct{})}
	if l.pending != nil {
		next.number = l.pending.number + 1
	}
	l.pending, l.spare = next, nil
}

// seal fills in the head of a frame, whose batch is there already.
func seal(frame []byte) {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-headBytes))
	binary.BigEndian.PutUint32(frame[4:], crc32.Checksum(frame[headBytes:], castagnoli))
}

// appendRecord adds a record to a frame that is being built.
func appendRecord(frame, record []byte) []byte {
	if len(frame) == 0 {
		frame = append(frame, make([]byte, headBytes)...)
	}
	frame = binary.AppendUvarint(frame, uint64(len(record)))
	return append(frame, record...)
}

// append adds a record and returns the batch to wait for.
func (l *wal) append(record []byte) *batch {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending.frame = appendRecord(l.pending.frame, record)
	return l.pending
}

// wait returns when the batch is on the disk. Whoever comes first writes it.
func (l *wal) wait(b *batch) error {
	if l == nil || b == nil {
		return nil
	}
	select {
	case <-b.done: // most reads find it so
		return b.err
	default:
	}
	select {
	case <-b.done:
	case l.turn <- struct{}{}:
		l.flush(b)
		<-l.turn
	}
	return b.err
}

// flush writes and syncs a batch, unless that was done before it was our turn.
func (l *wal) flush(b *batch) {
	l.mu.Lock()
	if l.pending != b {
		l.mu.Unlock()
		return
	}
	l.begin()
	err := l.err
	l.mu.Unlock()
	if err == nil {
		err = l.write(b.frame)
	}
	l.mu.Lock()
	l.err, l.spare = err, b.frame
	if err == nil {
		l.length += int64(len(b.frame))
	}
	l.mu.Unlock()
	b.frame, b.err = nil, err
	close(b.done)
}

// write puts a frame on the disk.
func (l *wal) write(frame []byte) error {
	seal(frame)
	_, err := l.file.Write(frame)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("the log cannot be written: %w; free space or repair the disk, then start again", err)
	}
	return nil
}

// replace makes the content, which has everything that was appended, the log.
func (l *wal) replace(content []byte) error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	f, err := writeFile(l.path+".new", content)
	if err != nil {
		return err
	}
	if err := os.Rename(l.path+".new", l.path); err != nil {
		_ = f.Close()
		return err
	}
	_ = l.file.Close() // nothing of it is needed any more
	l.file, l.length = f, int64(len(content))
	if err := syncDir(filepath.Dir(l.path)); err != nil {
		return err
	}
	l.spare = l.pending.frame
	close(l.pending.done)
	l.begin()
	return nil
}

// writeFile makes a durable file and leaves it open at its end.
func writeFile(path string, content []byte) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// size is the length of the file, without what is pending.
func (l *wal) size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.length
}

// last is the batch with the last record, nil if all are done.
func (l *wal) last() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending.frame) == 0 {
		return nil
	}
	return l.pending
}

// close makes everything durable and closes the files. Nobody appends any more.
func (l *wal) close() error {
	if l == nil {
		return nil
	}
	err := l.wait(l.last())
	if err == nil {
		err = l.err // of an earlier batch
	}
	if closed := l.file.Close(); err == nil {
		err = closed
	}
	if closed := l.lock.Close(); err == nil {
		err = closed
	}
	return err
}
