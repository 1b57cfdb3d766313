package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// noon is the time by the database's clock in these tests.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// clocks sets the Date of answers, and the operator's clock.
func (d *desk) clocks(date string, ahead time.Duration) {
	d.dates = []string{date}
	d.now = func() time.Time { return noon.Add(ahead) }
}

// TestWrongClock: an operator's clock that is ahead must not end the lease of a run that is alive; what the clocks say is
// told. One that is behind can be set right; one that cannot be compared needs a margin: F19.
func TestWrongClock(t *testing.T) {
	date := noon.Format(http.TimeFormat)
	for name, tt := range map[string]struct {
		lease time.Duration // its end, from noon
		ahead time.Duration // the operator's clock
		date  string
		told  bool   // the clocks' difference
		want  string // why it is refused; "": it is not
	}{
		"clock ahead, run alive":             {20 * time.Second, 35 * time.Second, date, true, "the store's clock says 2026-11-30T12:00:00Z"},
		"clock ahead, lease over":            {-5 * time.Second, 35 * time.Second, date, true, ""},
		"clock behind, lease over":           {-time.Minute, -time.Hour, date, true, "set this machine's clock right"},
		"clocks agree, run alive":            {time.Millisecond, time.Second, date, false, "may go on until"},
		"clocks agree, lease over":           {0, time.Second, date, false, ""},
		"not known, lease just over":         {-20 * time.Second, 0, "", false, "must be over for 5m0s"},
		"not readable, lease just over":      {-20 * time.Second, 0, "noon", false, "must be over for 5m0s"},
		"not known, lease over for a margin": {-5 * time.Minute, 0, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			id := strings.Repeat("i", idLength)
			d.put(id, item{"lease_until": millis(noon.Add(tt.lease))})
			d.clocks(tt.date, tt.ahead)
			code, _, stderr := d.ctl(nil, "release", id, "--yes")
			if want := tt.want; (code == 0) != (want == "") || !strings.Contains(stderr, want) {
				t.Errorf("exit status %d, want it refused because %q: %s", code, want, stderr)
			}
			if told := strings.Contains(stderr, "s ahead of the database's") || strings.Contains(stderr, "s behind the database's"); told != tt.told {
				t.Errorf("the clocks' difference is told: %v\n%s", told, stderr)
			}
		})
	}
}

// TestGivenUpNeedsNoClock: what its run gave up by itself is an orphan by every clock.
func TestGivenUpNeedsNoClock(t *testing.T) {
	d := newDesk(t)
	id := d.orphan()
	d.clocks("", -time.Hour)
	code, _, stderr := d.ctl(nil, "release", id, "--yes")
	d.want(code, 0, stderr)
}

// TestStatesBySafeClock: inspect and watch call a run alive by the same clock that a change would be refused by.
func TestStatesBySafeClock(t *testing.T) {
	d := newDesk(t)
	id := strings.Repeat("i", idLength)
	d.put(id, item{"lease_until": millis(noon.Add(20 * time.Second))})
	d.clocks(noon.Format(http.TimeFormat), 35*time.Second)
	for _, args := range [][]string{{"inspect", id}, {"watch"}} {
		code, out, stderr := d.ctl(nil, args...)
		d.want(code, 0, stderr)
		if !strings.Contains(out, stateLive) || strings.Contains(out, stateOrphan) || !strings.Contains(stderr, "35s ahead of the database's") {
			t.Errorf("%v: %s%s", args, out, stderr)
		}
	}
}
