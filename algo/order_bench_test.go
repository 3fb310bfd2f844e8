package algo

import (
	"slices"
	"strconv"
	"testing"

	"quern.dev/gpu"
)

// benchmarkOn runs f on a device, with input that reset restores.
func benchmarkOn(b *testing.B, elements int, f func(d *gpu.Device, s *gpu.Stream) (reset, run func() error)) {
	b.Helper()
	d, err := gpu.Open(gpu.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	s := d.DefaultStream()
	reset, run := f(d, s)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if err := reset(); err != nil {
			b.Fatal(err)
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(elements)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Melements/s")
}

const sortLength = 1 << 20

func BenchmarkSortBy(b *testing.B) {
	x := random[float32](sortLength, 1<<20)
	benchmarkOn(b, sortLength, func(d *gpu.Device, s *gpu.Stream) (reset, run func() error) {
		keys, err := gpu.Upload(s, x)
		if err != nil {
			b.Fatal(err)
		}
		return func() error { return gpu.CopyIn(s, keys, x) }, func() error { return SortBy(s, Ascending[float32](), keys) }
	})
}

func BenchmarkSortPairsBy(b *testing.B) {
	x := random[float32](sortLength, 1<<20)
	benchmarkOn(b, sortLength, func(d *gpu.Device, s *gpu.Stream) (reset, run func() error) {
		keys, err := gpu.Upload(s, x)
		if err != nil {
			b.Fatal(err)
		}
		values, err := gpu.Upload(s, x)
		if err != nil {
			b.Fatal(err)
		}
		return func() error { return gpu.CopyIn(s, keys, x) }, func() error { return SortPairsBy(s, Ascending[float32](), keys, values) }
	})
}

func BenchmarkPlainSortFunc(b *testing.B) {
	x := random[float32](sortLength, 1<<20)
	y := slices.Clone(x)
	for b.Loop() {
		b.StopTimer()
		copy(y, x)
		b.StartTimer()
		slices.SortFunc(y, ascending)
	}
	b.ReportMetric(float64(sortLength)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Melements/s")
}

// BenchmarkTopK finds 100 to a sixteenth of the keys; a CPU sorts all of them if one more is wanted.
func BenchmarkTopK(b *testing.B) {
	x := random[float32](sortLength, 1<<20)
	for _, k := range []int{100, 10000, sortLength / 16, sortLength/16 + 1} {
		b.Run(strconv.Itoa(k), func(b *testing.B) {
			benchmarkOn(b, sortLength, func(d *gpu.Device, s *gpu.Stream) (reset, run func() error) {
				src, err := gpu.Upload(s, x)
				if err != nil {
					b.Fatal(err)
				}
				dst, err := gpu.Alloc[float32](d, k)
				if err != nil {
					b.Fatal(err)
				}
				return func() error { return nil }, func() error { return TopK(s, Radix{Descending: true}, dst, src) }
			})
		})
	}
}
