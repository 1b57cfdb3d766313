package chaos

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// tally counts what happened.
type tally struct {
	start time.Time

	mu       sync.Mutex // guards the following
	finished int
	requests int
	replays  int
	answers  map[string]int // by name
	acts     map[string]int // what the agitator did
	charges  int
	doubled  int
	left     map[string]int // what else there is in the end
}

func newTally() *tally {
	return &tally{start: time.Now(), answers: map[string]int{}, acts: map[string]int{}, left: map[string]int{}}
}

func (y *tally) count(r reply) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.requests++
	y.answers[r.name()]++
	if r.replayed {
		y.replays++
	}
}

func (y *tally) act(what string, n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.acts[what] += n
}

func (y *tally) finish() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.finished++
}

func (y *tally) done() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.finished
}

// progress prints a line now and then.
func (y *tally) progress(ctx context.Context, out io.Writer, of int) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			y.mu.Lock()
			fmt.Fprintf(out, "%5.0f s  %d of %d operations, %d requests, %d kills, %d restarts\n",
				time.Since(y.start).Seconds(), y.finished, of, y.requests, y.kills(), y.acts[actRestart])
			y.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// kills counts the killed processes. Called with mu held, or at the end.
func (y *tally) kills() int { return y.acts[actKilled] }

// gateway counts the answers of the gateway itself: a function gave none.
func (y *tally) gateway() int { return y.answers["500 gateway"] + y.answers["503 gateway"] }

// unexplained says which failures of functions nobody caused. The gateway answers for a function only where its process
// was killed or timed out, and the log says so each time.
func (y *tally) unexplained(l *logWatch) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if caused := l.crashes + l.timeouts; y.gateway() > caused {
		found = append(found, fmt.Sprintf("%d answers of the gateway, but only %d crashes and timeouts", y.gateway(), caused))
	}
	return append(found, l.strange...)
}

// print writes the final table. Called at the end.
func (y *tally) print(out io.Writer, operations int, l *logWatch) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(table, "%s\t%v\n", name, value) }
	row("operations", operations)
	row("seconds", int(time.Since(y.start).Seconds()))
	row("requests", y.requests)
	rows(row, "  answered ", y.answers)
	row("replays", y.replays)
	row("409s", countPrefix(y.answers, "409"))
	row("kills", y.kills())
	rows(row, "  ", y.acts)
	row("restarts", y.acts[actRestart])
	l.mu.Lock()
	defer l.mu.Unlock()
	row("crashes seen", l.crashes)
	row("timeouts", l.timeouts)
	rows(row, "  guard says ", l.outcomes)
	row("charges", y.charges)
	row("doubled", y.doubled)
	rows(row, "", y.left)
	table.Flush()
}

func rows(row func(string, any), prefix string, counts map[string]int) {
	for _, name := range slices.SortedFunc(maps.Keys(counts), cmp.Compare[string]) {
		row(prefix+name, counts[name])
	}
}

func countPrefix(counts map[string]int, prefix string) (n int) {
	for name, c := range counts {
		if strings.HasPrefix(name, prefix) {
			n += c
		}
	}
	return n
}
