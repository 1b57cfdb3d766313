package idempotency

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"
)

// readDocument reads a committed document of about 10 KB.
func readDocument(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func jsonRequest(body []byte) *Request {
	return &Request{Method: "POST", Path: "/orders", Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// BenchmarkFingerprint measures the fingerprint, hash and request included, against two libraries that only bring the
// JSON into a canonical form. They take turns within one run, so that the ratios hold on a busy machine.
func BenchmarkFingerprint(b *testing.B) {
	for _, name := range []string{"orders.json", "floats.json"} {
		body := readDocument(b, name)
		r, buf := jsonRequest(body), make([]byte, 0, 2*len(body))
		b.Run(name, func(b *testing.B) {
			var ours, text, gowebpki time.Duration
			for b.Loop() {
				ours += timed(8, func() { wholeBody.fingerprint(r) })
				text += timed(8, func() {
					v := jsontext.Value(append(buf, body...))
					if err := v.Canonicalize(); err != nil {
						b.Fatal(err)
					}
				})
				gowebpki += timed(8, func() {
					if _, err := jcs.Transform(body); err != nil {
						b.Fatal(err)
					}
				})
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(8*b.N*len(body))/float64(ours.Microseconds()), "MB/s")
			b.ReportMetric(float64(text)/float64(ours), "x-jsontext")
			b.ReportMetric(float64(gowebpki)/float64(ours), "x-jcs")
		})
	}
}

// timed calls f n times.
func timed(n int, f func()) time.Duration {
	start := time.Now()
	for range n {
		f()
	}
	return time.Since(start)
}
