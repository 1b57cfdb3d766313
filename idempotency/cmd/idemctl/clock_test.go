package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// drifting is a clock that is wrong.
func drifting(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}

// TestWrongClock: an operator's clock that is ahead must not end the lease of a run that is alive; what the clocks say is
// told. One that is behind can be set right; one that cannot be compared needs a margin: F19.
func TestWrongClock(t *testing.T) {
	missing := func(time.Time) []string { return nil }
	garbled := func(time.Time) []string { return []string{"noon"} }
	hourAhead := func(now time.Time) []string { return []string{now.Add(time.Hour).UTC().Format(http.TimeFormat)} }
	for name, tt := range map[string]struct {
		lease time.Duration // its end, from now
		ahead time.Duration // the operator's clock
		dates func(time.Time) []string
		told  bool   // the clocks' difference
		want  string // why it is refused; "": it is not
	}{
		"clock ahead, run alive":             {20 * time.Second, 35 * time.Second, nil, true, "the store's clock says"},
		"clock ahead, lease over":            {-5 * time.Second, 35 * time.Second, nil, true, ""},
		"clock behind, lease over":           {-time.Minute, -time.Hour, nil, true, "set this machine's clock right"},
		"clocks agree, lease over":           {-5 * time.Second, 0, nil, false, ""},
		"not known, lease just over":         {-20 * time.Second, 0, missing, false, "must be over for 5m0s"},
		"not readable, lease just over":      {-20 * time.Second, 0, garbled, false, "must be over for 5m0s"},
		"not known, lease over for a margin": {-6 * time.Minute, 0, missing, false, ""},
		"the database's clock is ahead":      {20 * time.Second, 0, hourAhead, true, "set this machine's clock right"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			id := strings.Repeat("i", idLength)
			d.put(id, item{"lease_until": millis(time.Now().Add(tt.lease))})
			d.dates, d.now = tt.dates, drifting(tt.ahead)
			code, _, stderr := d.ctl(nil, "release", id, "--yes")
			if want := tt.want; (code == 0) != (want == "") || !strings.Contains(stderr, want) {
				t.Errorf("exit status %d, want it refused because %q: %s", code, want, stderr)
			}
			if told := strings.Contains(stderr, " ahead of the database's") || strings.Contains(stderr, " behind the database's"); told != tt.told {
				t.Errorf("the clocks' difference is told: %v", told)
			}
		})
	}
}

// TestGivenUpNeedsNoClock: what its run gave up by itself is an orphan by every clock.
func TestGivenUpNeedsNoClock(t *testing.T) {
	d := newDesk(t)
	id := d.orphan()
	d.dates, d.now = func(time.Time) []string { return nil }, drifting(-time.Hour)
	code, _, stderr := d.ctl(nil, "release", id, "--yes")
	d.want(code, 0, stderr)
}

// TestStatesBySafeClock: inspect and watch call a run alive by the same clock that a change would be refused by.
func TestStatesBySafeClock(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	d.put(id, item{"lease_until": millis(time.Now().Add(20 * time.Second))})
	d.now = drifting(35 * time.Second)
	for _, args := range [][]string{{"inspect", id}, {"watch"}} {
		code, out, stderr := d.ctl(nil, args...)
		d.want(code, 0, stderr)
		if !strings.Contains(out, stateLive) || strings.Contains(out, stateOrphan) {
			t.Errorf("%v: %s", args, out)
		}
	}
}
