package httpclient

import (
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter reads how long the server wants to be left alone (RFC 9110, section 10.2.3): seconds, or a date, which is
// compared with the server's own clock where it tells its time. It is zero where there is no such wish, or none that can
// be read.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > math.MaxInt64/int64(time.Second) {
			return math.MaxInt64
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now))
}

// pause is how long to wait after the n-th attempt: what the server asks for, and a random time on top, so that clients
// that were turned away together do not come back together.
func (c *Config) pause(n int, after time.Duration) time.Duration {
	backoff := c.MinBackoff
	for ; n > 1 && backoff < c.MaxBackoff; n-- {
		backoff = min(2*backoff, c.MaxBackoff)
	}
	return min(after, c.MaxRetryAfter) + rand.N(backoff)
}
