// Package differential compares dynamofake with other implementations of DynamoDB. Both are sent the same random
// calls, from a seed; what they answer and what is in their tables in the end must be the same. On a difference the
// test prints the seed and the shortest sequence of calls that shows it.
//
// The peers are dynalite (single items and batches; `make dynalite` installs it), moto_server (transactions, ALL_OLD
// on failure, streams), and any endpoint that is named:
//
//	go test ./integration/differential -count=1 -v
//	go test ./integration/differential -count=1 -v -timeout 0 -run Dynalite -args -sequences 10000
//	go test ./integration/differential -count=1 -v -run Dynalite -args -seed 77 -sequences 1
//	DYNAMODB_ENDPOINT=http://127.0.0.1:8000 go test ./integration/differential -count=1 -v -run Endpoint
//
// A named endpoint is asked with the SDK's own credentials and Region, so it can be DynamoDB Local or AWS, where it
// costs what some ten calls a sequence cost on demand, and time. Tables named differential-… are made there, and
// deleted again.
//
// Where a peer is known to be wrong, its table of faults says by which documented rule.
package differential

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var (
	sequences = flag.Int("sequences", 1000, "how many sequences of calls are compared")
	seed      = flag.Uint64("seed", 1, "seed of the first sequence; the next one has the next seed")
	// To see at once all in which a new endpoint differs.
	differences = flag.Int("differences", 1, "how many different differences are shown before the test gives up")
	longest     = flag.Int("longest", 24, "the longest sequence has this many calls")
)

// TestDynalite compares with dynalite, whose rules and messages were written down from the service's answers.
func TestDynalite(t *testing.T) {
	compareWith(t, startDynalite(t), *sequences)
}

// TestMoto compares with moto_server. It takes several milliseconds for a call, so a twentieth of the sequences is run.
func TestMoto(t *testing.T) {
	compareWith(t, startMoto(t), (*sequences+19)/20)
}

// TestEndpoint compares with the endpoint that DYNAMODB_ENDPOINT names.
func TestEndpoint(t *testing.T) {
	compareWith(t, namedEndpoint(t), *sequences)
}

// compareWith plays sequences until one shows a difference that no known fault explains.
func compareWith(t *testing.T, p *peer, n int) {
	if testing.Short() {
		n = min(n, 50)
	}
	d := newDuel(t, p)
	began := time.Now()
	total := newTally()
	var shown []*difference
	for i := range n {
		if p.lasts > 0 && i > 0 && i%p.lasts == 0 {
			d.revive()
		}
		seed := *seed + uint64(i)
		calls := sequence(seed, p.features)
		v := d.play(calls)
		total.add(v)
		if v.difference == nil || slices.ContainsFunc(shown, v.difference.alike) {
			continue
		}
		t.Errorf("%s, seed %d: %v\nReproduce it with -args -seed %d -sequences 1", p.name, seed, d.shrink(calls, v.difference), seed)
		if shown = append(shown, v.difference); len(shown) == *differences {
			break
		}
	}
	fmt.Fprintf(t.Output(), "%s: %d sequences from seed %d in %v, %d unexplained differences\n%v",
		p.name, total.sequences, *seed, time.Since(began).Round(time.Second), total.unexplained, total.report(p.faults))
}

// sequence is the sequence of calls of a seed.
func sequence(seed uint64, f features) []call {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), features: f}
	g.favourite = &tables[g.IntN(len(tables))]
	calls := make([]call, 1+g.IntN(*longest))
	for i := range calls {
		if i < 2 {
			calls[i] = g.batchWrite() // so that there are items
		} else {
			calls[i] = g.call()
		}
	}
	return calls
}
