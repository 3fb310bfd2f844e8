package main

import (
	"errors"
	"fmt"
	"math"

	"quern.dev/bench/kernels"
	"quern.dev/bench/results"
	"quern.dev/gpu"
)

// copy measures a copy within device memory. This is the bandwidth that memory provides to
// a kernel that reads as much as it writes.
func (b *bench) copy() error {
	n := b.size.vector
	src, err := gpu.Upload(b.stream, random(n))
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := gpu.Alloc[float32](b.dev, n)
	if err != nil {
		return err
	}
	defer dst.Close()
	seconds, err := b.time(func() error { return gpu.Copy(b.stream, dst, src) })
	b.report("device copy", "driver call", results.Bandwidth, 8*float64(n)/1e9/seconds, err)
	return nil
}

func (b *bench) saxpy() error {
	n := b.size.vector
	const a = 1.5
	hostX, hostY, got := random(n), random(n), make([]float32, n)
	x, err := gpu.Upload(b.stream, hostX)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := gpu.Upload(b.stream, hostY)
	if err != nil {
		return err
	}
	defer y.Close()

	check := func() error {
		if err := gpu.Download(b.ctx, b.stream, got, y); err != nil {
			return err
		}
		for i, v := range got {
			want := a*float64(hostX[i]) + float64(hostY[i])
			if !(math.Abs(float64(v)-want) <= 1e-6) {
				return fmt.Errorf("y[%d] = %v, want %v", i, v, want)
			}
		}
		return nil
	}
	reset := func() error { return gpu.CopyIn(b.stream, y, hostY) }
	g := gpu.Linear(n)
	b.compare("saxpy", results.Bandwidth, 12*float64(n)/1e9, check,
		tool{"Quern", reset, func() error { return kernels.LaunchSaxpy(b.stream, g, a, x, y) }},
		tool{"Quern unchecked", reset, func() error { return kernels.LaunchSaxpyUnchecked(b.stream, g, a, x, y) }},
	)
	return nil
}

// buffers holds the operands of a benchmark with one output.
type buffers struct {
	in  []*gpu.Buffer[float32]
	out *gpu.Buffer[float32]
}

func (b *bench) buffers(outN int, in ...[]float32) (buffers, error) {
	var s buffers
	for _, host := range in {
		d, err := gpu.Upload(b.stream, host)
		if err != nil {
			return s, errors.Join(err, s.close())
		}
		s.in = append(s.in, d)
	}
	out, err := gpu.Alloc[float32](b.dev, outN)
	if err != nil {
		return s, errors.Join(err, s.close())
	}
	s.out = out
	return s, nil
}

func (s buffers) close() error {
	var errs []error
	for _, d := range s.in {
		errs = append(errs, d.Close())
	}
	if s.out != nil {
		errs = append(errs, s.out.Close())
	}
	return errors.Join(errs...)
}

func (b *bench) tileMatmul() error {
	m, n, k := b.size.matrix, b.size.matrix, b.size.matrix
	a, bb := random(m*k), random(k*n)
	s, err := b.buffers(m*n, a, bb)
	if err != nil {
		return err
	}
	defer s.close()
	check := func() error { return b.checkProduct(m, n, k, a, bb, s.out) }
	g := tileGrid(m, n, kernels.Tile, kernels.Tile, gpu.Dim3{X: kernels.Tile, Y: kernels.Tile, Z: 1})
	b.compare("matmul 16x16", results.Rate, 2*float64(m)*float64(n)*float64(k)/1e12, check,
		tool{"Quern", b.poison(s.out), func() error {
			return kernels.LaunchTileMatmul(b.stream, g, m, n, k, s.in[0], s.in[1], s.out)
		}},
		tool{"Quern unchecked", b.poison(s.out), func() error {
			return kernels.LaunchTileMatmulUnchecked(b.stream, g, m, n, k, s.in[0], s.in[1], s.out)
		}},
	)
	return nil
}

func (b *bench) registerMatmul() error {
	m, n, k := b.size.matrix, b.size.matrix, b.size.matrix
	a, bb := random(m*k), random(k*n)
	s, err := b.buffers(m*n, a, bb)
	if err != nil {
		return err
	}
	defer s.close()
	check := func() error { return b.checkProduct(m, n, k, a, bb, s.out) }
	g := tileGrid(m, n, kernels.BlockTile, kernels.BlockTile, gpu.Dim3{X: 16, Y: 16, Z: 1})
	b.compare("matmul 128x128x16", results.Rate, 2*float64(m)*float64(n)*float64(k)/1e12, check,
		tool{"Quern", b.poison(s.out), func() error {
			return kernels.LaunchRegisterMatmul(b.stream, g, m, n, k, s.in[0], s.in[1], s.out)
		}},
		tool{"Quern unchecked", b.poison(s.out), func() error {
			return kernels.LaunchRegisterMatmulUnchecked(b.stream, g, m, n, k, s.in[0], s.in[1], s.out)
		}},
	)
	return nil
}

