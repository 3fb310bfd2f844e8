package ring

import (
	"testing"
	"time"
)

func TestRestartsAreLimitedWithinATime(t *testing.T) {
	start := time.Unix(0, 0)
	s := supervision{most: 2, within: 10 * time.Second}
	for _, tt := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true}, {9 * time.Second, true}, {11 * time.Second, true}, // the first restart no longer counts
		{12 * time.Second, false},
		{13 * time.Second, true}, // escalated: the count starts again
	} {
		if got := s.allows(start.Add(tt.at)); got != tt.want {
			t.Errorf("a restart after %v: allowed is %v, want %v", tt.at, got, tt.want)
		}
	}
}
