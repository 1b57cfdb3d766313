package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// reply is one answer, or none.
type reply struct {
	status   int
	code     string // of a problem document
	replayed bool
	location string
	media    string
	body     string
	after    time.Duration // Retry-After
	err      error
}

// result is what one operation came to. Its replies are those that were final.
type result struct {
	op     operation
	finals []reply
	wrong  []string // answers that must never be met
}

// customer makes payments and orders, one at a time.
type customer struct {
	host  *host
	tally *tally
	http  *http.Client
}

// pay sends an operation until it has a final answer, as clients do: with copies, hanging up early at times, and waiting
// as long as it was told at times.
func (c *customer) pay(ctx context.Context, op operation) *result {
	r := &result{op: op}
	rng := rand.New(rand.NewPCG(op.seed, 3))
	ctx, cancel := context.WithTimeout(ctx, maxPatience)
	defer cancel()
	for try := 0; len(r.finals) == 0 && ctx.Err() == nil; try++ {
		copies := 0
		if try < 2 {
			copies = op.copies
		}
		replies := c.send(ctx, op, 1+copies, patience(rng, try))
		r.take(replies)
		if len(r.finals) == 0 {
			sleep(ctx, pause(rng, replies))
		}
	}
	return r
}

// patience is how long the client waits for an answer: now and then not long enough.
func patience(rng *rand.Rand, try int) time.Duration {
	if try < 3 && rng.IntN(5) == 0 {
		return time.Duration(5+rng.IntN(500)) * time.Millisecond
	}
	return 40 * time.Second // longer than the gateway's limit
}

// pause is how long the client waits before it tries again: as it was told, or less.
func pause(rng *rand.Rand, replies []reply) time.Duration {
	told := replies[0].after
	if told > 0 && rng.IntN(3) > 0 {
		return told + time.Duration(rng.IntN(250))*time.Millisecond
	}
	return time.Duration(50+rng.IntN(500)) * time.Millisecond
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// send sends an operation n times at once. The first one is given up after patience.
func (c *customer) send(ctx context.Context, op operation, n int, patience time.Duration) []reply {
	replies := make([]reply, n)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			limit := 40 * time.Second
			if i == 0 {
				limit = patience
			}
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			replies[i] = c.post(ctx, op)
			c.tally.count(replies[i])
		})
	}
	wg.Wait()
	return replies
}

func (c *customer) post(ctx context.Context, op operation) reply {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.host.url()+op.at.path, strings.NewReader(op.body))
	if err != nil {
		return reply{err: err}
	}
	req.GetBody = nil // net/http would send a keyed request again by itself
	req.Header.Set("Authorization", "Bearer "+c.host.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", op.key)
	return answered(c.http.Do(req))
}

// answered reads an answer.
func answered(res *http.Response, err error) reply {
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{err: err}
	}
	r := reply{status: res.StatusCode, replayed: res.Header.Get("Idempotent-Replayed") == "true",
		location: res.Header.Get("Location"), media: res.Header.Get("Content-Type"), body: string(body)}
	r.after, _ = time.ParseDuration(res.Header.Get("Retry-After") + "s")
	if strings.HasPrefix(r.media, "application/problem+json") {
		var doc struct{ Code string }
		_ = json.Unmarshal(body, &doc) // without a code it is an answer that must not be met
		r.code = doc.Code
	}
	return r
}

// name says what an answer is: "201", "409 in-progress", "500 gateway".
func (r reply) name() string {
	switch {
	case errors.Is(r.err, context.DeadlineExceeded):
		return "hung up"
	case r.err != nil:
		return "connection lost"
	case r.code != "":
		return fmt.Sprint(r.status, " ", r.code)
	case r.status >= 500:
		return fmt.Sprint(r.status, " gateway")
	}
	return fmt.Sprint(r.status)
}

// same reports whether two final answers are the same to a client, byte for byte.
func (r reply) same(o reply) bool {
	return r.status == o.status && r.body == o.body && r.location == o.location && r.media == o.media
}

// take keeps the replies that are final and those that must not be met.
func (r *result) take(replies []reply) {
	for _, one := range replies {
		switch {
		case slices.Contains(r.op.at.finals, one.name()):
			r.finals = append(r.finals, one)
		case one.err == nil && !slices.Contains(r.op.at.again, one.name()):
			r.wrong = append(r.wrong, fmt.Sprintf("%s: answered %s: %.200s", r.op.key, one.name(), one.body))
		}
	}
}
