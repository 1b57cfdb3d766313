package httpclient

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// raw starts a server that answers every request with a status line and nothing else, and leaves the connection open.
func raw(t *testing.T, status string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			go answerRaw(conn, status)
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

func answerRaw(conn net.Conn, status string) {
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		if strings.HasSuffix(string(buf[:n]), "order") {
			fmt.Fprintf(conn, "HTTP/1.1 %s X\r\nUpgrade: x\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n", status)
		}
	}
}

// TestNoStatus: a status that ends no request is no answer. It is sent again, the outcome stays unknown, and the journal
// can be read.
func TestNoStatus(t *testing.T) {
	for _, status := range []string{"000", "042", "099", "101"} {
		d := openDir(t)
		tr := newTransport(t, quick(func(c *Config) { c.Journal, c.MaxAttempts = d, 2 }))
		_, out, err := tr.Do(post(t, raw(t, status), "order"))
		if !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, errNoStatus) || out.Final || out.Attempts != 2 || out.Status != 0 {
			t.Errorf("%s: %+v, %v", status, out, err)
		}
		if live, _, err := tr.Unfinished(); len(live) != 1 || err != nil {
			t.Errorf("%s: %+v, %v", status, live, err)
		}
	}
}

// TestNoStatusOfBase: other bases may hand on any number, also one that is longer than a status.
func TestNoStatusOfBase(t *testing.T) {
	for _, status := range []int{-1, 0, 100, 103, 199, 1000} {
		d := openDir(t)
		tr, s := withJournal(t, d, true, step{status: status, header: "Idempotent-Replayed: true"}, step{status: 201})
		if _, out, err := tr.Do(post(t, "http://server/", "order")); err != nil || out.Status != 201 || len(s.sent) != 2 {
			t.Errorf("%d: %+v, %v", status, out, err)
		}
		if all, err := d.Entries(); len(all) != 1 || err != nil {
			t.Errorf("%d: %+v, %v", status, all, err)
		}
	}
}

// TestReadBack: what the journal could not read back is not sent. A method that is left out is a GET.
func TestReadBack(t *testing.T) {
	d := openDir(t)
	tr, s := withJournal(t, d, false, step{status: 201})
	req := post(t, "http://server/", "order").WithContext(WithKey(t.Context(), "k"))
	req.Method = ""
	if _, err := tr.RoundTrip(req); err != nil || len(s.sent) != 1 {
		t.Errorf("no method: %v", err)
	}
	if all, err := d.Entries(); len(all) != 1 || err != nil || all[0].Method != http.MethodGet {
		t.Errorf("no method: %+v, %v", all, err)
	}
	nowhere := post(t, "http://server/", "order")
	nowhere.URL.Host = ""
	if _, err := tr.RoundTrip(nowhere); !errors.Is(err, errUnsound) || len(s.sent) != 1 {
		t.Errorf("no host: %v", err)
	}
	if _, err := d.Entries(); err != nil {
		t.Error(err)
	}
}
