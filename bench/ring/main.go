// Command ring measures actors and prints each figure with the goal that there is
// for it on the device.
//
//	go run ./bench/ring [-device cuda] [-duration 2s] [check ...]
//
// It exits with status 1 if a goal is missed or something fails. quern ring bench
// measures the same actors against their number, payloads and batches.
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

// checks are what the command measures; files of the package add to them.
var checks = slices.Clone(ringbench.Checks)

func main() {
	device := flag.String("device", "", "device to measure; the best if empty")
	duration := flag.Duration("duration", 2*time.Second, "how long each measurement takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, *device, *duration, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure makes the checks with the names, or all.
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
			return fmt.Errorf("there is no check %q; there are %s", name, strings.Join(all, ", "))
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
