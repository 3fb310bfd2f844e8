package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// options are the command-line options.
type options struct {
	in, out    string
	colors     int
	iterations int
	verify     bool
}

func main() {
	var o options
	flag.StringVar(&o.in, "in", "", "the JPEG, PNG or GIF `file` to read (default: a picture of a beach)")
	flag.IntVar(&o.colors, "colors", 12, "the number of colors of the palette")
	flag.IntVar(&o.iterations, "iterations", 200, "the most iterations")
	flag.BoolVar(&o.verify, "verify", false, "compare the palette with that of plain Go")
	flag.StringVar(&o.out, "out", "palette.png", "the picture `file` to write; none if empty")
	example.Main("palette", func(ctx context.Context, w io.Writer, dev *gpu.Device) error { return run(ctx, w, dev, o) })
}

// check returns an error for the first option that is out of range.
func (o *options) check() error {
	switch {
	case o.colors < 1 || o.colors > 256:
		return fmt.Errorf("-colors %d: want 1 to 256", o.colors)
	case o.iterations < 1:
		return fmt.Errorf("-iterations %d: want at least 1", o.iterations)
	}
	return nil
}

func run(ctx context.Context, w io.Writer, dev *gpu.Device, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	p, err := open(o.in, dev.Backend())
	if err != nil {
		return err
	}
	s := dev.DefaultStream()
	return dev.Pool().Scope(s, func(scope *gpu.Scope) error {
		begin := time.Now()
		c, err := newClustering(ctx, s, scope, p.pixels, o.colors)
		if err != nil {
			return err
		}
		palette, iterations, err := c.run(ctx, o.iterations)
		if err != nil {
			return err
		}
		square, err := c.meanError(ctx)
		if err != nil {
			return err
		}
		labels, err := c.paint(ctx, scope)
		if err != nil {
			return err
		}
		took := time.Since(begin)
		fmt.Fprintf(w, "%s: %d x %d pixels of %d colors, %d iterations in %v\n\n", dev.Name(), p.width, p.height, c.n, iterations, took.Round(10*time.Microsecond))
		shares := sharesOf(labels, len(palette))
		for _, k := range byShare(shares) {
			fmt.Fprintf(w, "#%06x %5.1f%%\n", palette[k].packed(), 100*shares[k])
		}
		fmt.Fprintf(w, "\nerror per channel %.1f levels (root mean square)\n", math.Sqrt(square/3))
		if o.out != "" {
			if err := p.draw(o.out, palette, labels, shares); err != nil {
				return err
			}
			fmt.Fprintf(w, "wrote %s\n", o.out)
		}
		if !o.verify {
			return nil
		}
		if want := reference(p.pixels, o.colors, o.iterations); !slices.Equal(palette, want) {
			return fmt.Errorf("verify: the palette is %v, that of plain Go %v", palette, want)
		}
		_, err = fmt.Fprintln(w, "verified: plain Go computes the same palette")
		return err
	})
}
