package kernels

import "quern.dev/kernel"

// Patterns of memory accesses.

// strided copies every stride-th element. count is the number of elements that it copies.
//
//quern:kernel unchecked
func strided(t kernel.Thread, count, stride int, x, y []float32) {
	if i := t.Global(); i < count {
		y[i*stride] = x[i*stride]
	}
}

// gather reads elements in random order. The length of x is a power of two.
//
//quern:kernel unchecked
func gather(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i < len(y) {
		h := uint64(i) * 0x9e3779b97f4a7c15
		h = (h ^ h>>32) * 0xd6e8feb86659fd93
		y[i] = x[(h>>20)&uint64(len(x)-1)]
	}
}

// reread reads elements of x, in each round one per thread. A block reads another part each
// time, so that a part that exceeds the cache of the multiprocessor is not in it. The length of
// x is a power of two.
//
//quern:kernel unchecked
func reread(t kernel.Thread, rounds int, x, out []float32) {
	sum := float32(0)
	at, step := t.Global(), t.Stride()+33*t.BlockDim.X
	for round := range rounds {
		sum += x[(at+round*step)&(len(x)-1)]
	}
	if sum == 0.5 { // never: x holds ones
		out[0] = sum
	}
}

// rereadChunks reads x several times; each thread reads its own part of it, which suits CPUs.
//
//quern:kernel unchecked
func rereadChunks(t kernel.Thread, passes int, x, out []float32) {
	chunk := len(x) / t.Stride()
	part := x[t.Global()*chunk : (t.Global()+1)*chunk]
	sum := float32(0)
	for range passes {
		for i := 0; i+3 < len(part); i += 4 {
			sum += part[i] + part[i+1] + part[i+2] + part[i+3]
		}
	}
	if sum == 0.5 {
		out[0] = sum
	}
}

// Words is the number of words of shared memory that conflicts reads.
const Words = 1024

// SharedReads is the number of reads of a thread of conflicts in one round.
const SharedReads = 8

// conflicts reads shared memory. With a stride of 1 the lanes of a warp read 32 banks, with
// a stride of 32 one bank.
//
//quern:kernel unchecked
func conflicts(t kernel.Thread, rounds, stride int, out []int32) {
	tile := kernel.Shared[[Words]int32](t)
	for i := t.ThreadIdx.X; i < Words; i += t.BlockDim.X {
		tile[i] = 1
	}
	t.Sync()
	at, sum := int32(t.ThreadIdx.X*stride), int32(0)
	for round := range int32(rounds) {
		for k := range int32(SharedReads) {
			sum += tile[(at+round*SharedReads+k)&(Words-1)]
		}
	}
	if sum == -1 { // never
		out[0] = sum
	}
}

// addAtomically adds to addresses that are spread over the length of out, a power of two.
//
//quern:kernel unchecked
func addAtomically(t kernel.Thread, rounds int, out []uint32) {
	i := t.Global()
	for round := range rounds {
		kernel.AtomicAdd(&out[(i+round)&(len(out)-1)], 1)
	}
}
