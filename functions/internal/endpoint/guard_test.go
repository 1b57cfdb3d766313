package endpoint

import (
	"testing"
	"time"
)

func TestTimestampsSortAsText(t *testing.T) {
	whole := time.Date(2026, 11, 29, 21, 5, 7, 0, time.FixedZone("", 3600))
	if a, b := Timestamp(whole), Timestamp(whole.Add(time.Millisecond)); len(a) != len(b) || a >= b {
		t.Errorf("%s, %s", a, b)
	}
}
