package httpclient

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"firstwriter/idempotency"
)

// An entry's file is this line with the SHA-256 of what follows, and then the entry as JSON.
const magic = "idempotent operation v1 "

// Reasons why a file is no entry. Each is told with the file's path.
var (
	errForeign  = errors.New("not an entry of this journal; move it away")
	errNewer    = errors.New("an entry of another version of this program")
	errDamaged  = errors.New("a damaged entry; an operation may be unfinished: find out by other means, then remove it")
	errUnsound  = errors.New("the entry could not be read back: the request has no good method, URL or key, or its answer no good status")
	errMisnamed = errors.New("an entry under a wrong name; it was renamed or copied")
)

// nameOf is the file name of a key's entry. A key itself may hold what names must not.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:]) + entrySuffix
}

func encode(e Entry) ([]byte, error) {
	if !e.sound() {
		return nil, errUnsound
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	if len(text) > maxEntry/2 {
		return nil, fmt.Errorf("the entry would be %d bytes long; do not keep such bodies", len(text))
	}
	return fmt.Appendf(nil, "%s%x\n%s\n", magic, sha256.Sum256(text), text), nil
}

func decode(file []byte) (e Entry, err error) {
	head, text, _ := bytes.Cut(file, []byte("\n"))
	sum, ok := bytes.CutPrefix(head, []byte(magic))
	switch {
	case len(file) == 0:
		return Entry{}, errDamaged
	case !ok && bytes.HasPrefix(head, []byte(magic[:len(magic)-2])):
		return Entry{}, errNewer
	case !ok:
		return Entry{}, errForeign
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if fmt.Sprintf("%x", sha256.Sum256(text)) != string(sum) {
		return Entry{}, errDamaged
	}
	lines := json.NewDecoder(bytes.NewReader(text))
	lines.DisallowUnknownFields()
	if err := lines.Decode(&e); err != nil || !e.sound() {
		return Entry{}, errForeign
	}
	return e, nil
}

// sound reports whether an entry is one that can have been written here.
func (e Entry) sound() bool {
	req, err := http.NewRequest(e.Method, e.URL, nil)
	_, keyErr := idempotency.ParseKey(http.Header{idempotency.KeyHeader: {quote(e.Key)}})
	body := sha256.Sum256(e.Body)
	hop := req
	if err == nil && e.Hop != "" {
		hop, err = http.NewRequest(e.Method, e.Hop, nil)
	}
	return err == nil && sameOrigin(req, hop) && keyErr == nil && req.URL.Host != "" && e.Method != "" && len(e.BodyHash) == sha256.Size &&
		(e.Body == nil || bytes.Equal(body[:], e.BodyHash)) && e.Until.After(e.At) &&
		(e.Status == 0 || e.Status >= 100 && e.Status <= 999)
}
