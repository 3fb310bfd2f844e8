package blas

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// transposedAxes is what TransposeAxes does, element by element.
func transposedAxes[T any](src []T, shape, axes []int) []T {
	strides, size := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = size
		size *= shape[i]
	}
	dst := make([]T, size)
	for i := range dst {
		at, rest := 0, i
		for k := len(axes) - 1; k >= 0; k-- {
			at += rest % shape[axes[k]] * strides[axes[k]]
			rest /= shape[axes[k]]
		}
		dst[i] = src[at]
	}
	return dst
}

func testTransposeAxes[T comparable](t *testing.T, d *gpu.Device, value func(i int) T, shape, axes []int) {
	t.Helper()
	size := 1
	for _, n := range shape {
		size *= n
	}
	src := make([]T, size)
	for i := range src {
		src[i] = value(i)
	}
	from, to := gputest.Upload(t, d, src), gputest.Alloc[T](t, d, size)
	if err := TransposeAxes(d.DefaultStream(), to, from, shape, axes...); err != nil {
		t.Fatal(err)
	}
	if got, want := gputest.Download(t, d, to), transposedAxes(src, shape, axes); !slices.Equal(got, want) {
		t.Errorf("%T, shape %v, axes %v: %v, want %v", src, shape, axes, got[:min(size, 20)], want[:min(size, 20)])
	}
}

// Each order of axes, with extents around the sides of tiles and with axes of one or no element.
func TestTransposeAxes(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, c := range []struct{ shape, axes []int }{
			{[]int{}, []int{}},
			{[]int{5}, []int{0}},
			{[]int{33, 31}, []int{1, 0}},
			{[]int{33, 3}, []int{1, 0}},
			{[]int{7, 65}, []int{1, 0}},
			{[]int{4, 0, 3}, []int{2, 0, 1}},
			{[]int{4, 1, 3}, []int{2, 1, 0}},
			{[]int{1, 1, 1}, []int{2, 1, 0}},
			{[]int{2, 40, 3}, []int{0, 2, 1}}, // pixels to planes
			{[]int{2, 3, 40}, []int{0, 2, 1}}, // and back
			{[]int{9, 34, 17}, []int{1, 0, 2}},
			{[]int{9, 34, 17}, []int{2, 0, 1}}, // two axes, merged
			{[]int{9, 34, 17}, []int{1, 2, 0}},
			{[]int{9, 34, 17}, []int{2, 1, 0}},
			{[]int{3, 12, 5, 11}, []int{3, 1, 2, 0}},
			{[]int{3, 12, 5, 11}, []int{0, 3, 2, 1}},
			{[]int{8, 3, 9, 4}, []int{2, 1, 0, 3}},
			{[]int{2, 3, 2, 3, 2, 3, 2, 9}, []int{7, 5, 3, 1, 6, 4, 2, 0}},
			{[]int{9, 2, 2, 2, 2, 2, 2, 9}, []int{7, 6, 5, 4, 3, 2, 1, 0}},
		} {
			testTransposeAxes(t, d, func(i int) float32 { return float32(i) }, c.shape, c.axes)
			testTransposeAxes(t, d, func(i int) uint8 { return uint8(i * 7) }, c.shape, c.axes)
			testTransposeAxes(t, d, func(i int) [3]int16 { return [3]int16{int16(i), 1, int16(i >> 8)} }, c.shape, c.axes)
			testTransposeAxes(t, d, func(i int) complex128 { return complex(float64(i), 1) }, c.shape, c.axes)
		}
	})
}

// Any order of any shape, and the order that undoes it.
func TestTransposeAxesOfRandomShapes(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for range 20 {
			shape := make([]int, 1+rand.IntN(6))
			size := 1
			for i := range shape {
				shape[i] = 1 + rand.IntN(max(1, min(50, 20000/size)))
				size *= shape[i]
			}
			axes, back, turned := rand.Perm(len(shape)), make([]int, len(shape)), make([]int, len(shape))
			for i, axis := range axes {
				back[axis], turned[i] = i-len(axes), shape[axis]
			}
			testTransposeAxes(t, d, func(i int) int64 { return int64(i) }, shape, axes)

			numbers := make([]int32, size)
			for i := range numbers {
				numbers[i] = int32(i)
			}
			x, y := gputest.Upload(t, d, numbers), gputest.Alloc[int32](t, d, size)
			if err := TransposeAxes(s, y, x, shape, axes...); err != nil {
				t.Fatal(err)
			}
			if err := gpu.Zero(s, x); err != nil {
				t.Fatal(err)
			}
			if err := TransposeAxes(s, x, y, turned, back...); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, x), numbers, gputest.Name(fmt.Sprint(shape, axes)))
		}
	})
}

func TestTransposeAxesReversesThemByDefault(t *testing.T) {
	d, s := onCPUDevice(t)
	x, y := gputest.Upload(t, d, []int32{0, 1, 2, 3, 4, 5}), gputest.Alloc[int32](t, d, 6)
	if err := TransposeAxes(s, y, x, []int{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	gputest.Equal(t, gputest.Download(t, d, y), []int32{0, 3, 1, 4, 2, 5})
}
