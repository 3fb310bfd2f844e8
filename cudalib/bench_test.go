package cudalib_test

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"quern.dev/blas"
	"quern.dev/cudalib"
	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/random"
	"quern.dev/sparse"
)

// oneGPU opens a GPU once: opening loads all kernels of the libraries again.
var oneGPU = sync.OnceValues(func() (*gpu.Device, error) { return gpu.Open(gpu.Config{Require: gpu.CUDA}) })

// engines measures work on a GPU by both engines. amount is what a call does, in units of the
// metric times seconds.
func engines(b *testing.B, name, metric string, amount float64, prepare func(b *testing.B, s *gpu.Stream) func() error) {
	for _, e := range []cudalib.Engine{cudalib.Quern, cudalib.Vendor} {
		b.Run(fmt.Sprintf("%s/%v", name, e), func(b *testing.B) {
			d, err := oneGPU()
			if err != nil {
				b.Skipf("needs a GPU: %v", err)
			}
			s := d.DefaultStream()
			do(b, cudalib.Use(s, e))
			run := prepare(b, s)
			for range 3 { // loads kernels, fills the pool
				do(b, run())
			}
			do(b, s.Synchronize(b.Context()))
			b.ResetTimer()
			for range b.N { // b.Loop stops the clock before the wait
				do(b, run())
			}
			do(b, s.Synchronize(b.Context()))
			b.StopTimer()
			b.ReportMetric(amount*float64(b.N)/b.Elapsed().Seconds(), metric)
		})
	}
}

// alloc returns a buffer that is closed with the benchmark.
func alloc[T any](b *testing.B, s *gpu.Stream, n int) *gpu.Buffer[T] {
	b.Helper()
	x, err := gpu.Alloc[T](s.Device(), n)
	do(b, err)
	b.Cleanup(func() { x.Close() })
	return x
}

// noise returns a buffer of random numbers; of halves and bytes, random bits of small ones.
func noise[T any](b *testing.B, s *gpu.Stream, n int) *gpu.Buffer[T] {
	b.Helper()
	x := alloc[T](b, s, n)
	src := random.Source{Seed: 1}
	var zero T
	switch any(zero).(type) {
	case float32, complex64:
		do(b, random.Uniform(s, src, gpu.Reinterpret[float32](x), -1, 1))
	case float64:
		do(b, random.Uniform(s, src, gpu.Reinterpret[float64](x), -1, 1))
	default:
		host := make([]uint32, n*int(unsafe.Sizeof(zero))/4)
		for i := range host {
			host[i] = src.Uint32(uint64(i)) & 0xbfffbfff
		}
		do(b, gpu.CopyIn(s, gpu.Reinterpret[uint32](x), host))
	}
	return x
}

func squareOf[T any](x *gpu.Buffer[T], n int) blas.Batch[T] {
	return blas.General[T]{Rows: n, Cols: n, Stride: n, Data: x}.Batch()
}

func BenchmarkProducts(b *testing.B) {
	flops := func(n int) float64 { return 2 * float64(n) * float64(n) * float64(n) / 1e12 }
	for _, n := range []int{512, 1024, 4096, 8192} {
		engines(b, fmt.Sprintf("float32/%d", n), "TFLOP/s", flops(n), func(b *testing.B, s *gpu.Stream) func() error {
			x, y, z := squareOf(noise[float32](b, s, n*n), n), squareOf(noise[float32](b, s, n*n), n), squareOf(alloc[float32](b, s, n*n), n)
			return func() error {
				return blas.GemmBatched(s, blas.NoTrans, blas.Trans, 1, x, y, 0, z, blas.Epilogue[float32]{})
			}
		})
	}
	engines(b, "float64/4096", "TFLOP/s", flops(4096), func(b *testing.B, s *gpu.Stream) func() error {
		const n = 4096
		x, y, z := squareOf(noise[float64](b, s, n*n), n), squareOf(noise[float64](b, s, n*n), n), squareOf(alloc[float64](b, s, n*n), n)
		return func() error {
			return blas.GemmBatched(s, blas.NoTrans, blas.Trans, 1, x, y, 0, z, blas.Epilogue[float64]{})
		}
	})
	tensorProducts[float32](b, "tf32", flops, 4096)
	tensorProducts[kernel.Float16](b, "float16", flops, 4096)
	tensorProducts[kernel.BFloat16](b, "bfloat16", flops, 1024, 4096, 8192)
	engines(b, "int8/4096", "TFLOP/s", flops(4096), func(b *testing.B, s *gpu.Stream) func() error {
		const n = 4096
		x, y, z := squareOf(noise[int8](b, s, n*n), n), squareOf(noise[int8](b, s, n*n), n), squareOf(alloc[int32](b, s, n*n), n)
		return func() error { return blas.GemmInteger(s, blas.NoTrans, blas.Trans, 1, x, y, 0, z) }
	})
}

