package driver

import "cmp"

// Occupier is a [Function] whose driver knows the occupancy; for others it is
// [Limits.ResidentBlocks].
type Occupier interface {
	// ResidentBlocks returns how many blocks of so many threads, with so many bytes of
	// dynamic shared memory beside the kernel's own, a multiprocessor holds at
	// once; 0 if it cannot run one.
	ResidentBlocks(threads, shared int) (int, error)
}

// Units in which GPUs of compute capability 5.0 and later give resources to
// blocks (CUDA's occupancy calculator).
const (
	registerUnit  = 256     // registers, to a warp
	partitions    = 4       // of a multiprocessor, each with a part of the registers
	sharedUnit    = 128     // bytes, from 8.0; 256 before
	reservedBlock = 1 << 10 // bytes of shared memory that the system has of each block from 8.0
)

// ResidentBlocks returns how many blocks of threads > 0 of a kernel with so many registers
// a thread, 0 if unknown, and so many bytes of shared memory in all, a multiprocessor holds at once, and what
// keeps out more: of several the first of "threads", "blocks", "registers" and
// "shared memory". What is not known limits nothing.
func (a *Limits) ResidentBlocks(registers, threads, shared int) (blocks int, limit string) {
	warp := cmp.Or(a.WarpSize, WarpSize)
	warps := divideUp(threads, warp)
	blocks = MaxResidentThreads // none has more
	tighten := func(known int, n func() int, what string) {
		if known == 0 {
			return
		}
		if n := n(); n < blocks {
			blocks, limit = n, what
		}
	}
	tighten(a.ThreadsPerMultiprocessor, func() int { return a.ThreadsPerMultiprocessor / warp / warps }, "threads")
	tighten(a.BlocksPerMultiprocessor, func() int { return a.BlocksPerMultiprocessor }, "blocks")
	tighten(registers*a.RegistersPerMultiprocessor, func() int {
		of := divideUp(registers*warp, registerUnit) * registerUnit // a warp
		return a.RegistersPerMultiprocessor / partitions / of * partitions / warps
	}, "registers")
	tighten(a.SharedPerMultiprocessor, func() int {
		return a.SharedPerMultiprocessor / (divideUp(shared+reservedBlock, sharedUnit) * sharedUnit)
	}, "shared memory")
	return blocks, limit
}

func divideUp(n, by int) int { return (n + by - 1) / by }
