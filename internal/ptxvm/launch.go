package ptxvm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Limits of a launch: those of the hardware since compute capability 3.0.
const (
	maxThreads = 1 << 10 // per block
	maxBlockZ  = 1 << 6
	maxGridX   = 1<<31 - 1
	maxGridYZ  = 1<<16 - 1
	// maxLocalTotal bounds the local memory of all threads of a block.
	maxLocalTotal = 1 << 28
)

// Config describes a launch of a kernel.
type Config struct {
	Grid, Block   [3]int // X, Y, Z; blocks and threads
	DynamicShared int    // bytes of dynamic shared memory per block
	// Params holds the value of each .param of the kernel, little-endian.
	Params [][]byte
	Memory *Memory
	// Checks makes the launch report races, divergent barriers and reads of uninitialized
	// memory. Blocks then run one after another, and the result is deterministic.
	Checks bool
	// MaxSteps is the number of instructions that all threads together may execute; zero
	// means no limit. Without Checks each worker reserves them in portions and may not use
	// its last portion completely, so the launch may end earlier.
	MaxSteps int64
	// Cooperative makes all blocks take turns, so that they can wait for each other. There
	// may be at most MaxTogether blocks.
	Cooperative bool
	// Counter counts what the launch does, if it is not nil. It may leave blocks out.
	Counter *Counter
	Label   string // what Counter calls the kernel; "" for its name
	// Workers is the number of blocks that run concurrently without Checks; zero means
	// GOMAXPROCS.
	Workers int
}

// LaunchError reports a Config that is not valid for the kernel.
type LaunchError struct {
	Kernel  string
	Message string
}

func (e *LaunchError) Error() string { return fmt.Sprintf("launch of %s: %s", e.Kernel, e.Message) }

// launch is the state of one launch, shared by its workers.
type launch struct {
	entry    *Entry
	config   Config
	ctx      context.Context
	initial  []uint64 // slots of a thread, including the addresses of variables
	table    []*allocation
	params   []byte
	blocks   uint64
	counting counting // if there is a counter

	next      atomic.Uint64 // next block to run
	remaining atomic.Int64  // instructions
	stopped   atomic.Bool
}

// errStopped ends a worker because another one failed.
var errStopped = errors.New("ptxvm: another block failed")

// Launch runs the kernel named entry and waits for it to end. The error is a *Fault if the
// kernel did something wrong, a *Fault that wraps the cause of ctx if ctx ended, or a
// *LaunchError if c is not valid for the kernel; it wraps ErrOutOfMemory if there is no
// memory for the module's variables. Launches may run concurrently. Launches with Checks
// on the same Memory run one at a time.
func (m *Module) Launch(ctx context.Context, entry string, c Config) error {
	e := m.Entry(entry)
	if e == nil {
		return &LaunchError{entry, "the module has no such kernel"}
	}
	if err := e.validate(&c); err != nil {
		return err
	}
	image, err := c.Memory.load(m)
	if err != nil {
		return fmt.Errorf("launch of %s: %w", entry, err)
	}
	l := &launch{entry: e, config: c, ctx: ctx, initial: e.initial, params: e.packParams(c.Params)}
	l.blocks = uint64(c.Grid[0]) * uint64(c.Grid[1]) * uint64(c.Grid[2])
	l.remaining.Store(c.MaxSteps)
	if len(e.relocs) > 0 {
		l.initial = append([]uint64(nil), e.initial...)
		for _, r := range e.relocs {
			l.initial[r.slot] = image[r.variable] + r.addend
		}
	}
	if c.Checks {
		c.Memory.checked.Lock()
		defer c.Memory.checked.Unlock()
	}
	l.table = c.Memory.snapshot(c.Checks)
	if c.Counter == nil {
		return l.run()
	}
	l.counting.code, l.counting.touched = make([]Count, len(e.code)), map[uint64]touch{}
	l.counting.scattered = map[uint64]uint64{}
	err = l.run()
	c.Counter.add(l)
	return err
}

