package sandbox

import (
	"sync"
	"time"
)

// maxTimings is how many of the last requests are kept.
const maxTimings = 16_384

// timing is one request that a function answered.
type timing struct {
	Total    time.Duration // from the gateway's first look at the request until its response was written
	Function time.Duration // from the Runtime API's answer to next until the response was posted
}

// timings keeps the latest ones.
type timings struct {
	mu   sync.Mutex // guards the following
	ring []timing
	next int
}

func (t *timings) add(one timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ring) < maxTimings {
		t.ring = append(t.ring, one)
		return
	}
	t.ring[t.next] = one
	t.next = (t.next + 1) % maxTimings
}

// take returns what is kept, in no particular order, and forgets it.
func (t *timings) take() []timing {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.ring
	t.ring, t.next = nil, 0
	return out
}
