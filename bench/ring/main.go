// Command ring measures actors and prints each figure with its goal for the device.
//
//	go run ./bench/ring [-device cuda] [-duration 2s] [check ...]
//
// It exits with status 1 if a goal is missed or a check fails. quern ring bench measures
// the same actors for different numbers of actors, payloads and batches.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/ringbench"
)

// checks are the available checks. Files of the package add to them.
var checks = slices.Clone(ringbench.Checks)

func main() {
	device := flag.String("device", "", "device to measure; the best one if empty")
	duration := flag.Duration("duration", 2*time.Second, "duration of each measurement")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, *device, *duration, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure runs the checks with the given names, or all if there are none.
func measure(ctx context.Context, device string, d time.Duration, names []string) (err error) {
	wanted := checks
	if len(names) > 0 {
		wanted = nil
	}
	for _, name := range names {
		i := slices.IndexFunc(checks, func(c ringbench.Check) bool { return c.Name == name })
		if i < 0 {
			var all []string
			for _, c := range checks {
				all = append(all, fmt.Sprintf("%q", c.Name))
			}
			return fmt.Errorf("ring: no check %q; there are %s", name, strings.Join(all, ", "))
		}
		wanted = append(wanted, checks[i])
	}
	dev, err := gpu.Open(gpu.Config{Device: device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	text := &ringbench.Text{W: os.Stdout}
	text.Place(ringbench.PlaceOf(dev))
	c := &ringbench.Checker{Device: dev, Duration: d, Show: text.Figure, Note: text.Note, Begin: func(what string) { fmt.Println(what) }}
	var errs []error
	for _, check := range wanted {
		if err := c.Run(ctx, []ringbench.Check{check}); err != nil {
			fmt.Println("  FAILED:", err)
			errs = append(errs, err)
		}
	}
	text.Peer(ringbench.Peer)
	for _, f := range c.Figures {
		if f.Missed() {
			errs = append(errs, fmt.Errorf("missed: %s", f.Name))
		}
	}
	return errors.Join(errs...)
}
