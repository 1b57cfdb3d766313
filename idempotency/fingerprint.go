package idempotency

import (
	"bytes"
	"crypto/sha256"
	"mime"
	"net/url"
	"slices"
	"strings"
)

// Fingerprint is what a request was, in 33 bytes: the version of the rules below, then a SHA-256. It is stored with
// the record. A later request is compared by the rules of the stored version, so that a change of rules does not turn
// honest retries into errors.
type Fingerprint []byte

// rules is the version of the rules that fingerprints are computed by now.
const rules = 1

// fingerprint computes a request's fingerprint: SHA-256 over length-prefixed method, path, canonical query, media type
// and canonical body.
//
// JSON bodies are compared by meaning: member order, white space, escapes and the spelling of numbers do not matter;
// numbers are exact decimals. A body that is not valid JSON (duplicate member names and invalid UTF-8 included), is
// nested deeper than 128 or has an exponent beyond 18 digits is compared as bytes. Forms are compared by pair. All
// else is compared as bytes. Two requests with one fingerprint mean the same; two that mean the same may differ in
// fingerprint where these rules do not know their media type: that costs a 422, where the opposite would replay the
// wrong operation.
func fingerprint(r *Request) Fingerprint {
	c := canonicalizers.Get().(*canonicalizer)
	defer c.free()
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	c.part(r.Method)
	c.part(r.Path)
	c.part(canonicalQuery(r.RawQuery))
	c.part(canonicalMediaType(r.Header.Get("Content-Type"), mediaType, params, err))
	c.body(mediaType, r.Body)
	sum := sha256.Sum256(c.out)
	return append(Fingerprint{rules}, sum[:]...)
}

// matches compares with a stored fingerprint. known is false where its rules are not known here.
func (f Fingerprint) matches(stored Fingerprint) (same, known bool) {
	if len(stored) != 1+sha256.Size || stored[0] != rules {
		return false, false
	}
	return bytes.Equal(f, stored), true
}

// canonicalQuery sorts the pairs of a query by name; the values of one name keep their order. What does not parse
// stays as it is, under another tag.
func canonicalQuery(raw string) string {
	if raw == "" {
		return ""
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return "?" + raw
	}
	return values.Encode()
}

// canonicalMediaType leaves out what does not change a body's meaning: the spelling of the type, the order of
// parameters, and charset=utf-8 where JSON has no other.
func canonicalMediaType(raw, mediaType string, params map[string]string, err error) string {
	if err != nil {
		return raw
	}
	if isJSON(mediaType) && strings.EqualFold(params["charset"], "utf-8") {
		delete(params, "charset")
	}
	if len(params) == 0 {
		return mediaType
	}
	return mime.FormatMediaType(mediaType, params)
}

// isJSON knows application/json and the +json suffix of RFC 6839.
func isJSON(mediaType string) bool {
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")
}

// body appends the canonical body, tagged by how it was read.
func (c *canonicalizer) body(mediaType string, body []byte) {
	start := len(c.out)
	switch {
	case isJSON(mediaType):
		c.out = append(c.out, 'J')
		if c.json(body) {
			return
		}
	case mediaType == "application/x-www-form-urlencoded":
		if pairs, err := url.ParseQuery(string(body)); err == nil {
			c.out = append(c.out, 'F')
			c.pairs(pairs)
			return
		}
	}
	c.out = append(c.out[:start], 'B')
	c.out = append(c.out, body...)
}

func (c *canonicalizer) pairs(pairs url.Values) {
	names := make([]string, 0, len(pairs))
	for name := range pairs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range pairs[name] {
			c.part(name)
			c.part(value)
		}
	}
}

func (c *canonicalizer) part(s string) { c.out = appendPart(c.out, s) }
