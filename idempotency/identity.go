package idempotency

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// hasher turns names into ids of 43 characters, base64url: SHA-256, or HMAC-SHA-256 where a secret is configured, over
// length-prefixed parts. The prefixes keep ("a|b", "c") and ("a", "b|c") apart.
type hasher struct {
	secret    []byte
	namespace string
}

// record is the id of the record for a key of a scope.
func (h hasher) record(scope, key string) string { return h.sum(h.namespace, scope, key) }

// principal is the stored form of a caller's name within a scope.
func (h hasher) principal(scope, name string) string {
	return h.sum(h.namespace, scope, "principal", name)
}

func (h hasher) sum(parts ...string) string {
	if len(h.secret) > 0 {
		return h.mac(parts)
	}
	var stack [512]byte
	return encodeSum(sha256.Sum256(appendParts(stack[:0], parts)))
}

func (h hasher) mac(parts []string) string {
	mac := hmac.New(sha256.New, h.secret)
	mac.Write(appendParts(nil, parts))
	return encodeSum([sha256.Size]byte(mac.Sum(nil)))
}

func appendParts(buf []byte, parts []string) []byte {
	for _, p := range parts {
		buf = appendPart(buf, p)
	}
	return buf
}

// encodeSum writes a hash in base64url, 43 characters.
func encodeSum(sum [sha256.Size]byte) string {
	var text [43]byte
	base64.RawURLEncoding.Encode(text[:], sum[:])
	return string(text[:])
}

// appendPart appends a part with its length in front.
func appendPart[T ~string | ~[]byte](buf []byte, part T) []byte {
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(part)))
	return append(buf, part...)
}

// newOwner makes the token of an attempt: 128 random bits.
func newOwner() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	var text [22]byte
	base64.RawURLEncoding.Encode(text[:], b[:])
	return string(text[:])
}