func tensorProducts[T blas.TensorElement](b *testing.B, name string, flops func(int) float64, sizes ...int) {
	for _, n := range sizes {
		engines(b, fmt.Sprintf("%s/%d", name, n), "TFLOP/s", flops(n), func(b *testing.B, s *gpu.Stream) func() error {
			x, y, z := squareOf(noise[T](b, s, n*n), n), squareOf(noise[T](b, s, n*n), n), squareOf(alloc[float32](b, s, n*n), n)
			return func() error {
				return blas.GemmTensor(s, blas.NoTrans, blas.Trans, 1, x, y, 0, z, blas.Epilogue[float32]{})
			}
		})
	}
}

func BenchmarkTransforms(b *testing.B) {
	for _, d := range []fft.Desc{
		{Shape: []int{256}, Batch: 1 << 16},
		{Shape: []int{4096}, Batch: 1 << 13},
		{Shape: []int{1 << 20}, Batch: 32},
		{Shape: []int{1 << 24}},
		{Shape: []int{4096, 4096}},
		{Shape: []int{256, 256, 256}},
		{Shape: []int{1000}, Batch: 1 << 15},
		{Shape: []int{1009}, Batch: 1 << 13},
	} {
		n := max(d.Batch, 1)
		for _, x := range d.Shape {
			n *= x
		}
		for _, inverse := range []bool{false, true} {
			if inverse && len(d.Shape) == 1 && d.Shape[0] != 4096 {
				continue
			}
			engines(b, fmt.Sprintf("%v/%d/inverse=%v", d.Shape, d.Batch, inverse), "GB/s", 16*float64(n)/1e9, func(b *testing.B, s *gpu.Stream) func() error {
				p, err := fft.NewPlan[complex64](s.Device(), d)
				do(b, err)
				b.Cleanup(func() { p.Close() })
				x, y := noise[complex64](b, s, n), alloc[complex64](b, s, n)
				if inverse {
					return func() error { return p.Inverse(s, y, x) }
				}
				return func() error { return p.Forward(s, y, x) }
			})
		}
	}
	engines(b, "real/[4096]/8192", "GB/s", 8*4096*8192/1e9, func(b *testing.B, s *gpu.Stream) func() error {
		p, err := fft.NewRealPlan[float32, complex64](s.Device(), fft.Desc{Shape: []int{4096}, Batch: 8192})
		do(b, err)
		b.Cleanup(func() { p.Close() })
		x, y := noise[float32](b, s, 4096*8192), alloc[complex64](b, s, 2049*8192)
		return func() error { return p.Forward(s, y, x) }
	})
}

func BenchmarkSparse(b *testing.B) {
	for name, length := range map[string]func(i int) int{
		"5 per row":  func(int) int { return 5 },
		"27 per row": func(int) int { return 27 },
		"power law":  func(i int) int { return 2 + 1<<18/(i+1) },
	} {
		const rows = 1 << 18
		e := &sparse.Entries[float32]{Rows: rows, Cols: rows}
		for i := range rows {
			for k := range length(i) {
				e.Add(i, (i+k*k*31)%rows, 1)
			}
		}
		entries := float64(len(e.Value))
		matrix := func(b *testing.B, s *gpu.Stream) sparse.CSR[float32] {
			a, err := sparse.UploadCSR(s, e)
			do(b, err)
			b.Cleanup(func() { a.Close() })
			return a
		}
		engines(b, "vector/"+name, "GB/s", (8*entries+12*rows)/1e9, func(b *testing.B, s *gpu.Stream) func() error {
			a, x, y := matrix(b, s), noise[float32](b, s, rows), alloc[float32](b, s, rows)
			return func() error { return sparse.MulVec(s, false, 1, a, x, 0, y) }
		})
		engines(b, "matrix of 32 columns/"+name, "GFLOP/s", 64*entries/1e9, func(b *testing.B, s *gpu.Stream) func() error {
			const n = 32
			a := matrix(b, s)
			x, y := sparse.Dense[float32]{Rows: rows, Cols: n, Stride: n, Data: noise[float32](b, s, rows*n)}, sparse.Dense[float32]{Rows: rows, Cols: n, Stride: n, Data: alloc[float32](b, s, rows*n)}
			return func() error { return sparse.MulMat(s, false, 1, a, x, 0, y) }
		})
	}
}