// checkProduct checks that all of C has been written, and compares some of its rows with a
// product in float64.
func (b *bench) checkProduct(m, n, k int, a, bb []float32, c *gpu.Buffer[float32]) error {
	got := make([]float32, m*n)
	if err := gpu.Download(b.ctx, b.stream, got, c); err != nil {
		return err
	}
	for i, v := range got {
		if v != v {
			return fmt.Errorf("element (%d, %d) is NaN or was not written", i/n, i%n)
		}
	}
	want := make([]float64, n)
	for _, row := range []int{0, 1, m / 3, m / 2, m - 1} {
		clear(want)
		for p := range k {
			f := float64(a[row*k+p])
			for j, v := range bb[p*n : (p+1)*n] {
				want[j] += f * float64(v)
			}
		}
		// The error of a sum of k products of numbers up to 1 grows like a random walk.
		tolerance := 1e-6 * float64(k)
		for j, w := range want {
			if v := float64(got[row*n+j]); !(math.Abs(v-w) <= tolerance) {
				return fmt.Errorf("element (%d, %d) is %v, want %v", row, j, v, w)
			}
		}
	}
	return nil
}

func (b *bench) blur() error {
	w, h := b.size.image, b.size.image
	image := random(w * h)
	s, err := b.buffers(w*h, image)
	if err != nil {
		return err
	}
	defer s.close()
	weights := testWeights()
	bytes := 8 * float64(w) * float64(h) / 1e9

	rows := gpu.Blocks(
		gpu.Dim3{X: (w + kernels.RowTile - 1) / kernels.RowTile, Y: h, Z: 1},
		gpu.Dim3{X: kernels.RowTile, Y: 1, Z: 1})
	b.compare("blur rows", results.Bandwidth, bytes,
		func() error { return b.checkBlur(weights, w, h, 1, 0, image, s.out) },
		tool{"Quern", b.poison(s.out), func() error {
			return kernels.LaunchBlurRows(b.stream, rows, weights, w, h, s.in[0], s.out)
		}},
		tool{"Quern unchecked", b.poison(s.out), func() error {
			return kernels.LaunchBlurRowsUnchecked(b.stream, rows, weights, w, h, s.in[0], s.out)
		}},
	)
	columns := tileGrid(h, w, kernels.ColumnTileHeight, kernels.ColumnTileWidth,
		gpu.Dim3{X: kernels.ColumnTileWidth, Y: kernels.ColumnThreads, Z: 1})
	b.compare("blur columns", results.Bandwidth, bytes,
		func() error { return b.checkBlur(weights, w, h, 0, 1, image, s.out) },
		tool{"Quern", b.poison(s.out), func() error {
			return kernels.LaunchBlurColumns(b.stream, columns, weights, w, h, s.in[0], s.out)
		}},
		tool{"Quern unchecked", b.poison(s.out), func() error {
			return kernels.LaunchBlurColumnsUnchecked(b.stream, columns, weights, w, h, s.in[0], s.out)
		}},
	)
	return nil
}

// testWeights returns a Gaussian filter whose weights sum to 1.
func testWeights() kernels.Weights {
	var w kernels.Weights
	var sum float64
	gauss := func(k int) float64 { return math.Exp(-float64(k*k) / 18) }
	for k := -kernels.Radius; k <= kernels.Radius; k++ {
		sum += gauss(k)
	}
	for k := range w {
		w[k] = float32(gauss(k) / sum)
	}
	return w
}

// checkBlur checks a convolution along (dx, dy), which is (1, 0) or (0, 1).
func (b *bench) checkBlur(weights kernels.Weights, w, h, dx, dy int, in []float32, out *gpu.Buffer[float32]) error {
	got := make([]float32, w*h)
	if err := gpu.Download(b.ctx, b.stream, got, out); err != nil {
		return err
	}
	for y := range h {
		for x := range w {
			var want float64
			for k := -kernels.Radius; k <= kernels.Radius; k++ {
				sx, sy := min(max(x+k*dx, 0), w-1), min(max(y+k*dy, 0), h-1)
				want += float64(weights[max(k, -k)]) * float64(in[sy*w+sx])
			}
			if v := float64(got[y*w+x]); !(math.Abs(v-want) <= 1e-6) {
				return fmt.Errorf("pixel (%d, %d) is %v, want %v", x, y, v, want)
			}
		}
	}
	return nil
}
