package main

import (
	"context"
	"errors"
	"slices"

	"quern.dev/algo"
	"quern.dev/examples/internal/example"
	"quern.dev/gpu"
)

// clustering is the state of the method on a device.
type clustering struct {
	s          *gpu.Stream
	n          int // different colors
	pixel      *gpu.Buffer[uint32]
	color      *gpu.Buffer[uint32] // in increasing order
	pixels     *gpu.Buffer[int]    // of each color
	palette    *gpu.Buffer[rgb]
	label      *gpu.Buffer[uint32] // number of the nearest palette color
	errors     *gpu.Buffer[int64]  // squares, times the number of pixels
	number     *gpu.Buffer[uint32]
	distance   *gpu.Buffer[int32]
	addend     *gpu.Buffer[int64]
	sums       *gpu.Buffer[int64]
	sumsOf     *gpu.Buffer[uint32]
	at, count  *gpu.Buffer[int]
	totalError *gpu.Buffer[int64]
}

// newClustering counts the colors of a picture.
func newClustering(ctx context.Context, s *gpu.Stream, scope *gpu.Scope, picture []uint32, colors int) (c *clustering, err error) {
	c = &clustering{s: s}
	err = errors.Join(
		example.Acquire(scope, len(picture), &c.pixel, &c.color, &c.number),
		example.Acquire(scope, len(picture), &c.pixels),
		example.Acquire(scope, 1, &c.at, &c.count),
		example.Acquire(scope, 1, &c.totalError),
		example.Acquire(scope, colors, &c.palette))
	if err != nil {
		return nil, err
	}
	if err := gpu.CopyIn(s, c.pixel, picture); err != nil {
		return nil, err
	}
	if err := gpu.Copy(s, c.number, c.pixel); err != nil {
		return nil, err
	}
	if err := algo.SortRadix(s, algo.Radix{Bits: 24}, c.number); err != nil {
		return nil, err
	}
	if err := algo.RunLengths(s, algo.Same[uint32](), c.color, c.pixels, c.count, c.number); err != nil {
		return nil, err
	}
	var count [1]int
	if err := gpu.Download(ctx, s, count[:], c.count); err != nil {
		return nil, err
	}
	c.n = count[0]
	c.color, c.pixels, c.number = c.color.Slice(0, c.n), c.pixels.Slice(0, c.n), c.number.Slice(0, c.n)
	return c, errors.Join(
		example.Acquire(scope, c.n, &c.label, &c.sumsOf),
		example.Acquire(scope, c.n, &c.distance),
		example.Acquire(scope, c.n, &c.errors),
		example.Acquire(scope, 4*c.n, &c.addend, &c.sums))
}

// choose begins with a palette of colors that are far apart: the most frequent one, and then
// always that whose pixels have the largest error so far.
func (c *clustering) choose() error {
	if err := algo.ArgMax(c.s, algo.Ascending[int64](), c.at, gpu.Reinterpret[int64](c.pixels)); err != nil {
		return err
	}
	for k := range c.palette.Len() {
		if err := LaunchChoose(c.s, gpu.Linear(c.n), k, c.at, c.color, c.pixels, c.distance, c.errors, c.palette); err != nil {
			return err
		}
		if err := algo.ArgMax(c.s, algo.Ascending[int64](), c.at, c.errors); err != nil {
			return err
		}
	}
	return nil
}

// assign finds the nearest palette color of each color.
func (c *clustering) assign() error {
	return LaunchAssign(c.s, gpu.Linear(c.n), c.palette, c.color, c.pixels, c.label, c.number, c.errors)
}

// iterate moves each palette color to the mean of the pixels that are nearest to it.
func (c *clustering) iterate() error {
	if err := c.assign(); err != nil {
		return err
	}
	if err := algo.SortPairsRadix(c.s, algo.Radix{Bits: 8}, c.label, c.number); err != nil {
		return err
	}
	if err := LaunchAddends(c.s, gpu.Linear(c.n), c.number, c.color, c.pixels, c.addend); err != nil {
		return err
	}
	for from := 0; from < 4*c.n; from += c.n {
		to := from + c.n
		err := algo.ReduceByKey(c.s, algo.Same[uint32](), algo.Sum[int64](), c.sumsOf, c.sums.Slice(from, to), c.count, c.label, c.addend.Slice(from, to))
		if err != nil {
			return err
		}
	}
	return LaunchRecenter(c.s, gpu.Linear(c.n), c.count, c.sumsOf, c.sums, c.palette)
}

// run iterates until the palette stays as it is, and returns it with the number of iterations.
func (c *clustering) run(ctx context.Context, most int) (palette []rgb, iterations int, err error) {
	if err := c.choose(); err != nil {
		return nil, 0, err
	}
	progress := example.StartProgress("iterations", most)
	defer progress.End()
	palette = make([]rgb, c.palette.Len())
	for iterations < most {
		before := slices.Clone(palette)
		if err := c.iterate(); err != nil {
			return nil, 0, err
		}
		if err := gpu.Download(ctx, c.s, palette, c.palette); err != nil {
			return nil, 0, err
		}
		if iterations++; slices.Equal(palette, before) {
			break
		}
		progress.At(iterations)
	}
	return palette, iterations, c.assign()
}

// meanError returns the mean of the squared distances of the pixels from their palette
// color, in 8-bit levels.
func (c *clustering) meanError(ctx context.Context) (float64, error) {
	if err := algo.Reduce(c.s, algo.Sum[int64](), c.totalError, c.errors); err != nil {
		return 0, err
	}
	var total [1]int64
	err := gpu.Download(ctx, c.s, total[:], c.totalError)
	return float64(total[0]) / float64(c.pixel.Len()) / levels / levels, err
}

// paint returns the number of the palette color for each pixel.
func (c *clustering) paint(ctx context.Context, scope *gpu.Scope) ([]uint8, error) {
	var at *gpu.Buffer[int]
	var labels *gpu.Buffer[uint8]
	n := c.pixel.Len()
	if err := errors.Join(example.Acquire(scope, n, &at), example.Acquire(scope, n, &labels)); err != nil {
		return nil, err
	}
	if err := algo.LowerBound(c.s, algo.Ascending[uint32](), at, c.color, c.pixel); err != nil {
		return nil, err
	}
	if err := LaunchPaint(c.s, gpu.Linear(n), at, c.label, labels); err != nil {
		return nil, err
	}
	out := make([]uint8, n)
	return out, gpu.Download(ctx, c.s, out, labels)
}
