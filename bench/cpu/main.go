// Cpu compares the CPU device with hand-written parallel Go, on all cores:
//
//	go run ./bench/cpu
//
// Both get the same inputs and take turns. The outputs are compared first.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"quern.dev/bench/kernels"
	"quern.dev/gpu"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	if err := run(os.Stdout, fullSize); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// sizes holds the sizes of the arrays.
type sizes struct {
	vector int // elements of saxpy
	image  int // rows and columns of the blur
	matrix int // rows and columns of the product
	repeat int
}

var fullSize = sizes{vector: 1 << 24, image: 2048, matrix: 512, repeat: 21}

// contest is one benchmark.
type contest struct {
	name      string
	goal      float64 // upper bound of Quern's time relative to the time of hand-written Go
	byHand    func(out []float32)
	quern     func(out *gpu.Buffer[float32]) error
	start     []float32 // initial contents of the output
	tolerance float64
}

func run(w io.Writer, size sizes) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	contests, closeAll, err := newContests(dev.DefaultStream(), size)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return err
	}

	fmt.Fprintf(w, "%s, %d workers\n\n", dev.Name(), runtime.GOMAXPROCS(0))
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tby hand\tQuern\tratio\tgoal\t")
	for _, c := range contests {
		byHand, quern, err := c.run(dev.DefaultStream(), size.repeat)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(t, "%s\t%.3f ms\t%.3f ms\t%.2f\t%.2f\t\n", c.name, byHand*1e3, quern*1e3, quern/byHand, c.goal)
	}
	return t.Flush()
}

// run compares the results and returns the median times in seconds.
func (c *contest) run(s *gpu.Stream, repeat int) (byHand, quern float64, err error) {
	want := slices.Clone(c.start)
	out, err := gpu.Upload(s, c.start)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()

	c.byHand(want)
	if err := c.quern(out); err != nil {
		return 0, 0, err
	}
	got := make([]float32, len(want))
	if err := gpu.Download(context.Background(), s, got, out); err != nil {
		return 0, 0, err
	}
	for i := range want {
		if e := math.Abs(float64(got[i]) - float64(want[i])); !(e <= c.tolerance) {
			return 0, 0, fmt.Errorf("element %d is %v, by hand %v", i, got[i], want[i])
		}
	}

	var hands, querns []float64
	for range repeat {
		begin := time.Now()
		c.byHand(want)
		hands = append(hands, time.Since(begin).Seconds())
		begin = time.Now()
		if err := c.quern(out); err != nil {
			return 0, 0, err
		}
		if err := s.Synchronize(context.Background()); err != nil {
			return 0, 0, err
		}
		querns = append(querns, time.Since(begin).Seconds())
	}
	slices.Sort(hands)
	slices.Sort(querns)
	return hands[repeat/2], querns[repeat/2], nil
}

// newContests returns the contests and a function that releases their device memory, which
// is valid even if there is an error.
func newContests(s *gpu.Stream, size sizes) ([]contest, func() error, error) {
	var buffers []*gpu.Buffer[float32]
	closeAll := func() error {
		var errs []error
		for _, b := range buffers {
			errs = append(errs, b.Close())
		}
		return errors.Join(errs...)
	}
	n, side, m := size.vector, size.image, size.matrix
	inputs := [][]float32{random(n), random(side * side), random(m * m), random(m * m)}
	for _, in := range inputs {
		b, err := gpu.Upload(s, in)
		if err != nil {
			return nil, closeAll, err
		}
		buffers = append(buffers, b)
	}
	x, image, a, b := buffers[0], buffers[1], buffers[2], buffers[3]

	var weights kernels.Weights
	for k := range weights {
		weights[k] = 1.0 / (2*kernels.Radius + 1)
	}
	rows := gpu.Blocks(gpu.Dim3{X: ceilDiv(side, kernels.RowTile), Y: side}, gpu.Dim3{X: kernels.RowTile})
	columns := gpu.Blocks(
		gpu.Dim3{X: ceilDiv(side, kernels.ColumnTileWidth), Y: ceilDiv(side, kernels.ColumnTileHeight)},
		gpu.Dim3{X: kernels.ColumnTileWidth, Y: kernels.ColumnThreads})
	tiles := gpu.Blocks(gpu.Dim3{X: ceilDiv(m, kernels.Tile), Y: ceilDiv(m, kernels.Tile)}, gpu.Dim3{X: kernels.Tile, Y: kernels.Tile})

	const factor = 1e-3
	return []contest{
		{
			name: "saxpy", goal: 1.25, start: random(n), tolerance: 1e-6,
			byHand: func(y []float32) { saxpy(factor, inputs[0], y) },
			quern:  func(y *gpu.Buffer[float32]) error { return kernels.LaunchSaxpy(s, gpu.Linear(n), factor, x, y) },
		},
		{
			name: "blur rows", goal: 1.25, start: make([]float32, side*side), tolerance: 1e-5,
			byHand: func(out []float32) { blurRows(&weights, side, side, inputs[1], out) },
			quern: func(out *gpu.Buffer[float32]) error {
				return kernels.LaunchBlurRows(s, rows, weights, side, side, image, out)
			},
		},
		{
			name: "blur columns", goal: 1.25, start: make([]float32, side*side), tolerance: 1e-5,
			byHand: func(out []float32) { blurColumns(&weights, side, side, inputs[1], out) },
			quern: func(out *gpu.Buffer[float32]) error {
				return kernels.LaunchBlurColumns(s, columns, weights, side, side, image, out)
			},
		},
		{
			name: "matmul 16x16", goal: 2, start: make([]float32, m*m), tolerance: 1e-3,
			byHand: func(out []float32) { tileMatmul(m, m, m, inputs[2], inputs[3], out) },
			quern: func(out *gpu.Buffer[float32]) error {
				return kernels.LaunchTileMatmul(s, tiles, m, m, m, a, b, out)
			},
		},
	}, closeAll, nil
}

// random returns n numbers between -1 and 1.
func random(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*rand.Float32() - 1
	}
	return v
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
