// Package example has what the examples share: their main function, the line that shows
// their progress, and their pictures.
package example

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"

	"quern.dev/gpu"
)

// Main parses the command line, and runs an example on the device that -device names, by
// default the best one. An interrupt cancels ctx; the exit status is 0 if
// run then returns nil. An error is printed, and the exit status is 1.
func Main(name string, run func(ctx context.Context, w io.Writer, dev *gpu.Device) error) {
	start(name, func(ctx context.Context, c gpu.Config) error {
		dev, err := gpu.Open(c)
		if err != nil {
			return err
		}
		return errors.Join(run(ctx, os.Stdout, dev), dev.Close())
	})
}

// MainAll is like Main with all GPUs of the machine, unless -device names one device.
func MainAll(name string, run func(ctx context.Context, w io.Writer, devs []*gpu.Device) error) {
	start(name, func(ctx context.Context, c gpu.Config) error {
		devs, err := gpu.OpenAll(c)
		if err != nil {
			return err
		}
		return errors.Join(run(ctx, os.Stdout, devs), gpu.CloseAll(devs))
	})
}

func start(name string, run func(ctx context.Context, c gpu.Config) error) {
	log.SetFlags(0)
	log.SetPrefix(name + ": ")
	var c gpu.Config
	flag.StringVar(&c.Device, "device", "", "the `device`, such as cpu, cuda:0 or sim (default: the best one)")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q; -help lists the options", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, c)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted && err != nil:
		log.Fatal("interrupted")
	case err != nil:
		log.Fatal(err)
	}
}
