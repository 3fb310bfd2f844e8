package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/strided"
)

// elementsIn returns the indices of the elements of v, by the definition.
func elementsIn(v Strided) []int {
	places := []int{v.Offset}
	for i, n := range v.Shape {
		var next []int
		for _, p := range places {
			for k := range n {
				next = append(next, p+k*v.Stride[i])
			}
		}
		places = next
	}
	return places
}

func gatherAndScatter[T comparable](t *testing.T, d *Device, v Strided, element func(i int) T) {
	t.Helper()
	s := d.DefaultStream()
	places := elementsIn(v)
	length := 1
	for _, p := range places {
		length = max(length, p+1)
	}
	src, want := make([]T, length), make([]T, len(places))
	for i := range src {
		src[i] = element(i)
	}
	for i, p := range places {
		want[i] = src[p]
	}
	b := must[*Buffer[T]](t)(Alloc[T](d, len(places)+2))
	do(t, Zero(s, b))
	do(t, CopyInStrided(s, b.Slice(1, 1+len(places)), src, v))
	var zero T
	if got := download(t, s, b); !slices.Equal(got[1:1+len(places)], want) || got[0] != zero || got[len(places)+1] != zero {
		t.Errorf("%v of %T: gathered wrong elements", v, zero)
	}
	got, scattered := make([]T, length), make([]T, length)
	for i, p := range places {
		scattered[p] = want[i]
	}
	do(t, DownloadStrided(context.Background(), s, got, v, b.Slice(1, 1+len(places))))
	if !slices.Equal(got, scattered) {
		t.Errorf("%v of %T: scattered wrong elements", v, zero)
	}
	do(t, b.Close())
}

func TestStridedElementsAreGatheredAndScattered(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		for _, v := range []Strided{
			{Offset: 3, Shape: []int{5}, Stride: []int{7}},
			{Offset: 30, Shape: []int{5}, Stride: []int{-7}},
			{Shape: []int{4, 6}, Stride: []int{6, 1}},
			{Shape: []int{6, 4}, Stride: []int{1, 6}},
			{Offset: 2, Shape: []int{3, 4, 5}, Stride: []int{40, 10, 2}},
			{Offset: 59, Shape: []int{3, 4, 5}, Stride: []int{-20, -5, -1}},
			{Offset: 1, Shape: []int{2, 1, 3, 2}, Stride: []int{1, 99, 4, 2}},
			{Shape: []int{4, 0}, Stride: []int{1, 1}},
			{Shape: []int{2, 3}, Stride: []int{3, 2}}, // 0 2 4, 3 5 7
			{Offset: 7, Shape: []int{2, 3}, Stride: []int{-3, -2}},
			{Offset: 4, Shape: []int{3, 40}, Stride: []int{-2, 3}}, // interleaved
			{Offset: 4},
			{Shape: []int{700, 1100}, Stride: []int{1, 701}}, // several pieces
		} {
			gatherAndScatter(t, d, v, func(i int) int32 { return int32(i) + 1 })
			gatherAndScatter(t, d, v, func(i int) [3]uint8 { return [3]uint8{uint8(i), uint8(i >> 8), uint8(i>>16) + 1} })
			gatherAndScatter(t, d, v, func(i int) bool { return i%3 == 0 })
		}
	})
}

func TestBadStridesNameTheMistake(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx, s := context.Background(), d.DefaultStream()
		b := upload(t, s, ramp(6)...)
		host := ramp(10)
		for _, test := range []struct {
			name string
			v    Strided
			want string
		}{
			{"strides for another number of dimensions", Strided{Shape: []int{6}, Stride: []int{1, 1}}, "shape [6] and strides [1 1] have different numbers of dimensions"},
			{"a negative shape", Strided{Shape: []int{-2, -3}, Stride: []int{1, 1}}, "negative shape [-2 -3]"},
			{"a shape that overflows", Strided{Shape: []int{1 << 40, 1 << 40}, Stride: []int{0, 0}}, "is too large"},
			{"too few elements", Strided{Shape: []int{5}, Stride: []int{1}}, "shape [5] for a buffer of 6 elements"},
			{"elements behind the end", Strided{Offset: 1, Shape: []int{2, 3}, Stride: []int{5, 3}}, "offset 1, shape [2 3], strides [5 3] reaches outside of 10 elements"},
			{"elements before the start", Strided{Offset: 4, Shape: []int{6}, Stride: []int{-1}}, "reaches outside of 10 elements"},
			{"a negative offset", Strided{Offset: -1, Shape: []int{6}, Stride: []int{1}}, "reaches outside of 10 elements"},
			{"strides that overflow", Strided{Shape: []int{6}, Stride: []int{math.MaxInt}}, "reaches outside of 10 elements"},
			{"the least stride", Strided{Offset: 9, Shape: []int{6}, Stride: []int{math.MinInt}}, "reaches outside of 10 elements"},
		} {
			for _, err := range []error{CopyInStrided(s, b, host, test.v), DownloadStrided(ctx, s, host, test.v, b)} {
				if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: %v", test.name, err)
				}
			}
		}
		same := Strided{Shape: []int{2, 3}, Stride: []int{0, 1}}
		do(t, CopyInStrided(s, b, host, same))
		if got := download(t, s, b); !slices.Equal(got, []float32{0, 1, 2, 0, 1, 2}) {
			t.Errorf("elements that are read twice: %v", got)
		}
		for _, v := range []Strided{same, {Shape: []int{3, 2}, Stride: []int{1, 2}}, {Offset: 9, Shape: []int{3, 2}, Stride: []int{-2, -4}}} {
			if err := DownloadStrided(ctx, s, host, v, b); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "selects some elements more than once") {
				t.Errorf("%v: %v", v, err)
			}
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if err := DownloadStrided(cancelled, s, host, Strided{Shape: []int{6}, Stride: []int{1}}, b); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled download: %v", err)
		}
		do(t, b.Close())
	})
}

func ExampleCopyInStrided() {
	d, err := Open(Config{Device: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	s := d.DefaultStream()
	matrix := []float32{
		1, 2, 3,
		4, 5, 6,
	}
	transposed := Strided{Shape: []int{3, 2}, Stride: []int{1, 3}}
	b, err := Alloc[float32](d, 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	result := make([]float32, 6)
	err = errors.Join(CopyInStrided(s, b, matrix, transposed), Download(context.Background(), s, result, b))
	fmt.Println(result, err)
	// Output: [1 4 2 5 3 6] <nil>
}

func BenchmarkGather(b *testing.B) {
	const rows, columns = 1 << 10, 1 << 10
	src, chunk := make([]float32, rows*columns), make([]byte, 4*rows*columns)
	for name, v := range map[string]Strided{
		"every second row": {Shape: []int{rows / 2, columns}, Stride: []int{2 * columns, 1}},
		"transpose":        {Shape: []int{columns, rows}, Stride: []int{1, columns}},
	} {
		b.Run(name, func(b *testing.B) {
			n := v.Shape[0] * v.Shape[1]
			l, err := v.layout(len(src), n)
			do(b, err)
			b.SetBytes(4 * int64(n))
			for b.Loop() {
				strided.Gather(chunk[:4*n], src, l, 0)
			}
		})
	}
}
