// Gpu measures Quern on a CUDA device and writes the figures to a JSON file. It first
// checks every result against a reference in float64.
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
	small := flag.Bool("small", false, "small sizes, to try out the program")
	only := flag.String("only", "", "measure only this `part`: start, launch, copy, saxpy, elementwise, matmul or blur")
	flag.Parse()

	if tool := os.Getenv(startVariable); tool != "" {
		if err := startProgram(tool, *device); err != nil {
			log.Print(err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	file, err := measure(ctx, *device, *small, *only)
	if err == nil {
		err = results.Write(*out, file)
	}
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// measure runs all benchmarks. If one fails, the file contains its error.
func measure(ctx context.Context, device string, small bool, only string) (file results.File, err error) {
	b := &bench{ctx: ctx, size: fullSize}
	if small {
		b.size = smallSize
	}
	if only == "" || only == "start" { // before this process has its own context
		if err := b.start(device); err != nil {
			return file, err
		}
	}
	dev, err := gpu.Open(gpu.Config{Device: device})
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	b.dev, b.stream = dev, dev.DefaultStream()
	for i := range b.marks {
		if b.marks[i], err = dev.NewEvent(); err != nil {
			return file, err
		}
		defer b.marks[i].Close()
	}
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"launch", b.launch}, {"copy", b.copy}, {"saxpy", b.saxpy}, {"elementwise", b.elementwise},
		{"matmul", b.tileMatmul}, {"matmul", b.registerMatmul}, {"blur", b.blur},
	} {
		if only != "" && only != part.name {
			continue
		}
		if err := errors.Join(part.measure(), ctx.Err()); err != nil {
			return file, err
		}
	}
	file = results.File{
		Device:  fmt.Sprintf("%s, driver %s", dev.Name(), dev.DriverVersion()),
		Results: b.results,
	}
	return file, nil
}
