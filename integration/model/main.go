// Command model checks the protocol of package idempotency (its conditional writes are in write.go, its decision in
// decide.go) by visiting every state of small bounded worlds. See README.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// model is one world, with at most one condition of the protocol changed.
type model struct {
	cfg     *config
	mut     mutation
	labels  bool
	within  bool // clocks differ by no more than the margin
	slowest int  // offset of the slowest clock
	lead    int  // how much earlier than the slowest clock a record may be gone
}

func newModel(cfg *config, mut mutation) *model {
	m := &model{cfg: cfg, mut: mut, slowest: cfg.offset[0]}
	fastest := cfg.offset[0]
	for _, x := range cfg.offset[:cfg.attempts] {
		m.slowest, fastest = min(m.slowest, x), max(fastest, x)
	}
	m.within = fastest-m.slowest <= cfg.skew
	m.lead = m.slowest + max(0, cfg.ttlOffset-m.slowest)
	if !m.within {
		m.lead = max(fastest, cfg.ttlOffset)
	}
	return m
}

func (m *model) is(x mutation) bool { return m.mut == x }

func main() {
	name := flag.String("config", "", "configuration to check, or all")
	mutate := flag.String("mutate", "", "mutation to check, or all")
	quick := flag.Bool("quick", false, "the quick configurations, and every mutation where it is caught")
	limit := flag.Int("max-states", 60_000_000, "stop a search after so many states; it then does not count as clean")
	verbose := flag.Bool("v", false, "print the shortest trace to each broken invariant")
	list := flag.Bool("list", false, "list configurations and mutations")
	flag.Parse()
	if *list {
		printLists()
		return
	}
	if *name == "" && *mutate == "" {
		*name, *mutate = "all", "all"
	}
	jobs, err := plan(*name, *mutate, *quick)
	if err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		os.Exit(2)
	}
	began := time.Now()
	failures := runAll(jobs, *limit, *verbose)
	fmt.Printf("%d searches, %d not as expected, %s\n", len(jobs), failures, time.Since(began).Round(time.Second))
	if failures > 0 {
		os.Exit(1)
	}
}
