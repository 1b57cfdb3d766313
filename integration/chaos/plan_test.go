package chaos

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// operation is one payment or order, made under one key until it has a final answer.
type operation struct {
	at     *endpoint
	key    string // and the operation's reference
	body   string
	seed   uint64 // of its client's behaviour
	copies int    // sent beside each of the first two tries
}

// maxPatience is how long an operation may take. A lease is over after the function's timeout and the margin.
const maxPatience = 3 * time.Minute

// planPayments makes n different payments.
func planPayments(rng *rand.Rand, n int) []operation {
	ops := make([]operation, n)
	for i := range ops {
		op := planned(rng, payments, i)
		metadata := ""
		if rng.IntN(5) == 0 { // an answer that needs body items
			metadata = fmt.Sprintf(`,"metadata":{"note":"%s"}`, strings.Repeat(fmt.Sprintf("%016x", rng.Uint64()), 200))
		}
		op.body = fmt.Sprintf(`{"amount":%d,"currency":"EUR","source":"%s","reference":"%s"%s}`, 1+rng.IntN(100_000), source(rng), op.key, metadata)
		ops[i] = op
	}
	return ops
}

// planned is the i-th operation without its body.
func planned(rng *rand.Rand, at *endpoint, i int) operation {
	op := operation{at: at, key: fmt.Sprintf("chaos-%05d", i), seed: rng.Uint64()}
	if rng.IntN(4) == 0 {
		op.copies = 1 + rng.IntN(3)
	}
	return op
}

// source is a test token of the provider. Some are slower than the function may be.
func source(rng *rand.Rand) string {
	beyond := int(functionTimeout/time.Millisecond) + 1000
	switch p := rng.IntN(100); {
	case p < 30:
		return "tok_ok"
	case p < 45:
		return "tok_lost"
	case p < 55:
		return "tok_flaky"
	case p < 65:
		return "tok_busy"
	case p < 78:
		return fmt.Sprintf("tok_slow_%d", 50+rng.IntN(1500))
	case p < 90:
		return fmt.Sprintf("tok_slow_after_%d", 50+rng.IntN(1500))
	case p < 92:
		return fmt.Sprintf("tok_slow_%d", beyond)
	case p < 94:
		return fmt.Sprintf("tok_slow_after_%d", beyond)
	}
	return "tok_declined"
}
