// Package sources makes keys from what does not tell operations apart, or changes when it is made again.
package sources

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

type client struct {
	sequence atomic.Int64
	count    int
}

func clocks(req *http.Request, order string) {
	req.Header.Set("Idempotency-Key", strconv.FormatInt(time.Now().UnixNano(), 10)) // want `freshkey: this key is made from the time`
	now := time.Now()
	stamp := now.Format(time.RFC3339)
	req.Header.Set("Idempotency-Key", fmt.Sprintf("%s-%s", order, stamp)) // want `made from the time`
	req.Header = http.Header{"X-Idempotency-Key": {stamp}}                // want `made from the time`
}

func (c *client) counters(req *http.Request) {
	req.Header.Set("Idempotency-Key", fmt.Sprint(c.sequence.Add(1))) // want `made from a counter`
	c.count++
	req.Header.Set("Idempotency-Key", "key-"+strconv.Itoa(c.count)) // want `made from a counter`
	for i := range 10 {
		req.Header.Set("Idempotency-Key", fmt.Sprintf("key-%d", i)) // want `made from a counter`
	}
}

func (c *client) hashes(req *http.Request, body []byte, order any) {
	sum := sha256.Sum256(body)
	req.Header.Set("Idempotency-Key", hex.EncodeToString(sum[:])) // want `a hash of the body`
	h := sha256.New()
	h.Write(body)
	req.Header.Set("Idempotency-Key", fmt.Sprintf("%x", h.Sum(nil))) // want `a hash of the body`
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write(body)
	req.Header.Set("Idempotency-Key", hex.EncodeToString(mac.Sum(nil)))         // want `a hash of the body`
	req.Header.Set("Idempotency-Key", uuid.NewSHA1(uuid.UUID{}, body).String()) // want `a hash of the body`
	req.Header.Set("Idempotency-Key", keyOf(body))                              // want `a hash of the body`
	text, _ := json.Marshal(order)
	again, _ := http.NewRequest("POST", "http://example.com", bytes.NewReader(text))
	again.Header.Set("Idempotency-Key", keyOf(text)) // want `a hash of the body`
}

func keyOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
