package main

import (
	"context"
	"fmt"

	"quern.dev/blas"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

func init() { register("blas", measureBLAS) }

// gemmCase is a product of square matrices. peers_blas.py has the same ones, by name.
type gemmCase struct {
	elements string
	n, batch int
	goal     float64 // least speed, relative to cuBLAS
}

var gemmCases = []gemmCase{
	{"float32", 512, 1, 0.9},
	{"float32", 1024, 1, 0.9},
	{"float32", 2048, 1, 0},
	{"float32", 4096, 1, 0},
	{"float32", 8192, 1, 0.92},
	{"float32", 64, 4096, 1},
	{"float64", 1024, 1, 0},
	{"float64", 4096, 1, 0},
	{"tf32", 4096, 1, 0},
	{"float16", 8192, 1, 0},
	{"bfloat16", 1024, 1, 0},
	{"bfloat16", 4096, 1, 0},
	{"bfloat16", 8192, 1, 0.85},
	{"int8", 4096, 1, 0},
	{"float8_e4m3fn", 4096, 1, 0},
	{"float8_e4m3fn", 8192, 1, 0.8},
	{"float8_e5m2", 8192, 1, 0},
}

func (c gemmCase) name() string { return fmt.Sprintf("gemm %s %d, batch %d", c.elements, c.n, c.batch) }

// oddProducts are products of float32 whose sides are no multiples of a tile, or are very different:
// rows and columns of C, and the elements that each is the sum of. Neither factor is transposed.
// peers_blas.py has the same list.
var oddProducts = [][3]int{
	{100, 100, 100}, {181, 181, 181}, {256, 256, 256}, {362, 362, 362}, {500, 500, 500}, {724, 724, 724}, {777, 1333, 555},
	{1000, 1000, 1000}, {1023, 1023, 1023}, {1024, 1024, 1024}, {1025, 1025, 1025}, {1234, 2345, 345}, {1448, 1448, 1448}, {1500, 1500, 1500},
	{2000, 2000, 2000}, {2049, 2049, 2049}, {2896, 2896, 2896}, {3000, 3000, 3000}, {3333, 1111, 2222}, {4095, 4095, 4095}, {5000, 5000, 5000}, {8191, 8191, 8191},
	{8192, 64, 8192}, {64, 8192, 64}, {8192, 8192, 64}, {64, 64, 8192}, {64, 8192, 8192}, {10000, 33, 1000}, {17, 4096, 4096}, {3000, 3000, 15}, {300, 300, 20000},
}

func oddName(p [3]int) string { return fmt.Sprintf("gemm float32 %dx%dx%d", p[0], p[1], p[2]) }

// measureBLAS prints time and speed relative to cuBLAS: products with B transposed, as in a
// layer of a network, which all types take without a copy, and operations on vectors.
func measureBLAS(ctx context.Context, dev *gpu.Device) error {
	peers, err := peer(ctx, "peers_blas.py")
	if err != nil {
		fmt.Printf("no peers: %v\n", err)
	}
	fmt.Printf("%-36s %10s %8s%s %10s %8s\n", "", "us", "TFLOP/s", vendorHeader(), "cuBLAS us", "relative")
	line := func(name string, seconds, rate, goal float64, columns string) {
		fmt.Printf("%-36s %10.1f %8.3g%s", name, seconds*1e6, rate, columns)
		if theirs, ok := peers[name]; ok {
			fmt.Printf(" %10.1f %8.2f", theirs*1e6, theirs/seconds)
			if theirs/seconds < goal {
				fmt.Printf(" MISSED (goal %g)", goal)
			}
		}
		fmt.Println()
	}
	for _, c := range gemmCases {
		seconds, err := measureGemm(ctx, dev, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name(), err)
		}
		n := float64(c.n)
		line(c.name(), seconds, 2*n*n*n*float64(c.batch)/seconds/1e12, c.goal, vendor(dev, seconds, func() (float64, error) { return measureGemm(ctx, dev, c) }))
	}
	for _, p := range oddProducts {
		seconds, err := measureOddProduct(ctx, dev, p)
		if err != nil {
			return fmt.Errorf("%s: %w", oddName(p), err)
		}
		line(oddName(p), seconds, 2*float64(p[0])*float64(p[1])*float64(p[2])/seconds/1e12, 0.9, vendor(dev, seconds, func() (float64, error) { return measureOddProduct(ctx, dev, p) }))
	}
	fmt.Printf("%-36s %10s %8s\n", "", "us", "GB/s")
	return measureBLASVectors(ctx, dev, func(name string, seconds, bytes float64) { line(name, seconds, bytes/seconds/1e9, 0, "") })
}

func measureGemm(ctx context.Context, dev *gpu.Device, c gemmCase) (float64, error) {
	switch c.elements {
	case "float32":
		return measureProduct(ctx, dev, c, func(s *gpu.Stream, a, b blas.Batch[float32], to blas.Batch[float32]) error {
			return blas.GemmBatched(s, blas.NoTrans, blas.Trans, 1, a, b, 0, to, blas.Epilogue[float32]{})
		})
	case "float64":
		return measureProduct(ctx, dev, c, func(s *gpu.Stream, a, b blas.Batch[float64], to blas.Batch[float64]) error {
			return blas.GemmBatched(s, blas.NoTrans, blas.Trans, 1, a, b, 0, to, blas.Epilogue[float64]{})
		})
	case "tf32":
		return measureProduct(ctx, dev, c, tensorProduct[float32])
	case "float16":
		return measureProduct(ctx, dev, c, tensorProduct[kernel.Float16])
	case "bfloat16":
		return measureProduct(ctx, dev, c, tensorProduct[kernel.BFloat16])
	case "float8_e4m3fn":
		return measureProduct(ctx, dev, c, float8Product[kernel.Float8E4M3])
	case "float8_e5m2":
		return measureProduct(ctx, dev, c, float8Product[kernel.Float8E5M2])
	default:
		return measureProduct(ctx, dev, c, func(s *gpu.Stream, a, b blas.Batch[int8], to blas.Batch[int32]) error {
			return blas.GemmInteger(s, blas.NoTrans, blas.Trans, 1, a, b, 0, to)
		})
	}
}

