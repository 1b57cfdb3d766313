package idempotency

import (
	"bytes"
	"slices"
	"strings"
)

// Limits of a multipart body that is read by part.
const (
	maxBoundary    = 70       // characters, RFC 2046, section 5.1.1
	maxParts       = 1000     // parts
	maxPartHeaders = 16 << 10 // bytes of one part's headers
)

// multipart appends the parts of a body. It returns false if the body is not exactly as RFC 2046, section 5.1.1 has
// it, with nothing before the first boundary or after the last one: parsers read what is nearly right in different
// ways.
func (c *canonicalizer) multipart(body []byte, boundary string) bool {
	if boundary == "" || len(boundary) > maxBoundary {
		return false
	}
	delimiter := []byte("\r\n--" + boundary)
	rest, ok := bytes.CutPrefix(body, delimiter[2:])
	for n := 0; ok && n <= maxParts; n++ {
		if string(rest) == "--" || string(rest) == "--\r\n" {
			return n > 0
		}
		if rest, ok = bytes.CutPrefix(rest, []byte("\r\n")); !ok {
			return false
		}
		var part []byte
		part, rest, ok = bytes.Cut(rest, delimiter)
		ok = ok && c.bodyPart(part)
	}
	return false
}

// bodyPart appends the headers and the body of a part.
func (c *canonicalizer) bodyPart(part []byte) bool {
	headers, body, ok := []byte(nil), part, true
	if !bytes.HasPrefix(part, []byte("\r\n")) {
		headers, body, ok = bytes.Cut(part, []byte("\r\n\r\n"))
	} else {
		body = part[2:]
	}
	if !ok || len(headers) > maxPartHeaders || !c.partHeaders(headers) {
		return false
	}
	c.out = appendPart(c.out, body)
	return true
}

// partHeader is a line of a part's headers.
type partHeader struct{ name, value []byte }

// partHeaders appends the headers of a part, sorted by name. Folded lines are obsolete, and not read.
func (c *canonicalizer) partHeaders(block []byte) bool {
	var headers []partHeader
	for len(block) > 0 {
		var line []byte
		line, block, _ = bytes.Cut(block, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(name) == 0 || bytes.ContainsFunc(name, notToken) || bytes.ContainsAny(value, "\r\n") {
			return false
		}
		headers = append(headers, partHeader{bytes.ToLower(name), bytes.Trim(value, " \t")})
	}
	slices.SortStableFunc(headers, func(a, b partHeader) int { return bytes.Compare(a.name, b.name) })
	c.count(len(headers))
	for _, h := range headers {
		c.out = appendPart(c.out, h.name)
		c.out = appendPart(c.out, h.value)
	}
	return true
}

// notToken reports whether a header's name cannot have a character (RFC 9110, section 5.6.2).
func notToken(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
}
