package memory

import "quern.dev/kernel"

// State of a block in a scan: what the value in its descriptor means.
const (
	empty = iota
	ofBlock
	ofAll // sum of the block and all before it
)

// scan is a single-pass inclusive scan. Blocks number themselves in the order in which
// they start, and each block waits for the sums of those with smaller numbers (decoupled
// look-back, Merrill and Garland, 2016). A descriptor holds a sum and a state in one word.
//
//quern:kernel block=64
func scan(t kernel.Thread, x []int32, ticket []uint32, descriptors []uint64) {
	number := kernel.Shared[int](t)
	before := kernel.Shared[int32](t)
	s := kernel.Shared[[64]int32](t)
	i := t.ThreadIdx.X
	if i == 0 {
		*number = int(kernel.AtomicAdd(&ticket[0], 1))
	}
	t.Sync()
	n := *number
	at := n*64 + i
	v := int32(0)
	if at < len(x) {
		v = x[at]
	}
	s[i] = v
	t.Sync()
	for d := 1; d < 64; d *= 2 {
		if i >= d {
			v += s[i-d]
		}
		t.Sync()
		s[i] = v
		t.Sync()
	}
	if i == 0 {
		total := s[63]
		sum := int32(0)
		if n > 0 {
			kernel.StoreRelease(&descriptors[n], uint64(uint32(total))<<32|ofBlock)
			for k := n - 1; ; k-- {
				d := kernel.LoadAcquire(&descriptors[k])
				for d&3 == empty {
					d = kernel.LoadAcquire(&descriptors[k])
				}
				sum += int32(d >> 32)
				if d&3 == ofAll {
					break
				}
			}
		}
		kernel.StoreRelease(&descriptors[n], uint64(uint32(sum+total))<<32|ofAll)
		*before = sum
	}
	t.Sync()
	if at < len(x) {
		x[at] = v + *before
	}
}

// lastBlock sums what all blocks have written, in the last block that increments the
// counter. Fences around the relaxed counter order the plain stores.
//
//quern:kernel block=32
func lastBlock(t kernel.Thread, partial []int64, counter []uint32, out []int64) {
	last := kernel.Shared[bool](t)
	i := t.ThreadIdx.X
	partial[t.Global()] = int64(t.Global() * 3)
	t.Sync()
	if i == 0 {
		kernel.Fence()
		*last = kernel.AtomicAdd(&counter[0], 1) == uint32(t.GridDim.X-1)
		kernel.Fence()
	}
	t.Sync()
	if *last {
		sum := int64(0)
		for b := range t.GridDim.X {
			sum += partial[b*32+i]
		}
		kernel.AtomicAdd(&out[0], sum)
	}
}

// passAlong passes a value of each type from one block to the next.
//
//quern:kernel instantiate=int32,uint64,float32,float64
func passAlong[T kernel.AtomicNumber](t kernel.Thread, step T, chain []T, ticket, ready []uint32) {
	if t.ThreadIdx.X > 0 {
		return
	}
	n := int(kernel.AtomicAdd(&ticket[0], 1))
	for n > 0 && kernel.LoadRelaxed(&ready[n-1], kernel.SystemScope) == 0 {
	}
	kernel.Fence(kernel.SystemScope)
	v := step
	if n > 0 {
		v += kernel.LoadAcquire(&chain[n-1])
	}
	kernel.StoreRelaxed(&chain[n], v)
	kernel.StoreRelease(&ready[n], 1, kernel.SystemScope)
}

// unordered reads data that another block wrote before setting a flag, without ordering.
//
//quern:kernel
func unordered(t kernel.Thread, data, flag []int32, out []int32) {
	if t.ThreadIdx.X > 0 {
		return
	}
	if t.BlockIdx.X == 0 {
		data[0] = 5
		kernel.StoreRelaxed(&flag[0], 1)
	} else if kernel.LoadRelaxed(&flag[0]) == 1 {
		out[0] = data[0]
	}
}

// waitsForPanic waits, in all blocks but the first, for a store. The first block panics
// before that store.
//
//quern:kernel
func waitsForPanic(t kernel.Thread, ticket, flag []uint32) {
	if t.ThreadIdx.X > 0 {
		return
	}
	if kernel.AtomicAdd(&ticket[0], 1) == 0 {
		panic("no store")
	}
	for kernel.LoadAcquire(&flag[0]) == 0 {
	}
}

// times reads the clocks before and after some work.
//
//quern:kernel
func times(t kernel.Thread, n int, x []float32, clocks []int64) {
	i := t.Global()
	start, begin := kernel.Clock(), kernel.GlobalTimer()
	v := x[i]
	for range n {
		v = v*0.5 + 1
	}
	x[i] = v
	clocks[2*i] = kernel.Clock() - start
	clocks[2*i+1] = kernel.GlobalTimer() - begin
}
