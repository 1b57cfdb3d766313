package idempotency

import (
	"bytes"
	"crypto/sha256"
)

// Fingerprint is what a request was: 34 bytes, the version of the rules below, the version of the [Selection], and a
// SHA-256 over length-prefixed method, path, query, media type, content encoding and body. It is stored with the
// record. A later request with the key is compared by the rules and the selection of the stored fingerprint, so that a
// deploy does not turn honest retries into errors.
//
// What counts as the same, by part:
//
//	method, path      byte for byte
//	query             pairs sorted by name; the values of one name in their order. One that does not parse: bytes
//	media type        without case, parameters sorted; charset=utf-8 of JSON and forms, and the boundary of multipart,
//	                  left out. One that does not parse, or is sent twice: bytes
//	JSON              (application/json, text/json, +json) by meaning, see below
//	form              (application/x-www-form-urlencoded) as the query
//	multipart/…       parts in their order; of each the headers, sorted by name, and the body's bytes
//	everything else   byte for byte; so is a body with a Content-Encoding
//
// In JSON, the order of members, white space, escapes and the spelling of numbers do not matter. Numbers are exact
// decimals: 1, 1.0 and 1e0 are one, -0 is 0, and 9007199254740993 is not 9007199254740992. Strings are not normalised.
// A JSON body is compared byte for byte if it
//
//   - is not JSON (RFC 8259), begins with a byte order mark, or has a charset other than UTF-8
//   - has invalid UTF-8 or a lone surrogate
//   - has an object with two names that are equal or differ in case only: which one a handler sees depends on order
//   - is nested deeper than 128, or has a number with an exponent of more than 18 digits
//
// So is a multipart body that is not exactly as RFC 2046 has it, or has more than 1,000 parts or 16 KiB of headers in
// one of them; a form that has a bad escape, more than 10,000 pairs, or a character that encoded forms have not (JSON sent
// as a form); and every body of more than 16 MiB.
//
// Two requests that are not the same by these rules never match, unless SHA-256 collides: the wrong operation is never
// replayed. The opposite is accepted: requests that mean the same to their handler may differ here (a default that one
// of them spells out, a letter composed in another way, a body that is compared byte for byte and was encoded anew).
// That costs the client a 422, and clients that send a retry as they sent the first request never see it.
type Fingerprint []byte

// rulesVersion is the version of these rules. A change of what any request's bytes are needs a new one, and the old
// rules stay for records that were made by them.
const rulesVersion = 1

const fingerprintSize = 2 + sha256.Size

// fingerprinter computes the fingerprints of an endpoint.
type fingerprinter struct {
	current *selection
	known   map[uint8]*selection // by version; the current one, former ones, and 0, the whole body
}

// newFingerprinter makes one that uses current for new records and still knows former ones. The error says which
// selection is wrong, and why.
func newFingerprinter(current Selection, former []Selection) (*fingerprinter, error) {
	f := &fingerprinter{known: map[uint8]*selection{0: {}}}
	for _, s := range append([]Selection{current}, former...) {
		if err := f.learn(s); err != nil {
			return nil, err
		}
	}
	f.current = f.known[current.Version]
	return f, nil
}

// of computes a request's fingerprint by the current rules. The request must not change while the result is in use.
func (f *fingerprinter) of(r *Request) requestPrint {
	return requestPrint{by: f, request: r, current: f.current.fingerprint(r)}
}

// requestPrint compares a request with stored fingerprints.
type requestPrint struct {
	by      *fingerprinter
	request *Request
	current Fingerprint // what a new record stores
}

// matches compares the request with a stored fingerprint, by the rules and the selection of the stored one. known is
// false where these are not known here.
func (p requestPrint) matches(stored Fingerprint) (same, known bool) {
	if len(stored) != fingerprintSize || stored[0] != rulesVersion {
		return false, false
	}
	s, known := p.by.known[stored[1]]
	if !known {
		return false, false
	}
	if s == p.by.current {
		return bytes.Equal(p.current, stored), true
	}
	return bytes.Equal(s.fingerprint(p.request), stored), true
}

// fingerprint computes what s selects of a request. Its own form is part of it: where two selections have one version
// by mistake, requests differ.
func (s *selection) fingerprint(r *Request) Fingerprint {
	c := canonicalizers.Get().(*canonicalizer)
	defer c.free()
	c.part(r.Method)
	c.part(r.Path)
	c.query(r.RawQuery)
	m := c.mediaType(r.Header)
	c.part(s.form)
	c.body(m, s, r.Body)
	sum := sha256.Sum256(c.out)
	print := append(make(Fingerprint, 0, fingerprintSize), rulesVersion, s.version)
	return append(print, sum[:]...)
}
