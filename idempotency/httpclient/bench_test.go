package httpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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

// TestAllocations: a first attempt that succeeds, without a journal, costs at most 12 allocations more than the bare base
// under the same time limit. A base that answers at once keeps those of a connection out of the count.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates, too")
	}
	base := newInstant()
	tr := newTransport(t, Config{Base: base})
	limited := func(rt http.RoundTripper) func() {
		return func() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			sendOne(t, ctx, rt, "http://server/payments")
		}
	}
	bare := testing.AllocsPerRun(200, limited(base))
	kept := testing.AllocsPerRun(200, limited(tr))
	unlimited := testing.AllocsPerRun(200, func() { sendOne(t, t.Context(), tr, "http://server/payments") })
	t.Logf("bare %v, kept %v, with a limit of the transport's own %v", bare, kept, unlimited)
	if kept-bare > 12 || unlimited-bare > 12 {
		t.Errorf("bare %v, kept %v, with a limit of the transport's own %v", bare, kept, unlimited)
	}
}

// BenchmarkJournal measures an operation with a journal against the file operations alone: a file written, synced and
// renamed, and its folder synced, twice. Both take turns, so that a busy disk hits both, and the ratio of their medians is
// reported.
func BenchmarkJournal(b *testing.B) {
	dir, err := OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	tr := newTransport(b, Config{Base: newInstant(), Journal: dir})
	bare, text := b.TempDir(), []byte(strings.Repeat("x", 400))
	var files, kept []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		for range 2 {
			writeFile(b, bare, fmt.Sprint("operation-", i), text)
		}
		middle := time.Now()
		sendOne(b, b.Context(), tr, "http://server/payments")
		files, kept = append(files, middle.Sub(start)), append(kept, time.Since(middle))
	}
	slices.Sort(files)
	slices.Sort(kept)
	f, k := files[len(files)/2], kept[len(kept)/2]
	b.ReportMetric(float64(f.Microseconds()), "files-µs/op")
	b.ReportMetric(float64(k.Microseconds()), "kept-µs/op")
	b.ReportMetric(float64(k)/float64(f), "ratio")
}

func writeFile(b *testing.B, dir, name string, text []byte) {
	f, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		b.Fatal(err)
	}
	_, err = f.Write(text)
	folder, openErr := os.Open(dir)
	if err := errors.Join(err, openErr, f.Sync(), f.Close(), os.Rename(f.Name(), filepath.Join(dir, name))); err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		b.Fatal(err)
	}
}
