package algo

import (
	"errors"
	"math"
	"math/rand/v2"
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

// Zeros of both signs and NaNs with different bits are equal keys: they keep their order.
func TestSortAxisKeepsTheOrderOfEqualNumbers(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, n := range []int{2, 40, 100, 1000, mostInWarp} {
			for _, descending := range []bool{false, true} {
				x := make([]float32, 3*n)
				for i := range x {
					switch rand.IntN(4) {
					case 0:
						x[i] = float32(math.Copysign(0, float64(rand.IntN(2))-0.5))
					case 1:
						x[i] = math.Float32frombits(0x7fc00000 | rand.Uint32()&0x803fffff)
					default:
						x[i] = float32(rand.IntN(5) - 2)
					}
				}
				want := slices.Clone(x)
				for i := range 3 {
					slices.SortStableFunc(want[i*n:(i+1)*n], func(a, b float32) int {
						if c := less(a, b); a == a && b == b && descending {
							return -c
						} else {
							return c
						}
					})
				}
				keys := gputest.Upload(t, d, x)
				if err := SortAxis(d.DefaultStream(), Radix{Descending: descending}, Axis{3, n, 1}, keys); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, gputest.Download(t, d, keys), want, gputest.Bits)
			}
		}
	})
}

func testSortSegments[K int16 | uint8 | int32 | float32 | int64](t *testing.T, d *gpu.Device, ends []int32, n int, descending bool) {
	t.Helper()
	keys := make([]K, n)
	for i := range keys {
		keys[i] = from[K](shapes["random"](i, n))
	}
	want := slices.Clone(keys)
	for i := range len(ends) - 1 {
		slices.SortStableFunc(want[ends[i]:ends[i+1]], func(a, b K) int {
			if c := less(a, b); a == a && b == b && descending {
				return -c
			} else {
				return c
			}
		})
	}
	x := gputest.Upload(t, d, keys)
	if err := SortSegments(d.DefaultStream(), Radix{Descending: descending}, x, gputest.Upload(t, d, ends)); err != nil {
		t.Fatal(err)
	}
	gputest.Equal(t, gputest.Download(t, d, x), want, gputest.NaNEqual)
}

func TestSortSegments(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, c := range []struct {
			ends []int32
			n    int
		}{
			{[]int32{0}, 5},
			{[]int32{0, 0}, 0},
			{[]int32{0, 5}, 5},
			{[]int32{2, 2, 40, 41, 41, 300}, 320}, // empty ones, and keys outside
			{[]int32{0, 1, 2, 3, 999, 1000}, 1000},
		} {
			testSortSegments[float32](t, d, c.ends, c.n, false)
			testSortSegments[int64](t, d, c.ends, c.n, true)
			testSortSegments[int16](t, d, c.ends, c.n, false)
			testSortSegments[uint8](t, d, c.ends, c.n, true)
		}
	})
}

// sortedIndices returns the indices that sort keys stably, like Sort.
func sortedIndices[K int16 | uint8 | int32 | float32 | int64](keys []K, descending bool) []uint32 {
	at := make([]uint32, len(keys))
	for i := range at {
		at[i] = uint32(i)
	}
	slices.SortStableFunc(at, func(i, j uint32) int {
		a, b := keys[i], keys[j]
		if c := less(a, b); a == a && b == b && descending {
			return -c
		} else {
			return c
		}
	})
	return at
}

func testSortPairsAxis[K int16 | uint8 | int32 | float32 | int64, V comparable](t *testing.T, d *gpu.Device, a Axis, descending bool, value func(i int) V) {
	t.Helper()
	n := a.size()
	for shape := range some(shapes, 1) {
		keys, values := make([]K, n), make([]V, n)
		for i := range keys {
			keys[i], values[i] = from[K](shapes[shape](i, n)), value(i)
		}
		want, wantValues, wantAt := make([]K, n), make([]V, n), make([]uint32, n)
		for z := range a.Outer {
			for x := range a.Inner {
				place := func(i int) int { return (z*a.N+i)*a.Inner + x }
				line := make([]K, a.N)
				for i := range line {
					line[i] = keys[place(i)]
				}
				for i, from := range sortedIndices(line, descending) {
					want[place(i)], wantValues[place(i)], wantAt[place(i)] = line[from], values[place(int(from))], from
				}
			}
		}
		s, r := d.DefaultStream(), Radix{Descending: descending}
		x, y, at := gputest.Upload(t, d, keys), gputest.Upload(t, d, values), gputest.Alloc[uint32](t, d, n)
		if err := ArgSortAxis(s, r, a, at, x); err != nil {
			t.Fatal(err)
		}
		ok := gputest.Equal(t, gputest.Download(t, d, at), wantAt)
		ok = gputest.Equal(t, gputest.Download(t, d, x), keys, gputest.Bits) && ok
		if err := SortPairsAxis(s, r, a, x, y); err != nil {
			t.Fatal(err)
		}
		ok = gputest.Equal(t, gputest.Download(t, d, x), want, gputest.Bits) && ok
		if !ok || !slices.Equal(gputest.Download(t, d, y), wantValues) {
			t.Fatalf("%T with %T, %s, %v, descending=%v", keys, values, shape, a, descending)
		}
	}
}

