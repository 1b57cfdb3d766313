package httpclient

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// instant is a base that answers at once: what is measured with it is the transport's own work.
type instant struct{ res http.Response }

func (i *instant) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	res := i.res
	res.Body = io.NopCloser(strings.NewReader(`{"id":1}`))
	return &res, nil
}

func newInstant() *instant {
	return &instant{http.Response{StatusCode: 201, ContentLength: 8, Header: http.Header{"Content-Type": {"application/json"}}}}
}

// sendOne sends a small payment and reads the answer.
func sendOne(b testing.TB, ctx context.Context, rt http.RoundTripper, url string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"amount":1299}`))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer token")
	res, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
}

// BenchmarkFirstAttempt measures an operation that succeeds at once, without a journal: by the bare base and by the
// transport, with a base that answers at once and over a connection on this machine; where the caller's context has a
// deadline, and where it has none, so that the transport must limit the attempt itself.
func BenchmarkFirstAttempt(b *testing.B) {
	url := serve(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"id":1}`)
	})
	std := &http.Transport{}
	for _, base := range []struct {
		name string
		rt   http.RoundTripper
	}{{"instant", newInstant()}, {"network", std}} {
		for _, limit := range []struct {
			name string
			d    time.Duration
		}{{"deadline", 10 * time.Second}, {"no deadline", 0}} {
			for _, rt := range []struct {
				name string
				rt   http.RoundTripper
			}{{"bare", base.rt}, {"kept", newTransport(b, Config{Base: base.rt})}} {
				b.Run(base.name+"/"+limit.name+"/"+rt.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						ctx, cancel := b.Context(), func() {}
						if limit.d > 0 {
							ctx, cancel = context.WithTimeout(ctx, limit.d)
						}
						sendOne(b, ctx, rt.rt, url)
						cancel()
					}
				})
			}
		}
	}
}

// BenchmarkJournal measures an operation with a journal, and the file operations of a journal alone: two files written,
// synced, renamed, and the folder synced.
func BenchmarkJournal(b *testing.B) {
	b.Run("files", func(b *testing.B) {
		dir, text := b.TempDir(), []byte(strings.Repeat("x", 400))
		for b.Loop() {
			for range 2 {
				writeFile(b, dir, text)
			}
		}
	})
	b.Run("kept", func(b *testing.B) {
		dir, err := OpenDir(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		tr := newTransport(b, Config{Base: newInstant(), Journal: dir})
		for b.Loop() {
			sendOne(b, b.Context(), tr, "http://server/payments")
		}
	})
}

func writeFile(b *testing.B, dir string, text []byte) {
	f, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		b.Fatal(err)
	}
	_, werr := f.Write(text)
	serr := f.Sync()
	cerr := f.Close()
	rerr := os.Rename(f.Name(), filepath.Join(dir, filepath.Base(f.Name())[1:]))
	folder, err := os.Open(dir)
	if err != nil || werr != nil || serr != nil || cerr != nil || rerr != nil {
		b.Fatal(err, werr, serr, cerr, rerr)
	}
	if err := folder.Sync(); err != nil {
		b.Fatal(err)
	}
	folder.Close()
}
