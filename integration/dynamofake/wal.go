package dynamofake

import (
	"encoding/binary"
	"errors"
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
// Whoever changes data appends a record under the lock of what it changes, so
// the log's order is the order of the changes; then it waits, without the lock,
// until the log is on the disk up to there. Of those who wait at once, one
// writes and syncs for all.
const (
	logName   = "dynamofake.log"
	logMagic  = "dynfake1"
	headBytes = 8 // length and checksum of a frame
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// wal is the open log. A nil one belongs to a server without a directory: it
// takes nothing and is always durable.
type wal struct {
	path string
	file *os.File
	lock *os.File

	mu       sync.Mutex
	written  *sync.Cond // signals every end of a flush
	pending  []byte     // the frame that is being built; empty: no record in it
	spare    []byte     // the buffer that pending was before
	appended int64      // records that were ever appended: the position of the end
	durable  int64      // how many of them are on the disk
	length   int64      // of the file
	flushing bool
	err      error // the first failure: after it nothing is promised any more
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

// append adds a record and returns the position to wait for.
func (l *wal) append(record []byte) int64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = appendRecord(l.pending, record)
	l.appended++
	return l.appended
}

// wait returns when the log is on the disk up to the position.
func (l *wal) wait(position int64) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.durable < position && l.err == nil {
		if l.flushing {
			l.written.Wait()
			continue
		}
		l.flush()
	}
	return l.err
}

// flush writes what is pending and syncs it, without the mutex meanwhile.
func (l *wal) flush() {
	batch, end := l.pending, l.appended
	l.pending, l.flushing = l.spare[:0], true
	l.mu.Unlock()
	seal(batch)
	_, err := l.file.Write(batch)
	if err == nil {
		err = l.file.Sync()
	}
	l.mu.Lock()
	l.spare, l.flushing = batch, false
	if err != nil {
		l.err = fmt.Errorf("the log cannot be written: %w; free space or repair the disk, then start again", err)
	} else {
		l.durable, l.length = end, l.length+int64(len(batch))
	}
	l.written.Broadcast()
}

// size is the length of the file, without what is pending.
func (l *wal) size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.length
}

// end is the position of everything that was appended.
func (l *wal) end() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.appended
}

// close makes everything durable and closes the files.
func (l *wal) close() error {
	if l == nil {
		return nil
	}
	err := l.wait(l.end())
	if closed := l.file.Close(); err == nil {
		err = closed
	}
	if closed := l.lock.Close(); err == nil {
		err = closed
	}
	return err
}

// openLog opens the log of a directory, gives every record to replay, and cuts off
// what a crash left unfinished at the end.
func openLog(dir string, replay func(payload []byte) error) (*wal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	l := &wal{path: filepath.Join(dir, logName), lock: lock}
	l.written = sync.NewCond(&l.mu)
	if err := l.load(replay); err != nil {
		_ = lock.Close() // the first error is the one to tell
		return nil, err
	}
	return l, nil
}

// load replays the file, or makes a new one, and leaves it open at its end.
func (l *wal) load(replay func([]byte) error) error {
	data, err := os.ReadFile(l.path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	end, err := replayLog(data, replay)
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	if l.file, err = os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return err
	}
	if err := l.cutTo(end); err != nil {
		_ = l.file.Close()
		return err
	}
	l.length = end
	return syncDir(filepath.Dir(l.path))
}

// cutTo makes the file end there, with at least the magic in it.
func (l *wal) cutTo(end int64) error {
	if err := l.file.Truncate(end); err != nil {
		return err
	}
	if _, err := l.file.WriteAt([]byte(logMagic), 0); err != nil {
		return err
	}
	if _, err := l.file.Seek(0, 2); err != nil {
		return err
	}
	return l.file.Sync()
}

// replayLog reads a log and returns where its last whole frame ends. A bad
// frame with a good one behind it was not left by a crash: the file was
// damaged, and dropping the rest would lose acknowledged writes.
func replayLog(data []byte, replay func([]byte) error) (int64, error) {
	if len(data) < len(logMagic) {
		return int64(len(logMagic)), nil
	}
	if string(data[:len(logMagic)]) != logMagic {
		return 0, errors.New("not a log of dynamofake; use another directory")
	}
	at := len(logMagic)
	for {
		batch, ok := readFrame(data[at:])
		if !ok {
			break
		}
		if err := replayBatch(batch, replay); err != nil {
			return 0, fmt.Errorf("frame at byte %d: %w", at, err)
		}
		at += headBytes + len(batch)
	}
	if damaged(data[at:]) {
		return 0, fmt.Errorf("damaged at byte %d; restore the file from a copy, or remove it to start empty", at)
	}
	return int64(at), nil
}

// damaged reports whether a good frame follows the bad one at the start.
func damaged(data []byte) bool {
	if len(data) <= headBytes {
		return false
	}
	next := headBytes + int(binary.BigEndian.Uint32(data))
	if next >= len(data) {
		return false
	}
	_, ok := readFrame(data[next:])
	return ok
}

// replayBatch takes a batch apart.
func replayBatch(batch []byte, replay func([]byte) error) error {
	for len(batch) > 0 {
		n, size := binary.Uvarint(batch)
		if size <= 0 || n > uint64(len(batch)-size) {
			return errPayload
		}
		end := size + int(n)
		if err := replay(batch[size:end]); err != nil {
			return err
		}
		batch = batch[end:]
	}
	return nil
}

// readFrame is the batch of the frame at the start of data; not ok if it is
// not whole.
func readFrame(data []byte) (batch []byte, ok bool) {
	if len(data) <= headBytes {
		return nil, false
	}
	n := int(binary.BigEndian.Uint32(data))
	if n == 0 || n > len(data)-headBytes {
		return nil, false
	}
	batch = data[headBytes : headBytes+n]
	return batch, crc32.Checksum(batch, castagnoli) == binary.BigEndian.Uint32(data[4:])
}

// syncDir makes a new or renamed file in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}