// snapshot returns the current allocations, with shadow memory if checks is set.
func (m *Memory) snapshot(checks bool) []*allocation {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !checks || m.direct {
		return m.table
	}
	// Each launch may use half of the range of the clock.
	rewind := m.raceClock > 1<<31
	if rewind {
		m.raceClock = 0
	}
	for _, a := range m.table {
		if a == nil || a.freed || a.readOnly {
			continue
		}
		if a.race == nil || rewind {
			a.race = newShadow(int(a.size))
		}
		if a.untracked.Swap(false) {
			a.init.setRange(0, a.size)
		}
	}
	return m.table
}

func (e *Entry) validate(c *Config) error {
	fail := func(format string, args ...any) error {
		return &LaunchError{e.Name, fmt.Sprintf(format, args...)}
	}
	if c.Memory == nil {
		return fail("Config.Memory is nil; set it to the memory of the device")
	}
	for i, limit := range [3]int{maxGridX, maxGridYZ, maxGridYZ} {
		if c.Grid[i] < 1 || c.Grid[i] > limit {
			return fail("grid %v: dimension %d is not between 1 and %d", c.Grid, i, limit)
		}
	}
	for i, limit := range [3]int{maxThreads, maxThreads, maxBlockZ} {
		if c.Block[i] < 1 || c.Block[i] > limit {
			return fail("block %v: dimension %d is not between 1 and %d", c.Block, i, limit)
		}
	}
	threads := c.Block[0] * c.Block[1] * c.Block[2]
	if threads > maxThreads {
		return fail("block %v has %d threads, the limit is %d", c.Block, threads, maxThreads)
	}
	if r := e.RequiredThreads; r[0] != 0 && r != c.Block {
		return fail("block %v: the kernel requires %v", c.Block, r)
	}
	if m := e.MaxThreads; m[0] != 0 && threads > m[0]*m[1]*m[2] {
		return fail("block %v has %d threads, the kernel allows %d", c.Block, threads, m[0]*m[1]*m[2])
	}
	if c.DynamicShared < 0 || c.DynamicShared > maxShared || e.dynamicStart()+c.DynamicShared > maxShared+15 {
		return fail("%d bytes of shared memory and %d of dynamic shared memory: the limit is %d", e.SharedSize, c.DynamicShared, maxShared)
	}
	if e.LocalSize*threads > maxLocalTotal {
		return fail("%d bytes of local memory for each of %d threads: the limit is %d in all", e.LocalSize, threads, maxLocalTotal)
	}
	if len(c.Params) != len(e.Params) {
		return fail("%d parameters: want %d", len(c.Params), len(e.Params))
	}
	for i, p := range e.Params {
		if len(c.Params[i]) != p.Size {
			return fail("parameter %d (%s) has %d bytes: want %d", i, p.Name, len(c.Params[i]), p.Size)
		}
	}
	for i, n := range e.Cluster {
		if n > 1 && c.Grid[i]%n != 0 {
			return fail("grid %v is not a multiple of the cluster dimensions %v", c.Grid, e.Cluster)
		}
	}
	if n := c.Grid[0] * c.Grid[1] * c.Grid[2]; c.Cooperative && n > MaxTogether {
		return fail("%d blocks must run together: the limit is %d", n, MaxTogether)
	}
	if c.MaxSteps < 0 {
		return fail("MaxSteps is %d: want zero or more", c.MaxSteps)
	}
	return nil
}

func (e *Entry) packParams(values [][]byte) []byte {
	packed := alignedBytes(e.paramSize)
	for i, p := range e.Params {
		copy(packed[p.Offset:], values[i])
	}
	return packed
}

// run runs all blocks and returns the first error.
func (l *launch) run() error {
	if l.config.Cooperative || l.entry.Cluster[0] > 0 {
		return l.together()
	}
	workers := 1
	if !l.config.Checks {
		workers = l.config.Workers
		if workers <= 0 {
			workers = runtime.GOMAXPROCS(0)
		}
		workers = int(min(uint64(workers), l.blocks))
	}
	if workers == 1 {
		return l.work()
	}
	errs := make([]error, workers)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = l.work() })
	}
	group.Wait()
	stopped := false
	for _, err := range errs {
		if err != nil && err != errStopped {
			return err
		}
		stopped = stopped || err != nil
	}
	if stopped {
		return errStopped
	}
	return nil
}

