package algo

import (
	"errors"
	"slices"
	"testing"

	"quern.dev/gpu"
)

// benchmark runs f on the best device. bytes is how much memory each run reads and writes.
func benchmark(b *testing.B, bytes int, f func(s *gpu.Stream) error) {
	b.Helper()
	s := device(b).DefaultStream()
	for range 2 {
		if err := f(s); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		if err := f(s); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Synchronize(b.Context()); err != nil {
		b.Fatal(err)
	}
}

var opened *gpu.Device

// device opens the best device once.
func device(b *testing.B) *gpu.Device {
	if opened == nil {
		d, err := gpu.Open(gpu.Config{})
		if err != nil {
			b.Fatal(err)
		}
		opened = d
	}
	return opened
}

func upload[T any](b *testing.B, x []T) *gpu.Buffer[T] {
	u, err := gpu.Upload(device(b).DefaultStream(), x)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { u.Close() })
	return u
}

const benchLength = 1 << 24

func BenchmarkReduce(b *testing.B) {
	x, one := upload(b, random[float32](benchLength, 1)), upload(b, make([]float32, 1))
	benchmark(b, 4*benchLength, func(s *gpu.Stream) error { return Reduce(s, Sum[float32](), one, x) })
}

func BenchmarkScan(b *testing.B) {
	x, y := upload(b, random[float32](benchLength, 1)), upload(b, make([]float32, benchLength))
	benchmark(b, 8*benchLength, func(s *gpu.Stream) error { return Scan(s, Sum[float32](), y, x) })
}

func BenchmarkPlainSum(b *testing.B) {
	x := random[float32](benchLength, 1)
	b.SetBytes(4 * benchLength)
	for b.Loop() {
		parallel(len(x), func(lo, hi int) {
			sum := float32(0)
			for _, v := range x[lo:hi] {
				sum += v
			}
			sink = sum
		})
	}
}

func BenchmarkPlainScan(b *testing.B) {
	x, y := random[float32](benchLength, 1), make([]float32, benchLength)
	b.SetBytes(8 * benchLength)
	for b.Loop() {
		for pass := range 2 {
			parallel(len(x), func(lo, hi int) {
				sum := float32(0)
				if pass == 0 {
					for _, v := range x[lo:hi] {
						sum += v
					}
					sink = sum
					return
				}
				for i, v := range x[lo:hi] {
					sum += v
					y[lo+i] = sum
				}
			})
		}
	}
}

var sink float32

// parallel divides a range between two goroutines.
func parallel(n int, f func(lo, hi int)) {
	done := make(chan bool)
	for k := range 2 {
		go func() { f(k*n/2, (k+1)*n/2); done <- true }()
	}
	<-done
	<-done
}

func BenchmarkSort(b *testing.B) {
	x := upload(b, random[int32](benchLength, 1<<30))
	y := upload(b, random[int32](benchLength, 1<<30))
	benchmark(b, 4*benchLength, func(s *gpu.Stream) error { return errors.Join(gpu.Copy(s, y, x), Sort(s, y)) })
}

func BenchmarkPlainSort(b *testing.B) {
	x := random[int32](benchLength, 1<<30)
	b.SetBytes(4 * benchLength)
	for b.Loop() {
		y := slices.Clone(x)
		parallel(len(x), func(lo, hi int) { slices.Sort(y[lo:hi]) })
	}
}

const benchBins = 256

func BenchmarkHistogram(b *testing.B) {
	x, bins := upload(b, random[float32](benchLength, 1<<16)), upload(b, make([]uint32, benchBins))
	benchmark(b, 4*benchLength, func(s *gpu.Stream) error { return HistogramEven(s, 0, 1<<16, bins, x) })
}

func BenchmarkPlainHistogram(b *testing.B) {
	x := random[float32](benchLength, 1<<16)
	b.SetBytes(4 * benchLength)
	for b.Loop() {
		var parts [2][benchBins]uint32
		parallel(len(x), func(lo, hi int) {
			bins := &parts[min(lo, 1)]
			for _, v := range x[lo:hi] {
				if i := v * (benchBins / float32(1<<16)); i >= 0 && i < benchBins {
					bins[int(i)]++
				}
			}
		})
		for i, n := range parts[1] {
			parts[0][i] += n
		}
		sink = float32(parts[0][0])
	}
}
