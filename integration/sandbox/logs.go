package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"sync"
)

// maxLogLine is where a longer line of a function's output is broken.
const maxLogLine = 256 << 10

// logger writes whole lines, each with a name in front, from many goroutines.
type logger struct {
	mu sync.Mutex // guards out: one line at a time
	to io.Writer
}

// printf writes one line under a name: a function's, or "sandbox".
func (l *logger) printf(name, format string, args ...any) {
	l.line(name, fmt.Sprintf(format, args...))
}

func (l *logger) line(name, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.to, "[%s] %s\n", name, text)
}

// copy writes each line of r until it ends.
func (l *logger) copy(name string, r io.Reader) {
	br := bufio.NewReaderSize(r, maxLogLine)
	for {
		line, _, err := br.ReadLine()
		if err != nil {
			return
		}
		l.line(name, string(line))
	}
}
