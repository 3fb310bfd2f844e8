package driver

import "cmp"

// Occupier is a [Function] whose driver computes the occupancy; for others
// [Limits.ResidentBlocks] does.
type Occupier interface {
	// ResidentBlocks returns how many blocks of the given number of threads fit on a
	// multiprocessor at once, 0 if none does. shared is dynamic shared memory in bytes
	// per block; the kernel's own shared memory is added.
	ResidentBlocks(threads, shared int) (int, error)
}

// Allocation units of GPUs of compute capability 5.0 and later (CUDA's occupancy
// calculator).
const (
	registerUnit = 256 // registers per warp
	partitions   = 4   // of a multiprocessor, each with its share of the registers
)

// sharedUse is how shared memory is given to blocks.
type sharedUse struct {
	unit     int // bytes
	reserved int // bytes per block for the system
}

// sharedUseOf returns the use of shared memory for a compute capability. Devices without one
// are like current GPUs.
func sharedUseOf(major int) sharedUse {
	if 0 < major && major < 8 {
		return sharedUse{unit: 256}
	}
	return sharedUse{unit: 128, reserved: 1 << 10}
}

// ResidentBlocks returns how many blocks of a kernel fit on a multiprocessor at once,
// and the resource that limits their number. registers is per thread, 0 if unknown;
// threads > 0 is per block; shared is all shared memory of a block in bytes. limit is
// the first that applies of "threads", "blocks", "registers" and "shared memory".
// Unknown values limit nothing.
func (a *Limits) ResidentBlocks(registers, threads, shared int) (blocks int, limit string) {
	return a.residentBlocks(sharedUseOf(0), registers, threads, shared)
}

// ResidentBlocks is [Limits.ResidentBlocks] for the compute capability of the device.
func (i *Info) ResidentBlocks(registers, threads, shared int) (blocks int, limit string) {
	return i.Limits.residentBlocks(sharedUseOf(i.Major), registers, threads, shared)
}

func (a *Limits) residentBlocks(use sharedUse, registers, threads, shared int) (blocks int, limit string) {
	warp := cmp.Or(a.WarpSize, WarpSize)
	warps := divideUp(threads, warp)
	blocks = MaxResidentThreads // no multiprocessor has more
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
		of := divideUp(registers*warp, registerUnit) * registerUnit // registers per warp
		return a.RegistersPerMultiprocessor / partitions / of * partitions / warps
	}, "registers")
	tighten(a.SharedPerMultiprocessor, func() int {
		return a.SharedPerMultiprocessor / max(1, divideUp(shared+use.reserved, use.unit)*use.unit)
	}, "shared memory")
	return blocks, limit
}

func divideUp(n, by int) int { return (n + by - 1) / by }