func TestSortPairsAxis(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for i, a := range []Axis{
			{0, 5, 3}, {2, 0, 3}, {5, 1, 3}, {3, 2, 1}, {7, 33, 1}, {2, 31, 5}, {1, 500, 3}, {1, 700, 1},
			{3, mostInLine, 1}, {2, mostInLine + 1, 1}, {1, mostInLine + 1, 2},
		} {
			testSortPairsAxis[float32](t, d, a, i%2 == 0, func(i int) int32 { return int32(i) })
			testSortPairsAxis[int64](t, d, a, i%2 == 1, func(i int) float64 { return float64(i) })
			testSortPairsAxis[int16](t, d, a, i%3 == 0, func(i int) [3]uint8 { return [3]uint8{uint8(i), uint8(i >> 8), uint8(i >> 16)} })
		}
	})
}

func TestArgSortGathersTheSortedKeys(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, n := range []int{0, 1, 300, 2*mostInLine + 3} {
			keys := make([]float32, n)
			for i := range keys {
				keys[i] = from[float32](shapes["special"](i, n))
			}
			x, at, y := gputest.Upload(t, d, keys), gputest.Alloc[uint32](t, d, n), gputest.Alloc[float32](t, d, n)
			if err := errors.Join(ArgSort(s, Radix{Descending: true}, at, x), Gather(s, y, x, at)); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, at), sortedIndices(keys, true))
			if err := SortRadix(s, Radix{Descending: true}, x); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, y), gputest.Download(t, d, x), gputest.Bits)
		}
	})
}

func testSortPairsSegments[K int16 | uint8 | int32 | float32 | int64, V comparable](t *testing.T, d *gpu.Device, ends []int32, n int, descending bool, value func(i int) V) {
	t.Helper()
	keys, values := make([]K, n), make([]V, n)
	for i := range keys {
		keys[i], values[i] = from[K](shapes["few"](i, n)), value(i)
	}
	want, wantValues := slices.Clone(keys), slices.Clone(values)
	for i := range len(ends) - 1 {
		first, last := ends[i], ends[i+1]
		for j, from := range sortedIndices(keys[first:last], descending) {
			want[int(first)+j], wantValues[int(first)+j] = keys[uint32(first)+from], values[uint32(first)+from]
		}
	}
	x, y := gputest.Upload(t, d, keys), gputest.Upload(t, d, values)
	if err := SortPairsSegments(d.DefaultStream(), Radix{Descending: descending}, x, y, gputest.Upload(t, d, ends)); err != nil {
		t.Fatal(err)
	}
	gputest.Equal(t, gputest.Download(t, d, x), want, gputest.Bits)
	if !slices.Equal(gputest.Download(t, d, y), wantValues) {
		t.Fatalf("%T with %T, %v", keys, values, ends)
	}
}

func TestSortPairsSegments(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, c := range []struct {
			ends []int32
			n    int
		}{
			{[]int32{0}, 5},
			{[]int32{0, 0}, 0},
			{[]int32{2, 2, 40, 41, 41, 300}, 320}, // empty ones, and keys outside
			{[]int32{0, 1, 2, 3, 999, 1000}, 1000},
		} {
			testSortPairsSegments[float32](t, d, c.ends, c.n, false, func(i int) int32 { return int32(i) })
			testSortPairsSegments[int64](t, d, c.ends, c.n, true, func(i int) [3]uint16 { return [3]uint16{uint16(i)} })
			testSortPairsSegments[uint8](t, d, c.ends, c.n, true, func(i int) float64 { return float64(i) })
		}
	})
}
