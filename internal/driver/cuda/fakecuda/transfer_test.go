package fakecuda

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

func TestTransferMovesWordsWhole(t *testing.T) {
	from, to := make([]uint64, 64), make([]uint64, 64)
	const n = 2000
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range uint64(n) {
			for w := range from {
				atomic.StoreUint64(&from[w], i<<32|i)
			}
		}
	})
	for range n {
		transfer(uintptr(unsafe.Pointer(&to[0])), uintptr(unsafe.Pointer(&from[0])), 8*64)
		for w, v := range to {
			if v>>32 != v&(1<<32-1) {
				t.Fatalf("word %d is %#x, a part of one and a part of another", w, v)
			}
		}
	}
	writer.Wait()
}

func TestTransferMovesBytesOfAnySizeAndPlace(t *testing.T) {
	from := make([]byte, 64)
	for i := range from {
		from[i] = byte(i + 1)
	}
	for n := range 40 {
		for a := range 9 {
			for b := range 9 {
				to := make([]byte, 64)
				want := slices.Clone(to)
				copy(want[b:b+n], from[a:])
				transfer(uintptr(unsafe.Pointer(&to[b])), uintptr(unsafe.Pointer(&from[a])), uintptr(n))
				if !slices.Equal(to, want) {
					t.Fatalf("%d bytes from %d to %d: %v, want %v", n, a, b, to, want)
				}
			}
		}
	}
}
