package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// options are the command-line options.
type options struct {
	out    string
	size   int
	width  int // of a frame of the film
	listen string
	verify bool
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "geo-example", "the `folder` for the files")
	flag.IntVar(&o.size, "size", 0, "the size of the landscape in `pixels` of half a meter, by default 4096 on a GPU, 1024 on the CPU, 256 in the simulator")
	flag.IntVar(&o.width, "width", 0, "the width of the film in `pixels`, by default 1920 on a GPU, 480 on the CPU, 64 in the simulator")
	flag.StringVar(&o.listen, "listen", "127.0.0.1:8080", "the `address` at which the map is served until an interrupt; not at all if empty")
	flag.BoolVar(&o.verify, "verify", false, "compare the mosaic with the landscape")
	example.Main("geo", func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, o) })
}

// check fills in defaults, and returns an error for the first option that is out of range.
func (o *options) check(b gpu.Backend) error {
	if o.size == 0 {
		o.size = map[gpu.Backend]int{gpu.CUDA: 4096, gpu.CPU: 1024, gpu.Sim: 256}[b]
	}
	if o.width == 0 {
		o.width = map[gpu.Backend]int{gpu.CUDA: 1920, gpu.CPU: 480, gpu.Sim: 64}[b]
	}
	switch {
	case o.size < 256 || o.size > 1<<14 || o.size%2 != 0:
		return fmt.Errorf("-size %d: want an even number from 256 to %d", o.size, 1<<14)
	case o.width < 32 || o.width > 7680 || o.width%32 != 0:
		return fmt.Errorf("-width %d: want a multiple of 32 from 32 to 7680", o.width)
	case o.out == "":
		return errors.New("-out: want a folder")
	}
	return nil
}

func run(ctx context.Context, w io.Writer, dev *gpu.Device, o options) error {
	if err := o.check(dev.Backend()); err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: a landscape of %d x %d pixels\n", dev.Name(), o.size, o.size)
	l := newLandscape(o.size)
	photos, err := survey(ctx, w, dev, l, o.out)
	if err != nil {
		return err
	}
	if err := join(ctx, w, dev, photos, o.out); err != nil {
		return err
	}
	if o.verify {
		if err := verify(ctx, w, l, filepath.Join(o.out, "mosaic.tif")); err != nil {
			return err
		}
	}
	if err := film(ctx, w, dev, o); err != nil {
		return err
	}
	commands(w, o.out)
	return serve(ctx, w, dev, o)
}
