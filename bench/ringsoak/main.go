// Command ringsoak has actors handle messages for a long time, from many
// goroutines: asked, sent and told, one by one and in batches, of all priorities,
// with deadlines and without, while handlers fail and are restarted, actors come and
// go, queues overflow, and memory is allocated and freed and kernels are loaded and
// launched beside them.
//
//	go run ./bench/ringsoak [-device cpu,sim] [-duration 30s] [-messages 1000000000] [-actors 32] [-seed 1]
//
// Devices that are separated by commas are used one after the other, each for the
// duration or until the number of messages is reached. Each message has a value.
// At the end the number of messages and the sum of their values, as the host and
// as the actors have added them up, have to be the same, and memory has to be what
// it was. It ends with exit status 1 at the first wrong reply, error or loss.
// When the time is over it prints every second what it still waits for.
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

// options are what the command line says.
type options struct {
	devices  string
	duration time.Duration
	messages uint64
	actors   int
	seed     uint64
}

func main() {
	var o options
	flag.StringVar(&o.devices, "device", "", "devices to use, separated by commas; empty is the best one")
	flag.DurationVar(&o.duration, "duration", 30*time.Second, "how long")
	flag.Uint64Var(&o.messages, "messages", 1_000_000_000, "after how many messages it ends")
	flag.IntVar(&o.actors, "actors", 32, "actors that stay")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "where the random numbers begin")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := soakAll(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "ringsoak:", err)
		os.Exit(1)
	}
}

// soakAll uses the devices in turn.
func soakAll(ctx context.Context, o options) error {
	if o.actors < 2 || o.actors > 1000 {
		return fmt.Errorf("%d actors, want 2 to 1000", o.actors)
	}
	fmt.Printf("%d actors, %v or %d messages, -seed %d\n", o.actors, o.duration, o.messages, o.seed)
	for id := range strings.SplitSeq(o.devices, ",") {
		if err := soakOne(ctx, id, o); err != nil {
			return fmt.Errorf("%s: %w", cmp.Or(id, "the best device"), err)
		}
	}
	return nil
}

// letterRoom is how many dead letters are kept until they are taken.
const letterRoom = 1_000_000

func soakOne(ctx context.Context, id string, o options) error {
	s, err := open(ctx, id, o)
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// open opens a device and makes the actors that stay.
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

// run soaks, and closes the device.
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
	return errors.Join(err, s.atWork.during("the end of the runtime", s.rt.Close), s.atWork.during("the end of the device", s.dev.Close))
}
