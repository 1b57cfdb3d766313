package dynamofake

import (
	"encoding/base32"
	"encoding/binary"
	"math/rand/v2"
)

var idEncoding = base32.NewEncoding("0123456789ABCDEFGHIJKLMNOPQRSTUV").WithPadding(base32.NoPadding)

// requestID is a request id in the service's form: 52 letters and digits.
func requestID() string {
	var b [32]byte
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rand.Uint64())
	}
	return idEncoding.EncodeToString(b[:])
}
