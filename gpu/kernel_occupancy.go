package gpu

import (
	"cmp"
	"sync/atomic"

	"quern.dev/internal/driver"
)

// Occupancy describes how many blocks of a kernel are resident on a multiprocessor. Many
// resident threads hide the latency of memory.
type Occupancy struct {
	Blocks  int // resident blocks
	Threads int // threads of these blocks, in whole warps
	Most    int // maximum number of resident threads
	// Limit is the resource that limits the number of blocks: "threads", "blocks",
	// "registers" or "shared memory".
	Limit string
}

// Ratio returns the fraction of the possible threads that are resident, from 0 to 1.
func (o Occupancy) Ratio() float64 {
	if o.Most == 0 {
		return 0
	}
	return float64(o.Threads) / float64(o.Most)
}

// Occupancy returns the occupancy of a multiprocessor of d for the given block size and
// bytes of dynamic shared memory per block. It loads the kernel. If d or the kernel does
// not allow the block, the error matches [ErrInvalid].
//
// On a GPU the driver computes the result. The CPU and the simulator have the limits of
// a GPU of compute capability 9.0, except for registers.
//
//	o, err := k.Occupancy(dev, gpu.Dim3{X: 256}, 0)
//	grid := gpu.Blocks(gpu.Dim3{X: o.Blocks * dev.Attributes().Multiprocessors}, gpu.Dim3{X: 256})
//
// is a grid that fills the device exactly once, for kernels with a grid-stride loop.
func (k *Kernel) Occupancy(d *Device, block Dim3, shared int) (Occupancy, error) {
	block = filled(block)
	if err := k.acquire(); err != nil {
		return Occupancy{}, k.failed("occupancy of", err)
	}
	defer k.release()
	v, err := k.baseOn(d)
	if err != nil {
		return Occupancy{}, k.failed("occupancy of", err)
	}
	g := Blocks(Dim3{X: 1}, block).Shared(shared)
	if err := k.checkBlock(d, v, g, g.blocks, block); err != nil {
		return Occupancy{}, k.failed("occupancy of", err)
	}
	threads := block.X * block.Y * block.Z
	a := &d.drv.Info().Limits
	warp := max(1, a.WarpSize)
	n, err := v.residentBlocks(threads, shared)
	if err != nil {
		return Occupancy{}, k.failed("occupancy of", err)
	}
	o := Occupancy{Blocks: n, Most: a.ThreadsPerMultiprocessor}
	o.Threads = o.Blocks * divideUp(threads, warp) * warp
	_, o.Limit = d.drv.Info().ResidentBlocks(v.registers(), threads, v.info.Shared+shared)
	return o, nil
}

// Layout returns the number of blocks and the block size of a launch of the kernel on
// d with grid g. It loads the kernel.
func (k *Kernel) Layout(d *Device, g Grid) (blocks, block Dim3, err error) {
	if err := k.acquire(); err != nil {
		return blocks, block, k.failed("layout of", err)
	}
	defer k.release()
	v, err := k.baseOn(d)
	if err != nil {
		return blocks, block, k.failed("layout of", err)
	}
	if blocks, block, err = v.resolve(g); err == nil {
		err = k.checkBlock(d, v, g, blocks, block)
	}
	if err != nil {
		return Dim3{}, Dim3{}, k.failed("layout of", err)
	}
	return blocks, block, nil
}

// baseOn returns the variant that determines the blocks of launches on d. The kernel
// must be in use.
func (k *Kernel) baseOn(d *Device) (*variant, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	r, err := d.load(k)
	if err != nil {
		return nil, err
	}
	return r.variant(k.base)
}

// checkBlock returns an error if d cannot run such blocks of the kernel.
func (k *Kernel) checkBlock(d *Device, v *variant, g Grid, blocks, block Dim3) error {
	if err := g.checkExtents(blocks, block); err != nil {
		return err
	}
	if want := k.info.Block; want.X > 0 && block != filled(want) {
		return invalid("block %v, but the kernel declares block %v", block, filled(want))
	}
	return checkSize(g, blocks, block, k.info.Shared, &v.props, &d.drv.Info().Limits)
}

