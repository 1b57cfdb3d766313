package idempotency

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// media says how a body is read.
type media struct {
	kind     mediaKind
	boundary string // of multipart
}

type mediaKind int

const (
	mediaBytes mediaKind = iota // everything else
	mediaJSON
	mediaForm
	mediaMultipart
)

// mediaType appends the media type and the content encoding, and returns how the body is to be read.
func (c *canonicalizer) mediaType(h http.Header) media {
	types, encodings := h["Content-Type"], h["Content-Encoding"]
	var m media
	switch {
	case len(types) > 1:
		m = c.rawType(types...)
	case len(types) == 0:
		m = c.rawType()
	default:
		m = c.parsedType(types[0])
	}
	c.count(len(encodings))
	for _, e := range encodings {
		c.part(e)
		m = media{}
	}
	return m
}

// rawType appends media types as they were sent.
func (c *canonicalizer) rawType(raw ...string) media {
	c.out = append(c.out, 'R')
	c.count(len(raw))
	for _, r := range raw {
		c.part(r)
	}
	return media{}
}

// parsedType appends a media type, its usual spellings without parsing them.
func (c *canonicalizer) parsedType(raw string) media {
	switch raw {
	case "application/json", "application/json; charset=utf-8", "application/json; charset=UTF-8", "application/json;charset=utf-8":
		return c.typed("application/json", nil)
	case "application/x-www-form-urlencoded":
		return c.typed(raw, nil)
	}
	mediaType, params, err := mime.ParseMediaType(raw)
	if err != nil || strings.ContainsFunc(raw, beyondASCII) { // some of those become letters of ASCII in lower case
		return c.rawType(raw)
	}
	return c.typed(mediaType, params)
}

func beyondASCII(r rune) bool { return r >= utf8.RuneSelf }

// typed appends a media type and those of its parameters that change a body's meaning.
func (c *canonicalizer) typed(mediaType string, params map[string]string) media {
	m := media{kind: kindOf(mediaType), boundary: params["boundary"]}
	switch m.kind {
	case mediaJSON, mediaForm:
		if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
			m.kind = mediaBytes
		} else if ok {
			delete(params, "charset")
		}
	case mediaMultipart:
		delete(params, "boundary")
	}
	c.out = append(c.out, 'T')
	c.part(mediaType)
	c.count(len(params))
	if len(params) > 0 {
		for _, name := range slices.Sorted(maps.Keys(params)) {
			c.part(name)
			c.part(params[name])
		}
	}
	return m
}

// kindOf knows JSON by the names of the WHATWG's MIME Sniffing standard: application/json, text/json and the +json
// suffix of RFC 6839.
func kindOf(mediaType string) mediaKind {
	switch {
	case mediaType == "application/json", mediaType == "text/json", strings.HasSuffix(mediaType, "+json"):
		return mediaJSON
	case mediaType == "application/x-www-form-urlencoded":
		return mediaForm
	case strings.HasPrefix(mediaType, "multipart/"):
		return mediaMultipart
	}
	return mediaBytes
}

// body appends the body, tagged by how it was read. What cannot be read by its media type is read as bytes.
func (c *canonicalizer) body(m media, s *selection, body []byte) {
	start, read := len(c.out), false
	switch {
	case s.bytes || len(body) > maxText:
	case m.kind == mediaJSON:
		read = c.selected(body, s.root)
	case m.kind == mediaForm && isForm(body):
		c.out = append(c.out, 'F')
		read = c.pairs(string(body))
	case m.kind == mediaMultipart:
		c.out = append(c.out, 'M')
		read = c.multipart(body, m.boundary)
	}
	if !read {
		sum := sha256.Sum256(body)
		c.out = append(append(c.out[:start], 'B'), sum[:]...)
	}
}

// selected appends what a selection counts of a JSON body. Where nothing is there that it includes (the pointers are
// mistyped, or the client sends something else), all of it counts: else every such request would be the same.
func (c *canonicalizer) selected(body []byte, s selector) bool {
	start := len(c.out)
	c.out = append(c.out, 'J')
	if read := c.json(body, s); !read || c.found {
		return read
	}
	c.out = append(c.out[:start], 'W')
	return c.json(body, selector{})
}

// isForm reports whether a body has the characters of an encoded form alone. Other bodies come under a form's media type
// too, since some clients send it unless they are told otherwise (curl -d): to a handler that reads such a body as JSON,
// "+" is no space.
func isForm(body []byte) bool {
	return !bytes.ContainsFunc(body, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.~!*'()+%&=", r))
	})
}

// query appends the query string of a request.
func (c *canonicalizer) query(raw string) {
	start := len(c.out)
	c.out = append(c.out, 'F')
	if !c.pairs(raw) {
		c.out = append(c.out[:start], 'R')
		c.part(raw)
	}
}

// pairs appends URL-encoded pairs, sorted by name. It returns false if they do not parse.
func (c *canonicalizer) pairs(raw string) bool {
	if raw == "" {
		c.count(0)
		return true
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return false
	}
	c.count(len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		c.part(name)
		c.count(len(values[name]))
		for _, value := range values[name] {
			c.part(value)
		}
	}
	return true
}
