package algo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func testTopK[K int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](t *testing.T, d *gpu.Device, n, k int, shape string, r Radix) {
	t.Helper()
	s := d.DefaultStream()
	keys, positions := make([]K, n), make([]uint32, n)
	for i := range keys {
		keys[i], positions[i] = from[K](shapes[shape](i, n)), uint32(i)
	}
	src := gputest.Upload(t, d, keys)
	// The first elements are those of a whole sort.
	all, where := gputest.Upload(t, d, keys), gputest.Upload(t, d, positions)
	if err := SortPairsRadix(s, r, all, where); err != nil {
		t.Fatal(err)
	}
	want, wantAt := gputest.Download(t, d, all)[:k], gputest.Download(t, d, where)[:k]
	dst, index := gputest.Alloc[K](t, d, k), gputest.Alloc[uint32](t, d, k)
	if err := TopK(s, r, dst, src); err != nil {
		t.Fatal(err)
	}
	ok := gputest.Equal(t, gputest.Download(t, d, dst), want, gputest.NaNEqual)
	if err := TopKIndices(s, r, dst, index, src); err != nil {
		t.Fatal(err)
	}
	ok = gputest.Equal(t, gputest.Download(t, d, dst), want, gputest.NaNEqual) && ok
	ok = gputest.Equal(t, gputest.Download(t, d, index), wantAt) && ok
	ok = gputest.Equal(t, gputest.Download(t, d, src), keys, gputest.Bits) && ok
	if !ok {
		t.Fatalf("%T, n=%d, k=%d, %s, %+v", keys, n, k, shape, r)
	}
}

func TestTopK(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, size := range [][2]int{{0, 0}, {5, 0}, {1, 1}, {300, 7}, {5000, 5000}, {9000, 100}, {9000, 562}, {9000, 4500}} {
			for shape := range some(shapes, 3) {
				r := Radix{Descending: rand.IntN(2) == 0}
				testTopK[float32](t, d, size[0], size[1], shape, r)
				testTopK[int64](t, d, size[0], size[1], shape, r)
				testTopK[int16](t, d, size[0], size[1], shape, r)
				testTopK[uint32](t, d, size[0], size[1], shape, Radix{Descending: r.Descending, FirstBit: 3, Bits: 13})
			}
		}
	})
}

// A CPU divides many keys into parts, finds the first ones of each, and sorts a copy if many are
// wanted. The first keys of a reversed sequence come last.
func TestTopKOfManyKeys(t *testing.T) {
	d := gputest.Open(t, gpu.Config{Device: "cpu"})
	for _, size := range [][2]int{{1<<15 - 1, 1}, {1 << 15, 3}, {5<<14 + 7, 1024}, {5<<14 + 7, 1025}, {100003, 6250}, {100003, 6251}, {3 << 20, 10}} {
		for shape := range shapes {
			if size[0] > 1<<20 && shape != "reversed" {
				continue
			}
			r := Radix{Descending: rand.IntN(2) == 0}
			testTopK[float32](t, d, size[0], size[1], shape, r)
			testTopK[uint64](t, d, size[0], size[1], shape, r)
			testTopK[int8](t, d, size[0], size[1], shape, r)
			testTopK[int32](t, d, size[0], size[1], shape, Radix{Descending: r.Descending, FirstBit: 5, Bits: 9})
		}
	}
}

func TestTopKOfOne(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := gputest.Upload(t, d, []uint8{3, 9, 1, 9})
		y, at := gputest.Alloc[uint8](t, d, 1), gputest.Alloc[uint32](t, d, 1)
		if err := TopKIndices(d.DefaultStream(), Radix{Descending: true}, y, at, x); err != nil {
			t.Fatal(err)
		}
		if got, i := gputest.Download(t, d, y)[0], gputest.Download(t, d, at)[0]; got != 9 || i != 1 {
			t.Errorf("%d at %d, want 9 at 1", got, i)
		}
	})
}

func TestTopKKeepsTheOrder(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := gputest.Upload(t, d, slices.Repeat([]float32{0}, 20000))
		y, at := gputest.Alloc[float32](t, d, 6000), gputest.Alloc[uint32](t, d, 6000)
		if err := TopKIndices(d.DefaultStream(), Radix{}, y, at, x); err != nil {
			t.Fatal(err)
		}
		for i, p := range gputest.Download(t, d, at) {
			if int(p) != i {
				t.Fatalf("position %d is %d", i, p)
			}
		}
	})
}