// defaultThreads is the block size if neither the kernel nor the caller sets one. It
// is the same on every device, so that kernels whose result depends on the block size
// mostly agree between devices. Another size is used if the kernel's registers do not
// allow this one or if it lowers the occupancy.
const defaultThreads = 256

// blockCandidates are the block sizes to choose from. They are powers of two, because
// reductions in shared memory often need that. Much smaller or larger blocks take
// longer to schedule or leave a GPU partly idle at the end.
var blockCandidates = [...]int{defaultThreads, 128, 512, 64, 1024}

// preferredThreads returns the first candidate, not larger than most, that keeps
// nearly as many threads resident as the best one.
func preferredThreads(most int, resident func(threads int) int) int {
	var kept [len(blockCandidates)]int
	best := 0
	for i, n := range blockCandidates {
		if n <= most {
			kept[i] = n * resident(n)
			best = max(best, kept[i])
		}
	}
	for i, n := range blockCandidates {
		if best > 0 && kept[i]*16 >= best*15 {
			return n
		}
	}
	n := defaultThreads
	for n > most && n > 1 {
		n /= 2
	}
	return n
}

// residentBlocks returns the number of resident blocks, 0 if the block does not fit.
func (v *variant) residentBlocks(threads, shared int) (int, error) {
	a := v.attributes
	if shared < 0 || shared > a.SharedPerBlock-v.info.Shared {
		return 0, nil
	}
	if f, ok := v.function.(driver.Occupier); ok {
		return f.ResidentBlocks(threads, shared)
	}
	n, _ := a.ResidentBlocks(v.registers(), threads, v.info.Shared+shared)
	return n, nil
}

// registers returns the registers per thread, 0 on devices that do not limit them.
func (v *variant) registers() int {
	if _, ok := v.function.(driver.Occupier); !ok {
		return 0
	}
	return v.props.Registers
}

// sharedSizes are the block sizes for launches with dynamic shared memory.
type sharedSizes struct {
	shared int // bytes
	sizes  blockSizes
}

// mostSharedSizes is the number of results that a variant caches, so that launches
// need not compute them.
const mostSharedSizes = 16

// sizesWith returns the block sizes for launches with the given bytes of dynamic
// shared memory.
func (v *variant) sizesWith(shared int) (*blockSizes, error) {
	if shared == 0 || v.info.Block.X > 0 {
		return &v.sizes, nil
	}
	var known []sharedSizes
	if p := v.known.Load(); p != nil {
		known = *p
	}
	for i := range known {
		if known[i].shared == shared {
			return &known[i].sizes, nil
		}
	}
	sizes, err := v.chooseSizes(shared)
	if err != nil {
		return nil, err
	}
	more := append([]sharedSizes{{shared, sizes}}, known[:min(len(known), mostSharedSizes-1)]...)
	v.known.Store(&more)
	return &sizes, nil
}

func (v *variant) chooseSizes(shared int) (sizes blockSizes, err error) {
	sizes = chooseBlocks(v.info.Block, v.props, func(threads int) int {
		n, failed := v.residentBlocks(threads, shared)
		err = cmp.Or(err, failed)
		return n
	})
	return sizes, err
}

// block returns the block size of a launch of the variant.
func (v *variant) block(g Grid) (Dim3, error) {
	if g.statesBlock() {
		return g.block, nil
	}
	sizes, err := v.sizesWith(g.shared)
	if err != nil {
		return Dim3{}, err
	}
	return sizes[g.rank-1], nil
}

// resolve returns the number of blocks of a grid of the variant, and the block size.
func (v *variant) resolve(g Grid) (blocks, block Dim3, err error) {
	if block, err = v.block(g); err != nil {
		return blocks, block, err
	}
	blocks, err = g.blocksOf(block, v.info.Cluster)
	return blocks, block, err
}

// variant is a loaded module.
type variant struct {
	function   driver.Function
	props      driver.Properties
	attributes *driver.Limits // of the device
	info       *kernelInfo
	sizes      blockSizes // for launches without dynamic shared memory
	known      atomic.Pointer[[]sharedSizes]
}
