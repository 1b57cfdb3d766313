// Package fine makes keys that are kept, or that are an operation's own.
package fine

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
)

type order struct {
	ID      string
	Created time.Time
}

// once makes the key before the loop.
func once(c *http.Client, body []byte) (resp *http.Response, err error) {
	key := uuid.NewString()
	for attempt := 0; attempt < 3; attempt++ {
		req, _ := http.NewRequest("POST", "http://example.com", bytes.NewReader(body))
		req.Header.Set("Idempotency-Key", key)
		req.Header.Set("X-Attempt", fmt.Sprint(attempt))
		req.Header.Set("X-Request-Id", uuid.NewString())
		if resp, err = c.Do(req); err == nil {
			return resp, nil
		}
	}
	return nil, err
}

// stamped puts the time before a random number, so that keys sort.
func stamped(req *http.Request) {
	buf := make([]byte, 8)
	rand.Read(buf)
	req.Header.Set("Idempotency-Key", fmt.Sprintf("%d_%x", time.Now().UnixNano(), buf))
}

// batch sends one operation a turn, each with a key of its own.
func batch(c *http.Client, orders []order) error {
	for range orders {
		req, _ := http.NewRequest("POST", "http://example.com", nil)
		req.Header.Set("Idempotency-Key", uuid.NewString())
		if _, err := c.Do(req); err != nil {
			return err
		}
	}
	for i := 0; i < len(orders); i++ {
		req, _ := http.NewRequest("POST", "http://example.com", nil)
		req.Header.Set("Idempotency-Key", uuid.NewString())
		if _, err := c.Do(req); err != nil {
			return err
		}
	}
	return nil
}

// derived makes keys from what tells operations apart.
func derived(req *http.Request, o order, run string, attempts int) {
	sum := sha256.Sum256([]byte(o.ID + "charge"))
	req.Header.Set("Idempotency-Key", hex.EncodeToString(sum[:]))
	req.Header.Set("Idempotency-Key", fmt.Sprintf("%s-%d", o.ID, o.Created.Unix()))
	for i := range 3 {
		req.Header.Set("Idempotency-Key", fmt.Sprintf("%s-%d", run, i)) // the i-th step of a run
	}
	text, _ := json.Marshal(o) // which is not what is sent
	sum = sha256.Sum256(text)
	req.Header.Set("Idempotency-Key", hex.EncodeToString(sum[:]))
	req.Header.Set("Idempotency-Key", "constant")
	req.Header.Set("Date", time.Now().String())
}

// lazily makes the key in the loop, but only once.
func lazily(c *http.Client, req *http.Request, key string) error {
	for range 3 {
		if key == "" {
			key = uuid.NewString()
		}
		req.Header.Set("Idempotency-Key", key)
		if _, err := c.Do(req); err == nil {
			return nil
		}
	}
	return nil
}

// server reads keys.
func server(w http.ResponseWriter, r *http.Request) {
	for i := 0; i < 3; i++ {
		if r.Header.Get("Idempotency-Key") == uuid.NewString() {
			return
		}
	}
}

// headers makes a key where the caller has none; the caller below has.
func headers(req *http.Request, key string) {
	if key == "" {
		key = uuid.NewString()
	}
	req.Header.Set("Idempotency-Key", key)
}

func keeps(c *http.Client, req *http.Request) error {
	for {
		headers(req, "order-42")
		if _, err := c.Do(req); err == nil {
			return nil
		}
	}
}
