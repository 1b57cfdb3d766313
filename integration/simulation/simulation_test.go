package simulation

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seeds    = flag.Uint64("seeds", 0, "how many seeds TestSeeds plays (default 5000; 500 with the race detector or -short), and TestReplay (150)")
	oneSeed  = flag.String("seed", "", "the seed that TestSeed plays")
	duration = flag.Duration("duration", 0, "how long TestSoak plays")
)

// corpus has a file for each seed that ever found something; the file's name is the seed.
const corpus = "testdata/seeds"

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400) // worlds are small and short-lived
	os.Exit(m.Run())
}

// TestSeeds plays seeds from 0 on. Between them they come to F01, F03, F04, F05, F07, F08, F09, F10, F11, F12, F13, F14, F15,
// F16, F19, F20, F22, F25, F26, F27, F36, F37, F39, F44, F63, F85, F86, F87, F88, F89, F90, F91, F92, F95 and F99, and the
// invariants say what must come of them.
func TestSeeds(t *testing.T) {
	n := *seeds
	if n == 0 && (raceDetector || testing.Short()) {
		n = 500
	} else if n == 0 {
		n = 5000
	}
	var s series
	start := time.Now()
	s.play(t, func(played uint64) (seed uint64, more bool) { return played, played < n })
	t.Logf("%d seeds, %d attempts in %v: %.0f seeds/s", n, s.attempts.Load(), time.Since(start).Round(time.Second), float64(n)/time.Since(start).Seconds())
	if n >= 500 {
		s.checkVariety(t)
	}
}

// TestSoak plays new seeds for as long as -duration says, and tells every few seconds how far it is.
func TestSoak(t *testing.T) {
	if *duration == 0 {
		t.Skip("no -duration")
	}
	start := time.Now()
	first, next := uint64(start.UnixNano()), 5*time.Second
	var s series
	var mu sync.Mutex
	s.play(t, func(played uint64) (seed uint64, more bool) {
		mu.Lock()
		defer mu.Unlock()
		if took := time.Since(start); took > next {
			next = took + 5*time.Second
			t.Logf("%8v  %d seeds, %.1f seeds/s, %d attempts, %d seeds failed", took.Round(time.Second), played, float64(played)/took.Seconds(), s.attempts.Load(), s.failed.Load())
		}
		return first + played, time.Since(start) < *duration
	})
	t.Logf("seeds %d to %d", first, first+s.played.Load())
}

// TestSeed plays the seed of the flag and prints its history.
func TestSeed(t *testing.T) {
	if *oneSeed == "" {
		t.Skip("no -seed")
	}
	seed, err := strconv.ParseUint(*oneSeed, 10, 64)
	if err != nil {
		t.Fatalf("-seed: %v", err)
	}
	r := Play(t, seed, Flaw{})
	t.Log(strings.Join(r.History, "\n"))
	if len(r.Violations) > 0 {
		t.Error(r.Violations)
	}
}

// TestCorpus plays the seeds that once found something.
func TestCorpus(t *testing.T) {
	files, err := os.ReadDir(corpus)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range files {
		seed, err := strconv.ParseUint(f.Name(), 10, 64)
		if err != nil {
			t.Errorf("%s: a file of the corpus is named by its seed", f.Name())
			continue
		}
		if r := Play(t, seed, Flaw{}); len(r.Violations) > 0 {
			t.Error(report(r))
		}
	}
}

// TestReplay plays seeds twice. Their histories must be the same, line by line.
func TestReplay(t *testing.T) {
	n := cmp.Or(*seeds, 150)
	if raceDetector || testing.Short() {
		n = min(n, 30)
	}
	for seed := range n {
		a, b := Play(t, seed, Flaw{}), Play(t, seed, Flaw{})
		for i, line := range a.History {
			if i >= len(b.History) || line != b.History[i] {
				t.Fatalf("seed %d is played differently from line %d on:\n%s\nthen\n%s", seed, i,
					strings.Join(a.History[max(0, i-10):i+1], "\n"), strings.Join(b.History[i:min(i+1, len(b.History))], "\n"))
			}
		}
		if len(a.History) != len(b.History) {
			t.Fatalf("seed %d has %d lines, then %d", seed, len(a.History), len(b.History))
		}
	}
}

// TestFlaws proves that runs find mistakes: each flaw breaks one of its invariants within a number of seeds.
func TestFlaws(t *testing.T) {
	if raceDetector || testing.Short() {
		t.Skip("many seeds, and nothing that TestSeeds would not run")
	}
	for _, f := range flaws {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			var found []string
			for seed := range uint64(1000) {
				for _, v := range Play(t, seed, f.Flaw).Violations {
					if found = append(found, v.Code); slices.Contains(strings.Fields(f.codes), v.Code) {
						t.Logf("seed %d: %v", seed, v)
						return
					}
				}
			}
			t.Errorf("1000 seeds break none of %s, but %v", f.codes, found)
		})
	}
}

// series plays many seeds at once.
type series struct {
	played, attempts, failed atomic.Uint64

	mu   sync.Mutex
	told map[string]int // guarded by mu
}

// play plays seeds as long as next has one, which is told how many were played before.
func (s *series) play(t *testing.T, next func(played uint64) (seed uint64, more bool)) {
	t.Run("workers", func(t *testing.T) {
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				for s.failed.Load() < 10 {
					seed, more := next(s.played.Add(1) - 1)
					if !more {
						return
					}
					s.note(t, Play(t, seed, Flaw{}))
				}
			})
		}
	})
}

func (s *series) note(t *testing.T, r Result) {
	s.attempts.Add(uint64(r.Attempts))
	if len(r.Violations) > 0 {
		s.failed.Add(1)
		t.Error(report(r))
		keep(t, r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil {
		s.told = map[string]int{}
	}
	for what, n := range r.Told {
		s.told[what] += n
	}
}

// checkVariety fails if the runs did not come to everything that a caller can be told.
func (s *series) checkVariety(t *testing.T) {
	for _, what := range []string{"its own response (first)", "its own response (released)", "its own response (orphaned)",
		"its own response (not_recorded)", "a recorded response (replay)", "a recorded response (fenced)", "in-progress (in_progress)", "in-progress (fenced)",
		"key-reused (mismatch)", "replay-forbidden (forbidden)", "store-unavailable (store_error)", "outcome-unknown, for good (unresolved)",
		"outcome-unknown, for now (unanswered)", "outcome-unknown, for now (orphaned)", "handler-failed (orphaned)", "handler-failed (released)",
		"against the rules (rejected)", "nothing (orphaned)", "handler-failed (uncompensated)", "(an undo)", "(an undo that goes on)", "(a stage after a recorded one)"} {
		if s.told[what] == 0 {
			t.Errorf("no caller was ever told: %s", what)
		}
	}
	if t.Failed() {
		t.Log(s.told)
	}
}

// report is a failed run, with the command that plays it again.
func report(r Result) string {
	return fmt.Sprintf("seed %d: %v\n%s\nplay it again:\n\tgo test ./integration/simulation -run 'TestSeed$' -seed %d -v",
		r.Seed, r.Violations[0], strings.Join(r.History[max(0, len(r.History)-40):], "\n"), r.Seed)
}

// keep adds a seed to the corpus.
func keep(t *testing.T, r Result) {
	text := fmt.Sprintf("%v\n", r.Violations[0])
	err := os.MkdirAll(corpus, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(corpus, strconv.FormatUint(r.Seed, 10)), []byte(text), 0o644)
	}
	if err != nil {
		t.Errorf("keeping the seed: %v", err)
	}
}
