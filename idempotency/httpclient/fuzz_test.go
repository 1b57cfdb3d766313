package httpclient

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"
)

// FuzzEntryFile: the journal's reader takes any file. What it takes can be written again and is the same then, and names
// a request that can be made; a file with one byte changed is refused. Half of the tries are given the right checksum, so
// that they reach what is behind it.
func FuzzEntryFile(f *testing.F) {
	sum := sha256.Sum256([]byte("order"))
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	whole, err := encode(Entry{Key: "k", Method: "POST", URL: "http://server/", BodyHash: sum[:], Body: []byte("order"), At: at, Until: at.Add(time.Hour)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, false, uint16(80))
	f.Fuzz(func(t *testing.T, file []byte, sealed bool, at uint16) {
		if sealed {
			file = seal(file)
		}
		e, err := decode(file)
		if err != nil {
			return
		}
		again, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(again)
		if err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		if third, err := encode(back); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("%+v became %+v, %v", e, back, err)
		}
		if _, err := e.Request(t.Context(), e.Body); err != nil && e.Body != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		i := int(at) % len(again)
		changed := bytes.Clone(again)
		changed[i] ^= 1
		if back, err := decode(changed); err == nil && i != len(again)-1 { // the last line break does not count
			t.Fatalf("byte %d changed: %+v", i, back)
		}
	})
}

// seal puts a file's right first line before it.
func seal(text []byte) []byte {
	text = bytes.TrimSuffix(text, []byte("\n"))
	return fmt.Appendf(nil, "%s%x\n%s\n", magic, sha256.Sum256(text), text)
}

// FuzzProblem: the parser of problem documents takes any bytes, and finds a code and a wish only in what is one.
func FuzzProblem(f *testing.F) {
	f.Add("application/problem+json", []byte(`{"code":"in-progress","retryable":true}`))
	f.Add("application/problem+json; charset=utf-8", []byte(`{"type":"x","status":409,"retryable":null}`))
	f.Add("text/html", []byte(`{"code":"in-progress"}`))
	f.Fuzz(func(t *testing.T, media string, body []byte) {
		p, err := parseProblem(http.Header{"Content-Type": {media}}, body)
		if err != nil && !reflect.DeepEqual(p, problem{}) || p.Retryable && !p.says {
			t.Fatalf("%+v, %v", p, err)
		}
		if again, _ := parseProblem(http.Header{"Content-Type": {media}}, body); !reflect.DeepEqual(p, again) {
			t.Fatalf("%+v, then %+v", p, again)
		}
	})
}

// FuzzRetryAfter: no wish is negative or longer than is obeyed.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"2", "-2", "99999999999999999999", "Sun, 29 Nov 2026 12:00:30 GMT", "soon"} {
		f.Add(s, "Sun, 29 Nov 2026 12:00:00 GMT")
	}
	c := Config{MinBackoff: time.Second, MaxBackoff: time.Second, MaxRetryAfter: time.Minute}
	f.Fuzz(func(t *testing.T, wish, date string) {
		after := retryAfter(http.Header{"Retry-After": {wish}, "Date": {date}}, time.Now())
		if pause := c.pause(1, after); after < 0 || pause < 0 || pause >= 61*time.Second {
			t.Fatalf("%v, %v", after, pause)
		}
	})
}
