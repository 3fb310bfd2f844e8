package kernel_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"quern.dev/kernel"
)

func ExampleAtomicAdd() {
	var histogram [3]uint32
	samples := []uint8{0, 1, 1, 2, 1, 0}
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 6}, func(t kernel.Thread) {
		kernel.AtomicAdd(&histogram[samples[t.Global()]], 1)
	})
	fmt.Println(histogram)
	// Output: [2 3 1]
}

func ExampleAtomicCompareAndSwap() {
	owner := int32(-1)
	fmt.Println(kernel.AtomicCompareAndSwap(&owner, -1, 7), owner)
	fmt.Println(kernel.AtomicCompareAndSwap(&owner, -1, 8), owner)
	// Output:
	// -1 7
	// 7 7
}

type counter int32 // a defined type

func TestAtomicIntegers(t *testing.T) {
	t.Run("int32", testAtomicIntegers[int32])
	t.Run("uint32", testAtomicIntegers[uint32])
	t.Run("int64", testAtomicIntegers[int64])
	t.Run("uint64", testAtomicIntegers[uint64])
	t.Run("int", testAtomicIntegers[int])
	t.Run("uint", testAtomicIntegers[uint])
	t.Run("a defined type", testAtomicIntegers[counter])
}

func testAtomicIntegers[T kernel.AtomicInteger](t *testing.T) {
	var zero T
	small, large := T(3), zero-5 // large is negative or near the maximum
	if large < 0 {
		small, large = large, small
	}
	for _, c := range []struct {
		name            string
		start, old, end T
		do              func(p *T) T
	}{
		{"add", 40, 40, 42, func(p *T) T { return kernel.AtomicAdd(p, 2) }},
		{"add wraps around", zero - 1, zero - 1, 1, func(p *T) T { return kernel.AtomicAdd(p, 2) }},
		{"subtract", 40, 40, 38, func(p *T) T { return kernel.AtomicSub(p, 2) }},
		{"min takes the smaller", large, large, small, func(p *T) T { return kernel.AtomicMin(p, small) }},
		{"min keeps the smaller", small, small, small, func(p *T) T { return kernel.AtomicMin(p, large) }},
		{"max takes the larger", small, small, large, func(p *T) T { return kernel.AtomicMax(p, large) }},
		{"max keeps the larger", large, large, large, func(p *T) T { return kernel.AtomicMax(p, small) }},
		{"and", 12, 12, 8, func(p *T) T { return kernel.AtomicAnd(p, 10) }},
		{"or", 12, 12, 14, func(p *T) T { return kernel.AtomicOr(p, 10) }},
		{"xor", 12, 12, 6, func(p *T) T { return kernel.AtomicXor(p, 10) }},
		{"exchange", 12, 12, 10, func(p *T) T { return kernel.AtomicExchange(p, 10) }},
		{"compare and swap that matches", 12, 12, 10, func(p *T) T { return kernel.AtomicCompareAndSwap(p, 12, 10) }},
		{"compare and swap that does not", 12, 12, 12, func(p *T) T { return kernel.AtomicCompareAndSwap(p, 11, 10) }},
		{"load", 12, 12, 12, func(p *T) T { return kernel.LoadAcquire(p) }},
		{"relaxed load", 12, 12, 12, func(p *T) T { return kernel.LoadRelaxed(p, kernel.BlockScope) }},
		{"relaxed store", 12, 0, 9, func(p *T) T { kernel.StoreRelaxed(p, 9, kernel.SystemScope); return 0 }},
		{"store", 12, 0, 9, func(p *T) T { kernel.StoreRelease(p, 9); return 0 }},
	} {
		// The neighboring elements show whether an operation writes more than its operand.
		v := [3]T{7, c.start, 7}
		if old := c.do(&v[1]); old != c.old || v != [3]T{7, c.end, 7} {
			t.Errorf("%s: returned %v and left %v, want %v and %v", c.name, old, v, c.old, c.end)
		}
	}
}

func TestAtomicFloats(t *testing.T) {
	t.Run("float32", testAtomicFloats[float32])
	t.Run("float64", testAtomicFloats[float64])
}

func testAtomicFloats[T kernel.Float](t *testing.T) {
	v := [3]T{7, 1.5, 7}
	if old := kernel.AtomicAdd(&v[1], 0.25); old != 1.5 || v[1] != 1.75 {
		t.Errorf("add: returned %v and left %v", old, v[1])
	}
	if old := kernel.AtomicSub(&v[1], 1); old != 1.75 || v[1] != 0.75 {
		t.Errorf("subtract: returned %v and left %v", old, v[1])
	}
	if old := kernel.AtomicExchange(&v[1], T(math.NaN())); old != 0.75 || v[1] == v[1] {
		t.Errorf("exchange: returned %v and left %v", old, v[1])
	}
	if old := kernel.AtomicAdd(&v[1], 1); old == old || v[1] == v[1] {
		t.Errorf("add to NaN: returned %v and left %v", old, v[1])
	}
	kernel.StoreRelease(&v[1], 3)
	if got := kernel.LoadAcquire(&v[1]); got != 3 || v[0] != 7 || v[2] != 7 {
		t.Errorf("stored 3 and loaded %v between %v", got, v)
	}
}

func TestAtomicsAreAtomic(t *testing.T) {
	const workers, rounds = 4, 5000
	var sum int64
	var total float32
	var parity uint32
	smallest := int32(math.MaxInt32)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				kernel.AtomicAdd(&sum, 1)
				kernel.AtomicAdd(&total, 1)
				kernel.AtomicXor(&parity, 1)
				kernel.AtomicMin(&smallest, int32(w-i))
				kernel.Fence()
			}
		})
	}
	wg.Wait()
	if sum != workers*rounds || total != workers*rounds || parity != 0 || smallest != 1-rounds {
		t.Errorf("got %d, %v, %d, %d", sum, total, parity, smallest)
	}
}

func TestAtomicsDoNotAllocate(t *testing.T) {
	p, f := new(int32), new(float64)
	if n := testing.AllocsPerRun(100, func() {
		kernel.AtomicAdd(p, 1)
		kernel.AtomicMax(p, 1)
		kernel.AtomicExchange(p, 1)
		kernel.AtomicCompareAndSwap(p, 1, 2)
		kernel.AtomicAdd(f, 1)
		kernel.AtomicExchange(f, 1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAtomicAdd(b *testing.B) {
	b.Run("uint32", func(b *testing.B) {
		var v uint32
		for b.Loop() {
			kernel.AtomicAdd(&v, 1)
		}
	})
	b.Run("float32", func(b *testing.B) {
		var v float32
		for b.Loop() {
			kernel.AtomicAdd(&v, 1)
		}
	})
}
