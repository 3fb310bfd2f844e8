package ringbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// Relaying is the rate of messages between actors on the device. Each actor sends to the
// next, the last to the first, without the host.
type Relaying struct {
	Actors  int           `json:"actors"`
	Payload int           `json:"payload_bytes"`
	Balls   int           `json:"balls"` // in flight
	Passed  uint64        `json:"passed"`
	Took    time.Duration `json:"took_ns"`
	// Round trips of a ball through all actors, by the clock of the first actor's
	// multiprocessor, with an error of at most one thirtieth. They are measured only if
	// there is one ball, and not on the simulator, whose clock restarts with each launch.
	P50 time.Duration `json:"p50_ns,omitempty"`
	P99 time.Duration `json:"p99_ns,omitempty"`
}

// Rate returns the messages per second of all actors together.
func (r Relaying) Rate() float64 { return float64(r.Passed) / r.Took.Seconds() }

const (
	ballBytes  = 16 // size of a Ball
	relayBalls = 16 // per actor, when measuring the rate
)

// MeasureRelay has actors pass balls on.
func MeasureRelay(ctx context.Context, dev *gpu.Device, actors, balls int, d time.Duration) (r Relaying, err error) {
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	return measureRelay(ctx, rt, actors, balls, d)
}

func measureRelay(ctx context.Context, rt *ring.Runtime, actors, balls int, d time.Duration) (Relaying, error) {
	r := Relaying{Actors: actors, Payload: ballBytes, Balls: balls}
	relays := make([]*ring.Actor[Ball, uint64], actors)
	for i := range relays {
		var err error
		if relays[i], err = SpawnRelay(ctx, rt, ring.Options{}); err != nil {
			return r, err
		}
	}
	tell := func(b func(i int) Ball) error {
		for i, a := range relays {
			if _, err := a.Ask(ctx, b(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := tell(func(i int) Ball {
		return Ball{Kind: Aim, Next: relays[(i+1)%actors].Ref()}
	}); err != nil {
		return r, err
	}
	for i := range balls {
		if err := relays[i%actors].Tell(ctx, Ball{Kind: Flying}); err != nil {
			return r, err
		}
	}
	wait(ctx, d/10)
	before, err := passed(ctx, relays)
	begin := time.Now()
	if err != nil {
		return r, err
	}
	cycles, device, err := clocks(ctx, relays[0])
	if err != nil {
		return r, err
	}
	wait(ctx, d)
	after, err := passed(ctx, relays)
	r.Took = time.Since(begin)
	if err != nil {
		return r, err
	}
	r.Passed = after - before
	cyclesLater, deviceLater, err := clocks(ctx, relays[0])
	if err != nil {
		return r, err
	}
	if err := tell(func(int) Ball { return Ball{Kind: Stop} }); err != nil {
		return r, err
	}
	if r.Passed == 0 {
		return r, fmt.Errorf("no ball was passed on in %v", r.Took)
	}
	if balls == 1 && rt.Device().Backend() != gpu.Sim {
		perCycle := float64(deviceLater-device) / float64(cyclesLater-cycles)
		r.P50, r.P99, err = trips(ctx, relays[0], perCycle)
	}
	return r, err
}

// wait waits for d or until ctx is canceled.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// passed returns the total number of balls that relays have passed on.
func passed(ctx context.Context, relays []*ring.Actor[Ball, uint64]) (uint64, error) {
	sum := uint64(0)
	for _, a := range relays {
		n, err := a.Ask(ctx, Ball{Kind: Passed})
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// clocks returns the clocks of a relay.
func clocks(ctx context.Context, a *ring.Actor[Ball, uint64]) (cycles, nanoseconds uint64, err error) {
	if cycles, err = a.Ask(ctx, Ball{Kind: Cycles}); err != nil {
		return 0, 0, err
	}
	nanoseconds, err = a.Ask(ctx, Ball{Kind: Time})
	return cycles, nanoseconds, err
}

// trips returns how long balls took to come back to a relay.
func trips(ctx context.Context, a *ring.Actor[Ball, uint64], perCycle float64) (p50, p99 time.Duration, err error) {
	var counts [tripBuckets]uint64
	n := uint64(0)
	for i := range counts {
		if counts[i], err = a.Ask(ctx, Ball{Kind: Trips, Number: uint32(i)}); err != nil {
			return 0, 0, err
		}
		n += counts[i]
	}
	at := func(share float64) time.Duration {
		seen := uint64(0)
		for i, c := range counts {
			if seen += c; c > 0 && float64(seen) >= share*float64(n) {
				return time.Duration(perCycle * tripMiddle(i))
			}
		}
		return 0
	}
	return at(0.50), at(0.99), nil
}
