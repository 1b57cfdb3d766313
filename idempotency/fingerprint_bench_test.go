package idempotency

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
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

// BenchmarkFingerprint measures the fingerprint, request and hash included, against two libraries that only bring the
// JSON into a canonical form. They take turns, so that the ratios, of medians, hold on a busy machine.
func BenchmarkFingerprint(b *testing.B) {
	for _, name := range []string{"orders.json", "floats.json"} {
		b.Run(name, func(b *testing.B) {
			body := readDocument(b, name)
			r, buf := jsonRequest(body), make([]byte, 0, 2*len(body))
			compareSpeed(b, len(body),
				func() error { wholeBody.fingerprint(r); return nil },
				func() error { v := jsontext.Value(append(buf, body...)); return v.Canonicalize() },
				func() error { _, err := jcs.Transform(body); return err })
		})
	}
}

// compareSpeed reports the throughput of ours over n bytes, how many times that of the others it is, and how often ours
// allocates.
func compareSpeed(b *testing.B, n int, ours, text, gowebpki func() error) {
	const calls = 8 // of each a round
	var rounds [3][]time.Duration
	for b.Loop() {
		for i, f := range []func() error{ours, text, gowebpki} {
			start := time.Now()
			for range calls {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
			rounds[i] = append(rounds[i], time.Since(start))
		}
	}
	us := median(rounds[0])
	b.ReportMetric(0, "ns/op") // of all three: says nothing
	b.ReportMetric(float64(calls*n)/us.Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(median(rounds[1]))/float64(us), "x-jsontext")
	b.ReportMetric(float64(median(rounds[2]))/float64(us), "x-jcs")
	b.ReportMetric(testing.AllocsPerRun(100, func() { ours() }), "allocs")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// hostileTexts are texts of about n bytes that make canonicalizers slow.
var hostileTexts = []struct {
	name string
	text func(n int) string
}{
	{"array of orders", func(n int) string {
		line := `{"sku":"DD-39753","quantity":7,"unitPrice":739.50,"description":"chair"}`
		return "[" + strings.Repeat(line+",", n/len(line)) + line + "]"
	}},
	{"deep large inside", func(n int) string {
		return strings.Repeat(`{"b":1,"a":`, maxDepth) + `"` + strings.Repeat("x", n) + `"` + strings.Repeat("}", maxDepth)
	}},
	{"deep large outside", func(n int) string {
		open := `{"b":"` + strings.Repeat("x", n/maxDepth) + `","a":`
		return strings.Repeat(open, maxDepth) + "1" + strings.Repeat("}", maxDepth)
	}},
	{"deep often", func(n int) string {
		unit := strings.Repeat(`{"b":"0123456789","a":`, maxDepth-1) + "1" + strings.Repeat("}", maxDepth-1)
		return "[" + strings.Repeat(unit+",", n/len(unit)) + "1]"
	}},
	{"many members backwards", func(n int) string { return manyMembers(n/12, "") }},
	{"long names with a common beginning", func(n int) string { return manyMembers(n/1000, strings.Repeat("x", 990)) }},
	{"long names beyond ASCII", func(n int) string { return manyMembers(n/1000, strings.Repeat("ß", 495)) }},
	{"a huge number", func(n int) string { return strings.Repeat("10", n/2) }},
	{"a number of zeros", func(n int) string { return "1" + strings.Repeat("0", n) }},
	{"huge exponents", func(n int) string { return "[" + strings.Repeat("1e999999999999999999,", n/21) + "1]" }},
	{"escapes", func(n int) string { return `"` + strings.Repeat(`\u0041`, n/6) + `"` }},
	{"characters between ASCII", func(n int) string { return `"` + strings.Repeat(`éa`, n/3) + `"` }},
	{"empty arrays", func(n int) string { return "[" + strings.Repeat("[],", n/3) + "1]" }},
	{"white space", func(n int) string { return strings.Repeat(" ", n) + "1" }},
}

func manyMembers(n int, prefix string) string {
	var text bytes.Buffer
	for i := range n {
		fmt.Fprintf(&text, `,"%s%06d":1`, prefix, n-i)
	}
	return "{" + string(text.Bytes()[1:]) + "}"
}

// BenchmarkHostile measures bodies of 1 MB against bodies of a sixteenth of that: x-per-byte is 1 where the time is
// linear, and 16 where it is quadratic.
func BenchmarkHostile(b *testing.B) {
	for _, h := range hostileTexts {
		b.Run(strings.ReplaceAll(h.name, " ", "-"), func(b *testing.B) {
			small, large := jsonRequest([]byte(h.text(1<<16))), jsonRequest([]byte(h.text(1<<20)))
			var rounds [2][]time.Duration
			for b.Loop() {
				start := time.Now()
				for range 16 {
					wholeBody.fingerprint(small)
				}
				between := time.Now()
				wholeBody.fingerprint(large)
				rounds[0], rounds[1] = append(rounds[0], between.Sub(start)), append(rounds[1], time.Since(between))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(len(large.Body))/median(rounds[1]).Seconds()/1e6, "MB/s")
			b.ReportMetric(float64(median(rounds[1]))/float64(median(rounds[0])), "x-per-byte")
		})
	}
}
