package dynamofake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

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
	l := &wal{path: filepath.Join(dir, logName), lock: lock, turn: make(chan struct{}, 1)}
	l.begin()
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
	if _, err := l.file.Seek(0, io.SeekEnd); err != nil {
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
