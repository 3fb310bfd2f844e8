package strided

import (
	"slices"
	"testing"
	"unsafe"
)

func TestChunksHoldTheElementsInOrder(t *testing.T) {
	for _, test := range []struct {
		name     string
		first    int
		dims     [][2]int // number and stride
		want     []int32
		distinct bool
	}{
		{"one element", 3, nil, []int32{3}, true},
		{"a column", 1, [][2]int{{3, 4}}, []int32{1, 5, 9}, true},
		{"a transpose", 0, [][2]int{{4, 1}, {3, 4}}, []int32{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}, true},
		{"backward", 11, [][2]int{{2, -4}, {2, -1}}, []int32{11, 10, 7, 6}, true},
		{"rows that follow each other", 2, [][2]int{{2, 3}, {3, 1}}, []int32{2, 3, 4, 5, 6, 7}, true},
		{"windows that overlap", 0, [][2]int{{3, 1}, {2, 1}}, []int32{0, 1, 1, 2, 2, 3}, false},
	} {
		l := New(test.first)
		for _, d := range test.dims {
			l.Add(d[0], d[1])
		}
		if l.Distinct() != test.distinct {
			t.Errorf("%s: distinct is %v", test.name, !test.distinct)
		}
		src := make([]int32, 12)
		for i := range src {
			src[i] = int32(i)
		}
		for _, size := range []int{4, 8, 3} { // of a chunk, also with parts of elements
			dst := make([]int32, len(src))
			got := make([]int32, len(test.want))
			all := unsafe.Slice((*byte)(unsafe.Pointer(&got[0])), 4*len(got))
			for at := 0; at < len(all); at += size {
				chunk := all[at:min(at+size, len(all))]
				Gather(chunk, src, l, int64(at))
				Scatter(dst, chunk, l, int64(at))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s in chunks of %d bytes: %v, want %v", test.name, size, got, test.want)
			}
			for _, i := range test.want {
				if dst[i] != i {
					t.Errorf("%s in chunks of %d bytes: element %d is not scattered", test.name, size, i)
				}
			}
		}
	}
}