func measureOddProduct(ctx context.Context, dev *gpu.Device, p [3]int) (float64, error) {
	s := dev.DefaultStream()
	var m [3]blas.General[float32]
	for i, shape := range [][2]int{{p[0], p[2]}, {p[2], p[1]}, {p[0], p[1]}} {
		b, err := gpu.Alloc[float32](dev, shape[0]*shape[1])
		if err != nil {
			return 0, err
		}
		defer b.Close()
		if err := gpu.Zero(s, b); err != nil {
			return 0, err
		}
		m[i] = blas.General[float32]{Rows: shape[0], Cols: shape[1], Stride: shape[1], Data: b}
	}
	return measure(ctx, s, func() error { return blas.Gemm(s, blas.NoTrans, blas.NoTrans, 1, m[0], m[1], 0, m[2]) })
}

func tensorProduct[T blas.TensorElement](s *gpu.Stream, a, b blas.Batch[T], c blas.Batch[float32]) error {
	return blas.GemmTensor(s, blas.NoTrans, blas.Trans, 1, a, b, 0, c, blas.Epilogue[float32]{})
}

func float8Product[T kernel.Float8E4M3 | kernel.Float8E5M2](s *gpu.Stream, a, b blas.Batch[T], c blas.Batch[float32]) error {
	return blas.GemmFloat8(s, blas.NoTrans, blas.Trans, 1, a, b, 0, c, blas.Epilogue[float32]{})
}

func measureProduct[T, C any](ctx context.Context, dev *gpu.Device, c gemmCase, f func(s *gpu.Stream, a, b blas.Batch[T], to blas.Batch[C]) error) (float64, error) {
	s, size := dev.DefaultStream(), c.n*c.n*c.batch
	a, err := gpu.Alloc[T](dev, size)
	if err != nil {
		return 0, err
	}
	defer a.Close()
	b, err := gpu.Alloc[T](dev, size)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	to, err := gpu.Alloc[C](dev, size)
	if err != nil {
		return 0, err
	}
	defer to.Close()
	for _, x := range []*gpu.Buffer[T]{a, b} {
		if err := gpu.Zero(s, x); err != nil {
			return 0, err
		}
	}
	x, y := batchOf(a, c), batchOf(b, c)
	z := blas.Batch[C]{General: blas.General[C]{Rows: c.n, Cols: c.n, Stride: c.n, Data: to}, Step: c.n * c.n, Count: c.batch}
	return measure(ctx, s, func() error { return f(s, x, y, z) })
}

func batchOf[T any](b *gpu.Buffer[T], c gemmCase) blas.Batch[T] {
	return blas.Batch[T]{General: blas.General[T]{Rows: c.n, Cols: c.n, Stride: c.n, Data: b}, Step: c.n * c.n, Count: c.batch}
}

// measureBLASVectors measures what is limited by memory, with 2^26 elements.
func measureBLASVectors(ctx context.Context, dev *gpu.Device, line func(name string, seconds, bytes float64)) error {
	const n, side = 1 << 26, 1 << 13
	s := dev.DefaultStream()
	var buffers [3]*gpu.Buffer[float32]
	for i := range buffers {
		b, err := gpu.Alloc[float32](dev, n)
		if err != nil {
			return err
		}
		defer b.Close()
		if err := gpu.Zero(s, b); err != nil {
			return err
		}
		buffers[i] = b
	}
	x, y := blas.Vector[float32]{N: n, Inc: 1, Data: buffers[0]}, blas.Vector[float32]{N: n, Inc: 1, Data: buffers[1]}
	a, t := blas.General[float32]{Rows: side, Cols: side, Stride: side, Data: buffers[0]}, blas.General[float32]{Rows: side, Cols: side, Stride: side, Data: buffers[1]}
	v, w := blas.Vector[float32]{N: side, Inc: 1, Data: buffers[1]}, blas.Vector[float32]{N: side, Inc: 1, Data: buffers[2]}
	for _, c := range []struct {
		name  string
		bytes float64
		f     func() error
	}{
		{"axpy float32", 12 * n, func() error { return blas.Axpy(s, 2, x, y) }},
		{"dot float32", 8 * n, func() error { return blas.Dot(s, x, y, buffers[2]) }},
		{"nrm2 float32", 4 * n, func() error { return blas.Nrm2(s, x, buffers[2]) }},
		{"gemv float32", 4 * n, func() error { return blas.Gemv(s, blas.NoTrans, 1, a, v, 0, w) }},
		{"gemv trans float32", 4 * n, func() error { return blas.Gemv(s, blas.Trans, 1, a, v, 0, w) }},
		{"transpose float32", 8 * n, func() error { return blas.TransposeTo(s, t, a) }},
	} {
		seconds, err := measure(ctx, s, c.f)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		line(c.name, seconds, c.bytes)
	}
	return nil
}
