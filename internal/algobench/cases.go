package main

import (
	"errors"
	"math"

	"quern.dev/algo"
	"quern.dev/blas"
	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/random"
)

// algorithm is a call that is measured.
type algorithm struct {
	name  string
	bytes func(n int) float64                 // that it moves; docs/algorithms.md
	flops func(n int) float64                 // nil if they are not what counts
	open  func(b *buffers) (*measured, error) // for b.n elements
}

// measured is an algorithm with its arguments.
type measured struct {
	submit  func() error
	restore func() error // what submit includes but is not part of the algorithm; may be nil
	close   func() error // may be nil
}

// buffers are the arguments of all algorithms for n elements of 4 bytes, or n complex numbers.
type buffers struct {
	s         *gpu.Stream
	n         int
	x, y, z   *gpu.Buffer[float32] // x is uniform in [0, 1); z has 2n elements
	one       *gpu.Buffer[float32]
	keys, out *gpu.Buffer[uint32] // keys are random
	bins      *gpu.Buffer[uint32]
	coins     *gpu.Buffer[int32] // 0 or 1
	count     *gpu.Buffer[int]
}

// newBuffers allocates and fills buffers. They take 36 bytes per element.
func newBuffers(s *gpu.Stream, scope *gpu.Scope, n int) (b *buffers, err error) {
	b = &buffers{s: s, n: n}
	for at, n := range map[**gpu.Buffer[float32]]int{&b.x: n, &b.y: 2 * n, &b.z: 2 * n, &b.one: 1} {
		var e error
		*at, e = gpu.AcquireIn[float32](scope, n)
		err = errors.Join(err, e)
	}
	for at, n := range map[**gpu.Buffer[uint32]]int{&b.keys: n, &b.out: n, &b.bins: 256} {
		var e error
		*at, e = gpu.AcquireIn[uint32](scope, n)
		err = errors.Join(err, e)
	}
	var e error
	b.coins, e = gpu.AcquireIn[int32](scope, n)
	err = errors.Join(err, e)
	b.count, e = gpu.AcquireIn[int](scope, 1)
	if err = errors.Join(err, e); err != nil {
		return nil, err
	}
	return b, errors.Join(
		random.Uniform(s, random.Source{Seed: 1}, b.x, 0, 1),
		random.Uniform(s, random.Source{Seed: 2}, b.z, -1, 1),
		gpu.Zero(s, b.y),
		random.Bits(s, random.Source{Seed: 3}, b.keys),
		random.Integers(s, random.Source{Seed: 4}, b.coins, 0, 2))
}

// times returns a number of bytes that is proportional to n.
func times(bytes float64) func(n int) float64 {
	return func(n int) float64 { return bytes * float64(n) }
}

// side returns the rows and columns of a matrix of about n elements.
func side(n int) int { return int(math.Sqrt(float64(n))) }

// algorithms is what is measured.
var algorithms = []algorithm{
	{"reduce", times(4), nil, func(b *buffers) (*measured, error) {
		return &measured{submit: func() error { return algo.Reduce(b.s, algo.Sum[float32](), b.one, b.x) }}, nil
	}},
	{"scan", times(8), nil, func(b *buffers) (*measured, error) {
		y := b.y.Slice(0, b.n)
		return &measured{submit: func() error { return algo.Scan(b.s, algo.Sum[float32](), y, b.x) }}, nil
	}},
	{"select", times(6), nil, func(b *buffers) (*measured, error) {
		kept := gpu.Reinterpret[int32](b.y.Slice(0, b.n))
		return &measured{submit: func() error { return algo.Select(b.s, algo.NonZero[int32](), kept, b.count, b.coins) }}, nil
	}},
	{"histogram", times(4), nil, func(b *buffers) (*measured, error) {
		return &measured{submit: func() error { return algo.HistogramEven(b.s, 0, 1, b.bins, b.x) }}, nil
	}},
	{"sort", times(36), nil, func(b *buffers) (*measured, error) {
		restore := func() error { return gpu.Copy(b.s, b.out, b.keys) }
		return &measured{submit: func() error { return errors.Join(restore(), algo.Sort(b.s, b.out)) }, restore: restore}, nil
	}},
	{"fft", func(n int) float64 {
		passes := 1.0
		if n > 8192 {
			passes++
		}
		if n > 1<<24 {
			passes++
		}
		return 16 * passes * float64(n)
	}, func(n int) float64 { return 5 * float64(n) * math.Log2(float64(n)) }, func(b *buffers) (*measured, error) {
		plan, err := fft.NewPlan[complex64](b.s.Device(), fft.Desc{Shape: []int{b.n}})
		if err != nil {
			return nil, err
		}
		in, out := gpu.Reinterpret[complex64](b.z), gpu.Reinterpret[complex64](b.y)
		return &measured{submit: func() error { return plan.Forward(b.s, out, in) }, close: plan.Close}, nil
	}},
	{"gemm", func(n int) float64 { return 12 * float64(side(n)*side(n)) }, func(n int) float64 { return 2 * math.Pow(float64(side(n)), 3) },
		func(b *buffers) (*measured, error) {
			n := side(b.n)
			matrix := func(x *gpu.Buffer[float32]) blas.General[float32] {
				return blas.General[float32]{Rows: n, Cols: n, Stride: n, Data: x.Slice(0, n*n)}
			}
			c, x, y := matrix(b.y), matrix(b.x), matrix(b.z)
			return &measured{submit: func() error { return blas.Gemm(b.s, blas.NoTrans, blas.NoTrans, 1, x, y, 0, c) }}, nil
		}},
}
