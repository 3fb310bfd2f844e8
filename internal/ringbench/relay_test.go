package ringbench

import (
	"testing"
	"time"

	"quern.dev/gpu"
)

func TestRelaysPassBallsOn(t *testing.T) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			dev := open(t, b)
			for _, c := range []struct {
				name          string
				actors, balls int
			}{
				{"one ball between two", 2, 1},
				{"more balls than actors", 3, 8},
				{"an actor by itself", 1, 1},
			} {
				r, err := MeasureRelay(t.Context(), dev, c.actors, c.balls, 20*time.Millisecond)
				if err != nil || r.Passed == 0 || r.Took <= 0 {
					t.Errorf("%s: %+v, %v", c.name, r, err)
				}
				if timed := c.balls == 1 && b != gpu.Sim; (r.P50 > 0) != timed || r.P50 > r.P99 {
					t.Errorf("%s: round trips %v and %v", c.name, r.P50, r.P99)
				}
			}
		})
	}
}

func TestTripBuckets(t *testing.T) {
	for v := uint64(0); v < 1<<32; v += 1 + v/13 {
		m := tripMiddle(tripBucket(uint32(v)))
		if v >= 32 && (m < float64(v)*31/33 || m > float64(v)*33/31) || v < 32 && m != float64(v)+0.5 {
			t.Fatalf("%d is in the bucket of %v", v, m)
		}
	}
	if n := tripBucket(1<<32 - 1); n >= tripBuckets {
		t.Errorf("the last bucket is %d of %d", n, tripBuckets)
	}
}