// work runs blocks on one machine until none are left.
func (l *launch) work() error {
	b := l.entry.machine()
	b.prepare(l)
	for b.err == nil && !l.stopped.Load() {
		linear, ok := l.sampled(l.next.Add(1) - 1)
		if !ok {
			break
		}
		b.start(linear)
		b.run()
	}
	err := b.err
	if err != nil {
		l.stopped.Store(true)
	}
	b.release()
	return err
}

// grant returns the number of instructions in the next quantum: zero when the budget is
// used up.
func (l *launch) grant() (int, error) {
	if l.stopped.Load() {
		return 0, errStopped
	}
	select {
	case <-l.ctx.Done():
		return 0, context.Cause(l.ctx)
	default:
	}
	if l.config.MaxSteps == 0 {
		return quantum, nil
	}
	left := l.remaining.Add(-quantum)
	return int(max(0, min(quantum, left+quantum))), nil
}

// machine returns an idle machine for e.
func (e *Entry) machine() *block {
	if b, ok := e.machines.Get().(*block); ok {
		return b
	}
	return &block{entry: e, code: e.code, clock: new(clock)}
}

// prepare sets up the machine for a launch.
func (b *block) prepare(l *launch) {
	c := &l.config
	threads := c.Block[0] * c.Block[1] * c.Block[2]
	b.launch = l
	b.table = l.table
	b.direct = c.Memory.direct
	b.checks = c.Checks
	b.initial = l.initial
	b.params = l.params
	b.fuel, b.granted = 0, 0
	b.err = nil
	b.counts, b.touched, b.recent, b.scattered, b.counted = nil, nil, nil, nil, 0
	if c.Counter != nil {
		b.counts = make([]Count, len(b.code))
		if c.Counter.Touched {
			b.touched, b.recent, b.scattered = map[uint64]touch{}, map[site]*[warpSize]uint64{}, map[uint64]uint64{}
		}
	}
	if len(b.threads) != threads {
		b.threads = make([]thread, threads)
		b.warps = make([]warp, (threads+warpSize-1)/warpSize)
		b.slots = make([]uint64, threads*len(b.initial))
		b.local = alignedBytes(threads * b.entry.localStride())
		b.localInit = nil
		for i := range b.threads {
			b.threads[i].b = b
			b.threads[i].index = int32(i)
			b.threads[i].warp = &b.warps[i/warpSize]
		}
		for i := range b.warps {
			b.warps[i].threads = b.threads[i*warpSize : min((i+1)*warpSize, threads)]
		}
	}
	if size := b.entry.SharedSize; c.DynamicShared > 0 || len(b.shared) != size {
		if c.DynamicShared > 0 {
			size = b.entry.dynamicStart() + c.DynamicShared
		}
		if size != len(b.shared) {
			b.shared = alignedBytes(size)
			b.sharedInit, b.sharedRace = nil, nil
		}
	}
	if !b.checks {
		return
	}
	if b.sharedInit == nil {
		b.sharedInit = newInitialized(len(b.shared))
		b.sharedRace = newShadow(len(b.shared))
	} else {
		// Timestamps of another memory's clock have no meaning here.
		clear(b.sharedRace)
	}
	if b.localInit == nil {
		b.localInit = make([]initialized, threads)
		for i := range b.localInit {
			b.localInit[i] = newInitialized(b.entry.LocalSize)
		}
	}
	b.beginLaunch(c.Memory.raceClock)
}

// localStride returns the distance in bytes between the local memories of two threads.
func (e *Entry) localStride() int { return (e.LocalSize + 15) &^ 15 }

// release makes the machine available to other launches.
func (b *block) release() {
	if b.checks {
		b.launch.config.Memory.raceClock = b.now
	}
	if b.counts != nil {
		b.launch.counting.add(b)
		b.counts, b.touched, b.recent, b.scattered = nil, nil, nil, nil
	}
	b.launch, b.table, b.params, b.initial = nil, nil, nil, nil
	b.entry.machines.Put(b)
}
