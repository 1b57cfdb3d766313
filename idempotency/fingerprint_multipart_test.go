package idempotency

import (
	"bytes"
	"io"
	libmultipart "mime/multipart"
	"strings"
	"testing"
)

// multipartOf makes a multipart body of parts, each with its headers.
func multipartOf(boundary string, parts ...string) *Request {
	body := ""
	for _, p := range parts {
		body += "--" + boundary + "\r\n" + p + "\r\n"
	}
	return sending("multipart/form-data; boundary="+boundary, body+"--"+boundary+"--\r\n")
}

const (
	partAmount = "Content-Disposition: form-data; name=\"amount\"\r\n\r\n1299"
	partFile   = "Content-Disposition: form-data; name=\"file\"\r\nContent-Type: text/plain\r\n\r\nline\r\n\r\nline"
)

func TestMultipart(t *testing.T) {
	whole := multipartOf("b", partAmount, partFile)
	replaced := func(old, new string) *Request {
		return altered(whole, func(r *Request) { r.Body = bytes.Replace(r.Body, []byte(old), []byte(new), 1) })
	}
	for _, c := range []struct {
		name string
		b    *Request
		same bool
	}{
		{"another boundary", multipartOf("another", partAmount, partFile), true},
		{"headers in another order", replaced("Content-Disposition: form-data; name=\"file\"\r\nContent-Type: text/plain", "content-type:text/plain\r\ncontent-disposition:  form-data; name=\"file\""), true},
		{"no line break at the end", replaced("--b--\r\n", "--b--"), true},
		{"parts in another order", multipartOf("b", partFile, partAmount), false},
		{"other content", replaced("1299", "1300"), false},
		{"another name", replaced("\"amount\"", "\"total\""), false},
		{"another header", replaced("Content-Type", "Content-Kind"), false},
		{"one part less", multipartOf("b", partAmount), false},
		{"one part twice", multipartOf("b", partAmount, partFile, partFile), false},
		{"part and headers shifted", replaced("text/plain\r\n\r\nline", "text/plain\r\nline:\r\n\r\n"), false},
		{"another subtype", altered(whole, func(r *Request) { r.Header.Set("Content-Type", "multipart/mixed; boundary=b") }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if same := bytes.Equal(wholeBody.fingerprint(whole), wholeBody.fingerprint(c.b)); same != c.same {
				t.Errorf("same = %v, want %v", same, c.same)
			}
		})
	}
}

// readByPart reports whether a body is compared by part, and what is written of it.
func readByPart(body []byte, boundary string) (string, bool) {
	var c canonicalizer
	c.body(media{mediaMultipart, boundary}, wholeBody, body)
	return string(c.out), c.out[0] == 'M'
}

func TestMultipartReadAsBytes(t *testing.T) {
	many := func(n int) string { return strings.Repeat("--b\r\n\r\n\r\n", n) + "--b--" }
	headers := func(n int) string { return "--b\r\nX: " + strings.Repeat("x", n-3) + "\r\n\r\n\r\n--b--" }
	for _, c := range []struct {
		name, body string
		byPart     bool
	}{
		{"a part without headers", "--b\r\n\r\nx\r\n--b--", true},
		{"an empty part", "--b\r\n\r\n\r\n--b--", true},
		{"as many parts as there may be", many(maxParts), true},
		{"too many parts", many(maxParts + 1), false},
		{"headers as long as they may be", headers(maxPartHeaders), true},
		{"headers too long", headers(maxPartHeaders + 1), false},
		{"nothing", "", false},
		{"no part", "--b--", false},
		{"text in front", "text\r\n--b\r\n\r\nx\r\n--b--", false},
		{"a line break in front", "\r\n--b\r\n\r\nx\r\n--b--", false},
		{"text behind", "--b\r\n\r\nx\r\n--b--\r\ntext", false},
		{"no end", "--b\r\n\r\nx", false},
		{"no end but a boundary", "--b\r\n\r\nx\r\n--b\r\n", false},
		{"line feeds only", "--b\n\nx\n--b--\n", false},
		{"spaces behind the boundary", "--b \r\n\r\nx\r\n--b--", false},
		{"another boundary that begins alike", "--b\r\n\r\nx\r\n--bc\r\n\r\n--b--", false},
		{"no blank line", "--b\r\nX: y\r\n--b--", false},
		{"a header without a colon", "--b\r\nX\r\n\r\nx\r\n--b--", false},
		{"a header without a name", "--b\r\n: y\r\n\r\nx\r\n--b--", false},
		{"a header name beyond ASCII", "--b\r\n\u212a: y\r\n\r\nx\r\n--b--", false},
		{"a folded header", "--b\r\nX: y\r\n z: a\r\n\r\nx\r\n--b--", false},
		{"a line feed in a header", "--b\r\nX: y\nZ: a\r\n\r\nx\r\n--b--", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, byPart := readByPart([]byte(c.body), "b"); byPart != c.byPart {
				t.Errorf("read by part = %v, want %v", byPart, c.byPart)
			}
		})
	}
	long := strings.Repeat("b", maxBoundary+1)
	if _, byPart := readByPart([]byte("--"+long+"\r\n\r\nx\r\n--"+long+"--"), long); byPart {
		t.Error("a boundary that is too long is not refused")
	}
	if _, byPart := readByPart([]byte("--\r\n\r\nx\r\n----"), ""); byPart {
		t.Error("a body without a boundary is read by part")
	}
}

// rewritten is a body as mime/multipart reads it, written by that package with another boundary.
func rewritten(t *testing.T, body []byte, boundary string) []byte {
	r := libmultipart.NewReader(bytes.NewReader(body), boundary)
	var out bytes.Buffer
	w := libmultipart.NewWriter(&out)
	if err := w.SetBoundary("another-boundary"); err != nil {
		t.Fatal(err)
	}
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			w.Close()
			return out.Bytes()
		}
		if err != nil {
			t.Skip("the library refuses the body:", err)
		}
		to, _ := w.CreatePart(p.Header) // writing to memory does not fail
		if _, err := io.Copy(to, p); err != nil {
			t.Skip("the library refuses the body:", err)
		}
	}
}

// FuzzMultipart holds bodies that are read by part against mime/multipart: what it reads of them, written anew, has
// the same form.
func FuzzMultipart(f *testing.F) {
	for _, r := range []*Request{multipartOf("b", partAmount, partFile), multipartOf("b", "\r\n"), multipartOf("b", "X: y\r\nx:z\r\n\r\n--b")} {
		f.Add(r.Body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		first, byPart := readByPart(body, "b")
		if !byPart || bytes.Contains(body, []byte("another-boundary")) {
			return
		}
		if again, _ := readByPart(rewritten(t, body, "b"), "another-boundary"); again != first {
			t.Errorf("%q\n%q\n%q", body, first, again)
		}
	})
}
