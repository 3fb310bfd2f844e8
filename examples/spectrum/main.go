// Spectrum analyses a signal: it finds the tones in noise, with their amplitudes and phases,
// and restores the signal from them.
//
//	go run ./examples/spectrum
//	go run ./examples/spectrum -device cpu -verify -out spectrum.png
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"quern.dev/gpu"
)

func main() {
	log.SetFlags(0)
	device := flag.String("device", "", "the device, such as cpu, cuda or sim; the best one by default")
	verify := flag.Bool("verify", false, "compare the results with the tones that the signal was made of")
	out := flag.String("out", "spectrum.png", "the picture to write; none if empty")
	flag.Parse()
	dev, err := gpu.Open(gpu.Config{Device: *device})
	if err != nil {
		log.Fatal(err)
	}
	err = run(context.Background(), os.Stdout, dev, *verify, *out)
	if err := errors.Join(err, dev.Close()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dev *gpu.Device, verify bool, out string) error {
	clean, signal := signals()
	a, err := analyse(ctx, dev, signal)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %d points at %d Hz, noise %g\n\n", dev.Name(), points, rate, noiseLevel)
	fmt.Fprintf(w, "%12s %12s %12s\n", "frequency", "amplitude", "phase")
	for _, x := range a.found() {
		fmt.Fprintf(w, "%9.1f Hz %12.4f %12.4f\n", x.frequency, x.amplitude, x.phase)
	}
	fmt.Fprintf(w, "\nrelative error there and back: %.2g\n", relative(a.roundTrip, wide(signal)))
	fmt.Fprintf(w, "relative error of the signal with noise: %.2g\n", relative(signal, clean))
	fmt.Fprintf(w, "relative error of the signal restored from the tones: %.2g\n", relative(a.restored, clean))
	if out != "" {
		if err := draw(out, signal, a); err != nil {
			return err
		}
		fmt.Fprintf(w, "\nwrote %s\n", out)
	}
	if verify {
		if err := a.verify(clean, signal); err != nil {
			return err
		}
		fmt.Fprintf(w, "verified: %d tones\n", len(tones))
	}
	return nil
}
