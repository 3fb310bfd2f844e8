// Command ringsoak has actors handle messages from many goroutines for a long time: asked,
// sent and told messages, single and in batches, with all priorities, with and without
// deadlines. Meanwhile handlers fail and are restarted, actors are spawned and terminated,
// queues overflow, memory is allocated and freed, and kernels are loaded and launched.
//
//	go run ./bench/ringsoak [-device cpu,sim] [-duration 30s] [-messages 1000000000] [-actors 32] [-seed 1]
//
// Devices separated by commas are used one after another, each for the duration or until
// the number of messages is reached. Each message has a value. At the end, the host and
// the actors must agree on the number of messages and the sum of their values, and memory
// use must not have grown. The exit status is 1 after the first wrong reply, error or
// loss. When the duration is over, the command prints every second what it still waits
// for.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// options holds the command-line options.
type options struct {
	devices  string
	duration time.Duration
	messages uint64
	actors   int
	seed     uint64
}

func main() {
	var o options
	flag.StringVar(&o.devices, "device", "", "devices to use, separated by commas; the best one if empty")
	flag.DurationVar(&o.duration, "duration", 30*time.Second, "duration")
	flag.Uint64Var(&o.messages, "messages", 1_000_000_000, "number of messages after which to end")
	flag.IntVar(&o.actors, "actors", 32, "number of long-lived actors")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of the random numbers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := soakAll(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "ringsoak:", err)
		os.Exit(1)
	}
}

// soakAll runs a soak on each device in turn.
func soakAll(ctx context.Context, o options) error {
	if o.actors < 2 || o.actors > 1000 {
		return fmt.Errorf("ringsoak: %d actors: want 2 to 1000", o.actors)
	}
	fmt.Printf("%d actors, %v or %d messages, -seed %d\n", o.actors, o.duration, o.messages, o.seed)
	for id := range strings.SplitSeq(o.devices, ",") {
		if err := soakOne(ctx, id, o); err != nil {
			return fmt.Errorf("%s: %w", cmp.Or(id, "the best device"), err)
		}
	}
	return nil
}

// letterRoom is the capacity for dead letters that have not been received.
const letterRoom = 1_000_000

func soakOne(ctx context.Context, id string, o options) error {
	s, err := open(ctx, id, o)
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// open opens a device and spawns the long-lived actors.
func open(ctx context.Context, id string, o options) (*soak, error) {
	d, err := gpu.Open(gpu.Config{Device: id})
	if err != nil {
		return nil, err
	}
	rt, err := ring.New(d, ring.Config{DeadLetters: letterRoom})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	s, err := newSoak(ctx, rt, o)
	if err != nil {
		return nil, errors.Join(err, rt.Close(), d.Close())
	}
	return s, nil
}

// run runs the soak and closes the device.
func (s *soak) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.duration)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watch := &watch{soak: s, begun: time.Now()}
	s.begin(ctx, stop)
	watch.until(ctx, func() { stop(errEnough) })
	defer watch.wait()()
	err := s.end(ctx)
	if err == nil {
		err = watch.verdict()
	}
	return errors.Join(err, s.running.during("closing the runtime", s.rt.Close), s.running.during("closing the device", s.dev.Close))
}
