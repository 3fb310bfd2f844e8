package algo

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// less orders keys as Sort does.
func less[K int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](a, b K) int {
	if a != a || b != b {
		return cmp.Compare(boolOf(a != a), boolOf(b != b))
	}
	return cmp.Compare(a, b)
}

func boolOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// shapes are arrangements of keys, each a function of the position and the length.
var shapes = map[string]func(i, n int) float64{
	"random":   func(i, n int) float64 { return math.Float64frombits(rand.Uint64()) },
	"equal":    func(i, n int) float64 { return 7 },
	"sorted":   func(i, n int) float64 { return float64(i) },
	"reversed": func(i, n int) float64 { return float64(n - i) },
	"organ":    func(i, n int) float64 { return float64(min(i, n-i)) },
	"few":      func(i, n int) float64 { return float64(rand.IntN(3) - 1) },
	"special": func(i, n int) float64 {
		return []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -5e-324, 1, -1}[rand.IntN(9)]
	},
}

// from converts a number to a key, for integers by its bits.
func from[K any](x float64) (k K) {
	u := math.Float64bits(x)
	switch p := any(&k).(type) {
	case *int8:
		*p = int8(u ^ u>>8 ^ uint64(int64(x)))
	case *uint8:
		*p = uint8(u ^ u>>8 ^ uint64(int64(x)))
	case *int16:
		*p = int16(u ^ uint64(int64(x)))
	case *uint16:
		*p = uint16(u ^ uint64(int64(x)))
	case *int32:
		*p = int32(u>>20 ^ uint64(int64(x)))
	case *uint32:
		*p = uint32(u>>20 ^ uint64(int64(x)))
	case *int64:
		*p = int64(u)
	case *uint64:
		*p = u
	case *float32:
		*p = float32(x)
	case *float64:
		*p = x
	}
	return k
}

func testSort[K int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](t *testing.T, d *gpu.Device, n int, shape string) {
	t.Helper()
	s := d.DefaultStream()
	keys := make([]K, n)
	index := make([]int, n)
	values8, values12 := make([]uint64, n), make([][3]float32, n)
	values4 := make([]int32, n)
	for i := range keys {
		keys[i], index[i] = from[K](shapes[shape](i, n)), i
		values4[i], values8[i], values12[i] = int32(i), uint64(i)<<32, [3]float32{float32(i), -1, float32(-i)}
	}
	for _, descending := range []bool{false, true} {
		order := slices.Clone(index)
		slices.SortStableFunc(order, func(i, j int) int {
			c := less(keys[i], keys[j])
			if descending && keys[i] == keys[i] && keys[j] == keys[j] {
				c = -c
			}
			return c
		})
		sorted := make([]K, n)
		want4, want8, want12 := make([]int32, n), make([]uint64, n), make([][3]float32, n)
		for i, o := range order {
			sorted[i], want4[i], want8[i], want12[i] = keys[o], values4[o], values8[o], values12[o]
		}
		r := Radix{Descending: descending}
		buffer := gputest.Upload(t, d, keys)
		if err := SortRadix(s, r, buffer); err != nil {
			t.Fatal(err)
		}
		ok := gputest.Equal(t, gputest.Download(t, d, buffer), sorted, gputest.NaNEqual)
		pairs := func(values int) {
			buffer := gputest.Upload(t, d, keys)
			switch values {
			case 4:
				v := gputest.Upload(t, d, values4)
				if err := SortPairsRadix(s, r, buffer, v); err != nil {
					t.Fatal(err)
				}
				ok = gputest.Equal(t, gputest.Download(t, d, v), want4) && ok
			case 8:
				v := gputest.Upload(t, d, values8)
				if err := SortPairsRadix(s, r, buffer, v); err != nil {
					t.Fatal(err)
				}
				ok = gputest.Equal(t, gputest.Download(t, d, v), want8) && ok
			default:
				v := gputest.Upload(t, d, values12)
				if err := SortPairsRadix(s, r, buffer, v); err != nil {
					t.Fatal(err)
				}
				ok = gputest.Equal(t, gputest.Download(t, d, v), want12) && ok
			}
			ok = gputest.Equal(t, gputest.Download(t, d, buffer), sorted, gputest.NaNEqual) && ok
		}
		if d.Backend() == gpu.Sim {
			pairs([]int{4, 8, 12}[rand.IntN(3)])
		} else {
			pairs(4)
			pairs(8)
			pairs(12)
		}
		if !ok {
			t.Fatalf("%T, n=%d, %s, descending=%v", keys, n, shape, descending)
		}
	}
}

// some returns up to n random entries of a map.
func some[K comparable, V any](m map[K]V, n int) map[K]V {
	m = maps.Clone(m)
	for k := range m { // in random order
		if len(m) > n {
			delete(m, k)
		}
	}
	return m
}

func TestSort(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		sizes, most := []int{0, 1, 2, 255, 4096, 4097, 30000}, len(shapes)
		if d.Backend() == gpu.Sim {
			sizes, most = []int{0, 1, 2, 255, 1000, 4224, 4225, 9000}, 2
			defer func(n int) { portion = n }(portion)
			portion = sortThreads * mostSortItems
		}
		for _, n := range sizes {
			for shape := range some(shapes, most) {
				tests := []func(*testing.T, *gpu.Device, int, string){
					testSort[int8], testSort[uint8], testSort[int16], testSort[uint16], testSort[int32],
					testSort[uint32], testSort[int64], testSort[uint64], testSort[float32], testSort[float64],
				}
				if n > 2 {
					tests = []func(*testing.T, *gpu.Device, int, string){tests[rand.IntN(len(tests))]}
				}
				for _, test := range tests {
					test(t, d, n, shape)
				}
			}
		}
	})
}

// TestSortTiles sorts more tiles than a thread looks back by at a time.
func TestSortTiles(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for shape := range some(shapes, 2) {
			testSort[uint32](t, d, 6*sortThreads*mostSortItems+1, shape)
			testSort[float64](t, d, 6*sortThreads*longSortItems+1, shape)
		}
	})
}

func TestSortBits(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		keys := make([]uint32, 5000)
		for i := range keys {
			keys[i] = rand.Uint32()
		}
		for _, r := range []Radix{{FirstBit: 3, Bits: 9}, {FirstBit: 31}, {Bits: 1, Descending: true}, {FirstBit: 8, Bits: 16}} {
			bits := r.Bits
			if bits == 0 {
				bits = 32 - r.FirstBit
			}
			want := slices.Clone(keys)
			slices.SortStableFunc(want, func(a, b uint32) int {
				mask := uint32(1<<bits - 1)
				c := cmp.Compare(a>>r.FirstBit&mask, b>>r.FirstBit&mask)
				if r.Descending {
					c = -c
				}
				return c
			})
			x := gputest.Upload(t, d, keys)
			if err := SortRadix(s, r, x); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, x), want)
		}
		halves := gputest.Upload(t, d, []kernel.Float16{kernel.ToFloat16(2), kernel.ToFloat16(-1), kernel.ToFloat16(math.Inf(-1)), kernel.ToFloat16(math.NaN()), kernel.ToFloat16(1.5)})
		if err := Sort(s, halves); err != nil {
			t.Fatal(err)
		}
		got := gputest.Download(t, d, halves)
		if !got[0].IsInf(-1) || got[1].Float32() != -1 || got[2].Float32() != 1.5 || got[3].Float32() != 2 || !got[4].IsNaN() {
			t.Errorf("halves: %v", got)
		}
	})
}
