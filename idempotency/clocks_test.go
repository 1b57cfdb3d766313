package idempotency

import (
	"strings"
	"testing"
	"time"
)

// TestResolutionClocks: the lease of a run must be over by the store's clock and by this machine's; where the store's is
// not known, for a margin. What was orphaned needs no clock. A refusal says what the clocks say: F19.
func TestResolutionClocks(t *testing.T) {
	lease := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return lease.Add(d) }
	for name, tt := range map[string]struct {
		lease  time.Time
		clocks Clocks
		want   []string // in the refusal; none: it is an orphan
	}{
		"both say it is over":          {lease, Clocks{Local: at(0), Store: at(0)}, nil},
		"this machine's is ahead":      {lease, Clocks{Local: at(30 * time.Second), Store: at(-5 * time.Second)}, []string{"until 2026-11-30T12:00:00Z", "store's clock says 2026-11-30T11:59:55Z", "machine's 2026-11-30T12:00:30Z"}},
		"this machine's is behind":     {lease, Clocks{Local: at(-time.Hour), Store: at(time.Minute)}, []string{"says 2026-11-30T11:00:00Z", "store's says 2026-11-30T12:01:00Z", "set this machine's clock right"}},
		"not known, within the margin": {lease, Clocks{Local: at(ClockMargin - time.Millisecond)}, []string{"over for 5m0s", "says 2026-11-30T12:04:59Z"}},
		"not known, beyond the margin": {lease, Clocks{Local: at(ClockMargin)}, nil},
		"orphaned at once":             {Orphaned(), Clocks{Local: at(0)}, nil},
	} {
		w, err := NewResolution(&Record{Version: SchemaVersion, Status: Processing, LeaseUntil: tt.lease}, nil, tt.clocks, time.Hour)
		if (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if err == nil && w.At.Before(tt.lease) {
			t.Errorf("%s: at %v, before the lease is over", name, w.At)
		}
	}
}

// TestResolutionInstant: what is written as the time has come by every clock.
func TestResolutionInstant(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for name, tt := range map[string]struct {
		clocks Clocks
		want   time.Time
	}{
		"ahead":     {Clocks{Local: now.Add(time.Hour), Store: now}, now},
		"behind":    {Clocks{Local: now.Add(-time.Hour), Store: now}, now.Add(-time.Hour)},
		"not known": {Clocks{Local: now}, now.Add(-ClockMargin)},
	} {
		w, err := NewResolution(&Record{Version: SchemaVersion, Status: Processing, LeaseUntil: Orphaned()}, nil, tt.clocks, time.Hour)
		if err != nil || !w.At.Equal(tt.want) {
			t.Errorf("%s: at %v, want %v, %v", name, w.At, tt.want, err)
		}
	}
}

// TestResolutionRetention: a clock that is behind must not make the answer expire early, nor one ahead late.
func TestResolutionRetention(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for _, local := range []time.Time{now.Add(-48 * time.Hour), now, now.Add(48 * time.Hour)} {
		w, err := NewResolution(&Record{Version: SchemaVersion, Status: Processing, LeaseUntil: Orphaned()}, nil, Clocks{Local: local, Store: now}, time.Hour)
		if err != nil || !w.ExpiresAt.Equal(now.Add(time.Hour)) {
			t.Errorf("this machine's clock at %v: expires %v, %v", local, w.ExpiresAt, err)
		}
	}
}

func TestClocksAhead(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for want, c := range map[time.Duration]Clocks{0: {Local: now}, time.Minute: {now.Add(time.Minute), now}, -time.Minute: {now.Add(-time.Minute), now}} {
		if got := c.Ahead(); got != want {
			t.Errorf("%+v: ahead by %v, want %v", c, got, want)
		}
	}
}
