package algo

import (
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func testSortAxis[K int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](t *testing.T, d *gpu.Device, a Axis, descending bool) {
	t.Helper()
	keys := make([]K, a.Outer*a.N*a.Inner)
	for shape := range some(shapes, 1) {
		for i := range keys {
			keys[i] = from[K](shapes[shape](i, len(keys)))
		}
	}
	want := make([]K, len(keys))
	line := make([]K, a.N)
	for z := range a.Outer {
		for x := range a.Inner {
			for i := range line {
				line[i] = keys[(z*a.N+i)*a.Inner+x]
			}
			slices.SortStableFunc(line, func(a, b K) int {
				if c := less(a, b); a == a && b == b && descending {
					return -c
				} else {
					return c
				}
			})
			for i := range line {
				want[(z*a.N+i)*a.Inner+x] = line[i]
			}
		}
	}
	x := gputest.Upload(t, d, keys)
	if err := SortAxis(d.DefaultStream(), Radix{Descending: descending}, a, x); err != nil {
		t.Fatal(err)
	}
	if !gputest.Equal(t, gputest.Download(t, d, x), want, gputest.NaNEqual) {
		t.Fatalf("%T, %v, descending=%v", keys, a, descending)
	}
}

func TestSortAxis(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for i, a := range []Axis{
			{0, 5, 3}, {2, 0, 3}, {5, 1, 3}, {3, 2, 1}, {7, 33, 1}, {2, 31, 5}, {1, 500, 3},
			{3, mostInLine, 1}, {2, mostInLine + 1, 1}, {1, mostInLine + 1, 2}, {2, 2*mostInLine + 3, 1},
		} {
			testSortAxis[float32](t, d, a, i%2 == 0)
			testSortAxis[int64](t, d, a, i%2 == 1)
			testSortAxis[uint16](t, d, a, i%3 == 0)
		}
	})
}

// The order of the bits that count is that of whole lines.
func TestSortAxisBits(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, n := range []int{4, 100} {
			keys := make([]uint32, 2*n)
			for i := range keys {
				keys[i] = uint32(i*7919) << 20 >> 3
			}
			want := slices.Clone(keys)
			for _, line := range [][]uint32{want[:n], want[n:]} {
				slices.SortStableFunc(line, func(a, b uint32) int { return int(a>>20&1023) - int(b>>20&1023) })
			}
			x := gputest.Upload(t, d, keys)
			if err := SortAxis(d.DefaultStream(), Radix{FirstBit: 20, Bits: 10}, Axis{2, n, 1}, x); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, x), want)
		}
	})
}
