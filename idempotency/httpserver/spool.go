package httpserver

import (
	"bytes"
	"io"
	"os"
)

// spool keeps a response body: in memory up to a limit, what is beyond it in a temporary file.
type spool struct {
	limit int
	head  bytes.Buffer
	tail  *os.File // nil: head is all
	size  int64
}

// Write implements [io.Writer].
func (s *spool) Write(p []byte) (n int, err error) {
	room := min(s.limit-s.head.Len(), len(p))
	n, _ = s.head.Write(p[:room]) // a buffer does not fail
	if room < len(p) {
		var more int
		more, err = s.spill(p[room:])
		n += more
	}
	s.size += int64(n)
	return n, err
}

func (s *spool) spill(p []byte) (n int, err error) {
	if s.tail == nil {
		if s.tail, err = os.CreateTemp("", "response-*"); err != nil {
			return 0, err
		}
	}
	return s.tail.Write(p)
}

// copyTo writes what was kept.
func (s *spool) copyTo(w io.Writer) error {
	if _, err := w.Write(s.head.Bytes()); err != nil || s.tail == nil {
		return err
	}
	if _, err := s.tail.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.tail)
	return err
}

// remove gives the temporary file back.
func (s *spool) remove() {
	if s.tail == nil {
		return
	}
	_ = s.tail.Close() // it is not needed any more
	_ = os.Remove(s.tail.Name())
}
