package dynamofake

import (
	"encoding/binary"
	"strings"
)

// Limits of key values in bytes ("Quotas in Amazon DynamoDB": partition and sort
// keys). They hold for the keys of indexes too.
const (
	maxHashKey = 2048
	maxSortKey = 1024
)

// keyAttr is an attribute of a key.
type keyAttr struct {
	name string
	kind kind
}

// schema is the key of a table or index. Without a sort key, sort.name is "".
type schema struct {
	hash, sort keyAttr
}

func (s schema) hasSort() bool { return s.sort.name != "" }

// attrs are the attributes of the key.
func (s schema) attrs() []keyAttr {
	if s.hasSort() {
		return []keyAttr{s.hash, s.sort}
	}
	return []keyAttr{s.hash}
}

// has reports whether the attribute is part of the key.
func (s schema) has(name string) bool {
	return name == s.hash.name || s.hasSort() && name == s.sort.name
}

// of is the item's key attributes alone.
func (s schema) of(it item) item {
	out := make(item, 0, 2)
	for i := range it {
		if s.has(it[i].name) {
			out = append(out, it[i])
		}
	}
	return out
}

// encode is the position of an item in its table: first the hash of the
// partition key, so that a scan's segments are equal shares and its order is
// none that a program could rely on; then the key itself, in the service's
// order within a partition. The item must have the key attributes.
func (s schema) encode(it item) string {
	hash, _ := it.get(s.hash.name)
	out := appendPartition(make([]byte, 0, 64), hash)
	if s.hasSort() {
		v, _ := it.get(s.sort.name)
		out = append(out, v.text...)
	}
	return string(out)
}

// appendPartition writes the part of an encoded key that the items of one
// partition share.
func appendPartition(dst []byte, hash value) []byte {
	dst = binary.BigEndian.AppendUint64(dst, hash64(hash.text))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(hash.text)))
	return append(dst, hash.text...)
}

// hash64 is FNV-1a with a finisher: the same in every process, since keys are
// handed out to clients as pages' ends.
func hash64(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// appendOrdered writes a text so that what follows does not disturb its order:
// zero bytes are escaped and a shorter one ends it.
func appendOrdered(dst []byte, text string) []byte {
	for {
		i := strings.IndexByte(text, 0)
		if i < 0 {
			return append(append(dst, text...), 0, 1)
		}
		dst = append(append(dst, text[:i]...), 0, 0xff)
		text = text[i+1:]
	}
}

// checkKey checks the Key of a request: exactly the key attributes.
func (s schema) checkKey(key item) error {
	if len(key) != len(s.attrs()) {
		return errKeySchema
	}
	return s.checkKeyIn(key)
}

// checkKeyIn checks the key attributes of an item in the words for a Key.
func (s schema) checkKeyIn(it item) error {
	for _, a := range s.attrs() {
		v, ok := it.get(a.name)
		if !ok || v.kind != a.kind {
			return errKeySchema
		}
		if err := s.checkSize(a, v); err != nil {
			return err
		}
	}
	return nil
}

// checkItem checks the key attributes of an item that is put.
func (s schema) checkItem(it item) error {
	for _, a := range s.attrs() {
		v, ok := it.get(a.name)
		switch {
		case !ok:
			return misfit("One or more parameter values were invalid: Missing the key %s in the item", a.name)
		case v.kind != a.kind:
			return misfit("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s", a.name, a.kind, v.kind)
		}
		if err := s.checkSize(a, v); err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether an item has all key attributes, of the right types.
func (s schema) holds(it item) bool {
	for _, a := range s.attrs() {
		if v, ok := it.get(a.name); !ok || v.kind != a.kind {
			return false
		}
	}
	return true
}

// mustNotBeEmpty is the service's sentence about the value of a key.
func (a keyAttr) mustNotBeEmpty() string {
	what := "string"
	if a.kind == kindB {
		what = "binary"
	}
	return "The AttributeValue for a key attribute cannot contain an empty " + what + " value."
}

// checkSize checks that the value of a key attribute is not empty and not too
// long.
func (s schema) checkSize(a keyAttr, v value) error {
	switch {
	case v.text == "":
		return invalid("One or more parameter values are not valid. %s Key: %s", a.mustNotBeEmpty(), a.name)
	case a == s.hash && len(v.text) > maxHashKey:
		return invalid("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of%d bytes", maxHashKey)
	case a != s.hash && len(v.text) > maxSortKey:
		return invalid("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of %d bytes", maxSortKey)
	}
	return nil
}
