// Command soak uses devices for a long time from many goroutines: it acquires, allocates,
// copies, launches and closes at random, compares every value with the result of plain Go,
// and checks that memory use does not grow.
//
//	go run ./bench/soak [-device cpu,sim] [-duration 60s] [-goroutines 8] [-streams 4] [-seed 1]
//
// Devices separated by commas are used concurrently. The exit status is 1 after the first
// wrong value, error or leak, or if memory use grows.
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
	"sync"
	"time"

	"quern.dev/gpu"
)

// options holds the command-line options.
type options struct {
	devices    string
	duration   time.Duration
	goroutines int
	streams    int
	seed       uint64
}

func main() {
	var o options
	flag.StringVar(&o.devices, "device", "", "devices to use, separated by commas; the best one if empty")
	flag.DurationVar(&o.duration, "duration", time.Minute, "duration")
	flag.IntVar(&o.goroutines, "goroutines", 8, "goroutines per device")
	flag.IntVar(&o.streams, "streams", 4, "streams per device")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of the random numbers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := soakAll(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// soakAll runs a soak on all devices concurrently.
func soakAll(ctx context.Context, o options) error {
	if o.goroutines < 1 || o.streams < 1 {
		return fmt.Errorf("soak: %d goroutines on %d streams: want at least one of each", o.goroutines, o.streams)
	}
	fmt.Printf("%d goroutines, %d streams, %v, -seed %d\n", o.goroutines, o.streams, o.duration, o.seed)
	var group sync.WaitGroup
	ids := strings.Split(o.devices, ",")
	errs := make([]error, len(ids))
	for i, id := range ids {
		group.Go(func() {
			if err := soakOne(ctx, id, o); err != nil {
				errs[i] = fmt.Errorf("%s: %w", cmp.Or(id, "the best device"), err)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func soakOne(ctx context.Context, id string, o options) error {
	d, err := gpu.Open(gpu.Config{Device: id})
	if err != nil {
		return err
	}
	s, err := newSoak(ctx, d, o)
	if err != nil {
		return errors.Join(err, d.Close())
	}
	err = s.run(ctx)
	return errors.Join(err, s.close(), d.Close())
}
