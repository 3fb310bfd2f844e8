// Gpu measures Quern on a CUDA device and writes the figures to a JSON file.
// Every result is checked against a reference in float64 first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"quern.dev/bench/results"
	"quern.dev/gpu"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	out := flag.String("o", "quern.json", "JSON `file` to write")
	device := flag.String("device", "cuda", "`device` to measure")
	small := flag.Bool("small", false, "small sizes, to try the program out")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	file, err := measure(ctx, *device, *small)
	if err == nil {
		err = results.Write(*out, file)
	}
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// measure runs all benchmarks. One that fails leaves its error in the file.
func measure(ctx context.Context, device string, small bool) (file results.File, err error) {
	dev, err := gpu.Open(gpu.Config{Device: device})
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()

	b := &bench{ctx: ctx, dev: dev, stream: dev.DefaultStream(), size: fullSize}
	if small {
		b.size = smallSize
	}
	for i := range b.marks {
		if b.marks[i], err = dev.NewEvent(); err != nil {
			return file, err
		}
		defer b.marks[i].Close()
	}
	for _, measure := range []func() error{
		b.launch, b.copy, b.saxpy, b.elementwise, b.tileMatmul, b.registerMatmul, b.blur,
	} {
		if err := errors.Join(measure(), ctx.Err()); err != nil {
			return file, err
		}
	}
	file = results.File{
		Device:  fmt.Sprintf("%s, driver %s", dev.Name(), dev.DriverVersion()),
		Results: b.results,
	}
	return file, nil
}
