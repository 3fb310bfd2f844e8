// Engines computes a layer of a neural network, Fourier transforms and a product with a sparse
// matrix, each by the faster of Quern's kernels and NVIDIA's libraries, and prints which one that
// was. Without a GPU, or without the libraries, Quern's kernels compute everything.
//
//	go run ./examples/engines
//	go run ./examples/engines -device cpu
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"quern.dev/blas"
	"quern.dev/cudalib"
	"quern.dev/examples/internal/example"
	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/random"
	"quern.dev/sparse"
)

func main() { example.Main("engines", run) }

func run(ctx context.Context, w io.Writer, dev *gpu.Device) error {
	size := 1024
	if dev.Backend() != gpu.CUDA {
		size = 64
	}
	s := dev.DefaultStream()
	if err := cudalib.Use(s, cudalib.Auto); err != nil {
		return err
	}
	fmt.Fprintln(w, dev.Name())
	for _, l := range cudalib.Libraries(dev) {
		if l.Err != nil {
			fmt.Fprintln(w, l.Err)
			continue
		}
		fmt.Fprintln(w, l.Name, l.Version, l.Path)
	}
	for _, f := range []func(s *gpu.Stream, size int) error{layer, transforms, laplace} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(s, size); err != nil {
			return err
		}
		fmt.Fprintln(w, cudalib.Ran(s))
	}
	return s.Synchronize(ctx)
}

// numbers returns n random numbers on the device.
func numbers(s *gpu.Stream, n int) (*gpu.Buffer[float32], error) {
	x, err := gpu.Alloc[float32](s.Device(), n)
	if err != nil {
		return nil, err
	}
	return x, random.Uniform(s, random.Source{Seed: 1}, x, -1, 1)
}

// layer computes gelu(x*wᵀ + b).
func layer(s *gpu.Stream, n int) error {
	data, err := numbers(s, 3*n*n+n)
	if err != nil {
		return err
	}
	defer data.Close()
	of := func(i int) blas.General[float32] {
		return blas.General[float32]{Rows: n, Cols: n, Stride: n, Data: data.Slice(i*n*n, (i+1)*n*n)}
	}
	bias := blas.Vector[float32]{N: n, Inc: 1, Data: data.Slice(3*n*n, 3*n*n+n)}
	return blas.GemmEpilogue(s, blas.NoTrans, blas.Trans, 1, of(0), of(1), 0, of(2), blas.Epilogue[float32]{Bias: bias, Activation: blas.GELU})
}

// transforms computes the spectra of n signals of n points.
func transforms(s *gpu.Stream, n int) (err error) {
	p, err := fft.NewPlan[complex64](s.Device(), fft.Desc{Shape: []int{n}, Batch: n})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	x, err := numbers(s, 2*n*n)
	if err != nil {
		return err
	}
	defer x.Close()
	y := gpu.Reinterpret[complex64](x)
	return p.Forward(s, y, y)
}

// laplace multiplies a vector by the matrix of a second derivative.
func laplace(s *gpu.Stream, n int) (err error) {
	rows := n * n
	e := &sparse.Entries[float32]{Rows: rows, Cols: rows}
	for i := range rows {
		for j, v := range map[int]float32{i - 1: -1, i: 2, i + 1: -1} {
			if j >= 0 && j < rows {
				e.Add(i, j, v)
			}
		}
	}
	a, err := sparse.UploadCSR(s, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	x, err := numbers(s, 2*rows)
	if err != nil {
		return err
	}
	defer x.Close()
	return sparse.MulVec(s, false, 1, a, x.Slice(0, rows), 0, x.Slice(rows, 2*rows))
}
