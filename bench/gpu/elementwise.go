package main

import (
	"errors"
	"fmt"
	"unsafe"

	"quern.dev/bench/kernels"
	"quern.dev/bench/results"
	"quern.dev/gpu"
)

// elementwise measures kernels with one index each, on as many bytes as saxpy.
func (b *bench) elementwise() error {
	n := b.size.vector
	return errors.Join(
		elementwise(b, "copy in a kernel", n, 2, func(g gpu.Grid, x, y, _ *gpu.Buffer[float32]) error {
			return kernels.LaunchDuplicate(b.stream, g, x, y)
		}, func(x, _, z float32) (float32, float32, float32) { return x, x, z }),
		elementwise(b, "scale in place", n, 2, func(g gpu.Grid, x, _, _ *gpu.Buffer[float32]) error {
			return kernels.LaunchScale(b.stream, g, 2, x)
		}, func(x, y, z float32) (float32, float32, float32) { return 2 * x, y, z }),
		elementwise(b, "add", n, 3, func(g gpu.Grid, x, y, z *gpu.Buffer[float32]) error {
			return kernels.LaunchAdd(b.stream, g, x, y, z)
		}, func(x, y, _ float32) (float32, float32, float32) { return x, y, x + y }),
		elementwise(b, "add, float64", n/2, 3, func(g gpu.Grid, x, y, z *gpu.Buffer[float64]) error {
			return kernels.LaunchAddDoubles(b.stream, g, x, y, z)
		}, func(x, y, _ float64) (float64, float64, float64) { return x, y, x + y }),
		elementwise(b, "invert, uint8", 4*n, 2, func(g gpu.Grid, x, y, _ *gpu.Buffer[uint8]) error {
			return kernels.LaunchInvertBytes(b.stream, g, x, y)
		}, func(x, _, z uint8) (uint8, uint8, uint8) { return x, 255 - x, z }),
		elementwise(b, "mix, uint16", 2*n, 3, func(g gpu.Grid, x, y, z *gpu.Buffer[uint16]) error {
			return kernels.LaunchMixWords(b.stream, g, x, y, z)
		}, func(x, y, _ uint16) (uint16, uint16, uint16) {
			return x, y, uint16((uint32(x) + uint32(y) + 1) / 2)
		}),
	)
}

// elementwise measures a kernel that moves the given number of arrays, and compares some
// of its results with want.
func elementwise[T float32 | float64 | uint8 | uint16](b *bench, name string, n, arrays int,
	launch func(g gpu.Grid, x, y, z *gpu.Buffer[T]) error, want func(x, y, z T) (T, T, T)) error {
	var buffers [3]*gpu.Buffer[T]
	const sample = 1 << 16
	pattern := func(k, i int) T { return T((i*7 + k*13) % 251) }
	reset := func() error {
		for k, d := range buffers {
			host := make([]T, min(sample, n))
			for i := range host {
				host[i] = pattern(k, i)
			}
			for lo := 0; lo < n; lo += len(host) {
				hi := min(n, lo+len(host))
				if err := gpu.CopyIn(b.stream, d.Slice(lo, hi), host[:hi-lo]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for k := range buffers {
		var err error
		if buffers[k], err = gpu.Alloc[T](b.dev, n); err != nil {
			return err
		}
		defer buffers[k].Close()
	}
	check := func() error {
		m := min(sample, n)
		for _, lo := range []int{0, (n - m) / m * m} {
			var got [3][]T
			for k, d := range buffers {
				got[k] = make([]T, m)
				if err := gpu.Download(b.ctx, b.stream, got[k], d.Slice(lo, lo+m)); err != nil {
					return err
				}
			}
			for i := range m {
				x, y, z := want(pattern(0, i), pattern(1, i), pattern(2, i))
				if got[0][i] != x || got[1][i] != y || got[2][i] != z {
					return fmt.Errorf("element %d is %v, %v, %v, want %v, %v, %v", lo+i, got[0][i], got[1][i], got[2][i], x, y, z)
				}
			}
		}
		return nil
	}
	g := gpu.Linear(n)
	var zero T
	bytes := float64(arrays) * float64(n) * float64(unsafe.Sizeof(zero)) / 1e9
	b.compare(name, results.Bandwidth, bytes, check,
		tool{"Quern", reset, func() error { return launch(g, buffers[0], buffers[1], buffers[2]) }})
	return nil
}
