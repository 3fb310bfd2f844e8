package profile

import "math"

// The model of Advise. A device does several things at the same time on a GPU, so the one that
// takes longest counts; a core of a CPU does one after the other, except that it waits for
// memory meanwhile.

// Cycles of a GPU between two dependent instructions of a warp, by what it does.
const (
	cyclesALU     = 6
	cyclesShared  = 25
	cyclesBarrier = 40
)

// overlappedReads is how many reads of global memory a thread has in flight on average.
const overlappedReads = 4

// indexShare is the share of a GPU's integer instructions for indices that costs time on a CPU. Go's
// compiler computes an index once for several uses, and a core executes it beside other
// instructions. It is from kernels of bench/parity on two cores.
const indexShare = 0.5

// indexIntegers is the largest number of integer instructions of a GPU that an access needs: an
// address, the check of the index, and the loop around it. Others are what the kernel computes.
const indexIntegers = 8

// threadIntegers are the integer instructions of a thread of kernels.touch. Rates.Threads has their
// time.
const threadIntegers = 5

// matrixFlops is the number of operations per thread of a product of matrices (m16n8k16).
const matrixFlops = 128

// cost is a time in seconds, and what determines it.
type cost struct {
	seconds float64
	bound   string
}

// longest returns the largest of several costs.
func longest(list ...cost) cost {
	most := list[0]
	for _, c := range list[1:] {
		if c.seconds > most.seconds {
			most = c
		}
	}
	return most
}

// What bounds a kernel.
const (
	boundMemory   = "memory"
	boundAccess   = "uncoalesced access"
	boundScatter  = "random access"
	boundIssue    = "instructions"
	boundFloat32  = "float32"
	boundFloat64  = "float64"
	boundSpecials = "divisions and functions"
	boundShared   = "shared memory"
	boundAtomics  = "atomics"
	boundBarriers = "barriers"
	boundLatency  = "latency"
	boundThreads  = "threads"
	boundLaunch   = "launch"
)

// gpuKernel predicts the time of the kernels on a GPU.
func (c *Card) gpuKernel(w *Work) cost {
	units := float64(c.Multiprocessors)
	clock := float64(c.ClockRate) * 1000
	if clock == 0 {
		clock = 1.5e9
	}
	// With fewer blocks than multiprocessors, some of them have nothing to do.
	idle := max(1, units*w.Launches/max(1, w.Blocks))
	m, r := &c.Machine, &c.Rates
	body := longest(
		cost{w.memory() / c.bandwidth(w.memory()), boundMemory},
		cost{w.SectorBytes / (4 * r.Cached), boundAccess},
		cost{idle * (w.Issued + w.IssuedGlobal + w.IssuedShared) / (4 * units * clock), boundIssue},
		cost{idle * w.Integers / r.Integers, boundIssue},
		cost{idle * w.Float32 / (m.Flops32 / 2), boundFloat32},
		cost{idle * w.Float64 / (m.Flops64 / 2), boundFloat64},
		cost{idle * (w.Roots/r.Roots + w.Functions/r.Functions), boundSpecials},
		cost{idle * w.Shared / r.Shared, boundShared},
		cost{w.Atomics / r.Atomics, boundAtomics},
		cost{idle * w.Barriers / r.Barriers, boundBarriers},
		cost{w.Threads / r.Threads, boundThreads},
		cost{c.chain(w, units, clock), boundLatency},
	)
	fixed := cost{max(1, w.Launches) * c.Latency.Kernel, boundLaunch}
	total := longest(body, fixed)
	total.seconds = body.seconds + fixed.seconds
	return total
}

// chain is the time of the instructions of one thread, one after the other, for as many rounds
// as the blocks need that are not resident at the same time.
func (c *Card) chain(w *Work, units, clock float64) float64 {
	warps := max(1, w.Warps)
	one := (w.Issued*cyclesALU+w.IssuedShared*cyclesShared+w.IssuedBarrier*cyclesBarrier)/clock + w.IssuedGlobal*c.Latency.Memory/overlappedReads
	one /= warps
	const residentWarps = 64
	perBlock := max(1, w.Warps/max(1, w.Blocks))
	resident := units * max(1, math.Floor(residentWarps/perBlock))
	launches := max(1, w.Launches)
	return one * launches * math.Ceil(w.Blocks/launches/resident)
}

// cpuKernel predicts the time of the kernels on the cores of a CPU.
func (c *Card) cpuKernel(w *Work) cost {
	cores := float64(c.Multiprocessors)
	launches := max(1, w.Launches)
	busy := min(cores, max(1, w.Blocks/launches))
	m, r := &c.Machine, &c.Rates
	parts := []cost{
		{w.cpuIntegers() / r.Integers, boundIssue},
		{w.Float32 / (m.Flops32 / 2), boundFloat32},
		{w.Float64 / (m.Flops64 / 2), boundFloat64},
		{w.Roots/r.Roots + w.Functions/r.Functions, boundSpecials},
		{w.Matrices * matrixFlops / m.Flops32, boundFloat32},
		{max(w.Global, w.AccessedBytes/8) / r.Cached, boundAccess},
		{w.Local / r.Cached, boundAccess},
		{w.Scattered * c.miss(w.ScatteredBytes/max(1, w.Scattered)), boundScatter},
		{w.Shared / r.Shared, boundShared},
		{w.Atomics / r.Atomics, boundAtomics},
		{w.Barriers / r.Barriers, boundBarriers},
		{w.Threads / r.Threads, boundThreads},
	}
	work := longest(parts...)
	work.seconds = 0
	for _, p := range parts {
		work.seconds += p.seconds * cores / busy
	}
	body := longest(work, cost{w.memory() / c.bandwidth(w.memory()), boundMemory})
	fixed := cost{launches * c.Latency.Wait, boundLaunch}
	total := longest(body, fixed)
	total.seconds = body.seconds + fixed.seconds
	return total
}

// cpuIntegers returns how many integer instructions of a GPU cost time on a CPU, besides those that
// each thread has.
func (w *Work) cpuIntegers() float64 {
	integers := max(0, w.Integers-threadIntegers*w.Threads)
	indices := min(integers, indexIntegers*(w.Global+w.Shared+w.Local+w.Atomics))
	return integers - (1-indexShare)*indices
}

// kernel predicts the time of the kernels on the device of the card.
func (c *Card) kernel(w *Work) cost {
	if c.Backend == "cuda" {
		return c.gpuKernel(w)
	}
	return c.cpuKernel(w)
}

// transfers predicts the times of copies to and from the device. A CPU needs none.
func (c *Card) transfers(in, out []int64, pinned bool) (to, from float64) {
	if c.Backend != "cuda" {
		return 0, 0
	}
	rateIn, rateOut := c.Transfer.PageableIn, c.Transfer.PageableOut
	if pinned {
		rateIn, rateOut = c.Transfer.PinnedIn, c.Transfer.PinnedOut
	}
	// Half of the time of a small copy is the wait for it, which copies before a launch do not
	// need.
	for _, n := range in {
		if n > 0 {
			to += rateIn.Seconds(float64(n)) - rateIn.Fixed/2
		}
	}
	for _, n := range out {
		from += rateOut.Seconds(float64(n))
	}
	return to, from
}
