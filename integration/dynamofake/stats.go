package dynamofake

import (
	"maps"
	"sync"
)

// Stats counts what the server was asked since it was opened or reset.
type Stats struct {
	// Calls counts the requests by call, SDK retries and refused ones included.
	Calls map[string]int
	// WriteUnits and ReadUnits are the consumed capacity by the documented
	// rules, with that of conditional writes that failed.
	WriteUnits, ReadUnits float64
}

// counters is the live form of Stats.
type counters struct {
	mu sync.Mutex
	Stats
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	out := s.stats.Stats
	out.Calls = maps.Clone(s.stats.Calls)
	if out.Calls == nil {
		out.Calls = map[string]int{}
	}
	return out
}

// Reset clears the counters and the faults that are not used up. Data stays,
// and a delayed write that has begun still lands.
func (s *Server) Reset() {
	s.faults.clear()
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	s.stats.Stats = Stats{}
}

// called counts a call.
func (c *counters) called(op string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Calls == nil {
		c.Calls = map[string]int{}
	}
	c.Calls[op]++
}

// wrote adds write units.
func (c *counters) wrote(units float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.WriteUnits += units
}

// read adds read units.
func (c *counters) read(units float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ReadUnits += units
}
