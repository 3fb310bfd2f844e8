package host

import (
	"sync/atomic"
	"time"

	"quern.dev/kernel"
)

// Func is a kernel compiled for the CPU: it runs every block that r hands out.
type Func func(r *Run)

// Run is one worker's view of one launch. It is used by one goroutine.
type Run struct {
	GridDim, BlockDim kernel.Dim3

	// BlockIdx is the block to run. Next sets it.
	BlockIdx kernel.Dim3

	// ThreadIdx is where compiled kernels store the thread that is running, so
	// that a failure can be located. Next sets it to zero.
	ThreadIdx kernel.Dim3

	launch     *launch
	next, end  int // blocks of the current chunk that have not been handed out
	canRecruit bool
	began      time.Time // of the launch, if canRecruit

	shared, scratch, kept [][]any // of *storage[T], by id
	dynamic               []uint64
	pointers              []interface{ release() } // storage in use that holds pointers

	loads  uint // ordered loads so far; see Load
	called bool // by a Call

	member *member // of a cluster whose blocks run at the same time; else nil

	plain *kernel.Blocks // for Plain, kept for the next launch

	own launch // the launch that this worker's goroutine started
}

// launch is one call of Execute.
type launch struct {
	kernel      Func
	args        *Args
	grid, block kernel.Dim3
	blocks      int // in the grid
	chunk       int // blocks that a worker draws at once
	dynamic     int // bytes
	workers     int // at most, the caller included
	output      *Output
	together    *together // nil unless blocks wait for each other

	// helpers is the number of other workers that are in the launch. It is
	// guarded by the pool's mutex.
	helpers int

	failure atomic.Pointer[Failure]

	// halted tells whoever runs the kernel to leave: the launch has failed, or was
	// given up for cause. skipped then has the place of a block that was not run.
	halted  atomic.Bool
	cause   atomic.Pointer[error]
	skipped atomic.Pointer[Failure]

	// ticket is the first block that has not been drawn. All workers write it;
	// the padding keeps what they only read out of its cache line.
	_      [64]byte
	ticket atomic.Int64
	_      [64]byte
}

// fail ends the launch. The first failure is the one that is reported.
func (l *launch) fail(f *Failure) {
	l.failure.CompareAndSwap(nil, f)
	l.halt()
}

// giveUp ends the launch. Its failure tells where a thread was then.
func (l *launch) giveUp(cause error) {
	l.cause.CompareAndSwap(nil, &cause)
	l.halt()
}

func (l *launch) halt() {
	l.halted.Store(true)
	if l.together != nil {
		l.together.end()
	}
}

// reset makes the launch ready to run.
func (l *launch) reset() {
	l.failure.Store(nil)
	l.halted.Store(false)
	l.cause.Store(nil)
	l.skipped.Store(nil)
	l.ticket.Store(0)
}

// result is how the launch has ended. A launch that was given up when all of its
// blocks had run has succeeded.
func (l *launch) result() *Failure {
	if f := l.failure.Load(); f != nil {
		return f
	}
	return l.skipped.Load()
}

// finished reports whether there is nothing left to draw.
func (l *launch) finished() bool {
	return l.ticket.Load() >= int64(l.blocks) || l.halted.Load()
}

// Next advances to the next block. It returns false when none are left, or the
// launch has failed or was cancelled.
func (r *Run) Next() bool {
	if r.member != nil {
		return r.nextTogether()
	}
	l := r.launch
	switch {
	case r.next < r.end:
		r.advance()
	case !r.draw():
		return false
	}
	if l.halted.Load() {
		r.skip()
		return false
	}
	r.next++
	r.ThreadIdx = kernel.Dim3{}
	return true
}

// skip notes that the block which is next is not run because the launch was given
// up.
func (r *Run) skip() {
	if cause := r.launch.cause.Load(); cause != nil {
		r.launch.skipped.CompareAndSwap(nil, &Failure{Canceled: *cause, Block: r.BlockIdx})
	}
}

// Halted reports whether the launch has failed or was given up. Compiled kernels
// ask in each iteration of loops that may go on for long, and then call Halt.
func (r *Run) Halted() bool { return r.launch.halted.Load() }

// Halt ends the running thread, and with it the worker's part of a launch that has
// failed or was given up.
func (r *Run) Halt() {
	if cause := r.launch.cause.Load(); cause != nil {
		panic(givenUp{*cause})
	}
	panic(abandoned{})
}

// abandoned is the panic that ends a worker of a launch that has failed.
type abandoned struct{}

// givenUp is the panic that ends a worker of a launch that was given up.
type givenUp struct{ cause error }

// Thread returns the running thread, for calls of functions that take one.
func (r *Run) Thread() kernel.Thread {
	return kernel.Thread{
		ThreadIdx: r.ThreadIdx,
		BlockIdx:  r.BlockIdx,
		BlockDim:  r.BlockDim,
		GridDim:   r.GridDim,
	}
}

// advance moves BlockIdx to the block after it, X running fastest.
func (r *Run) advance() {
	if r.BlockIdx.X++; r.BlockIdx.X < r.GridDim.X {
		return
	}
	r.BlockIdx.X = 0
	if r.BlockIdx.Y++; r.BlockIdx.Y < r.GridDim.Y {
		return
	}
	r.BlockIdx.Y = 0
	r.BlockIdx.Z++
}

// draw takes the next chunk of blocks from the launch and moves to its first.
func (r *Run) draw() bool {
	l := r.launch
	start := int(l.ticket.Add(int64(l.chunk))) - l.chunk
	if start >= l.blocks {
		return false
	}
	r.next, r.end = start, min(start+l.chunk, l.blocks)
	r.BlockIdx.X = start % l.grid.X
	start /= l.grid.X
	r.BlockIdx.Y = start % l.grid.Y
	r.BlockIdx.Z = start / l.grid.Y
	if r.canRecruit && r.next > 0 && r.end < l.blocks && time.Since(r.began) > patience {
		r.canRecruit = false
		workers.recruit(l)
	}
	return true
}

// work runs the kernel for blocks of l until none are left.
func (r *Run) work(l *launch) {
	r.launch = l
	r.GridDim, r.BlockDim = l.grid, l.block
	r.BlockIdx, r.ThreadIdx = kernel.Dim3{}, kernel.Dim3{}
	r.next, r.end = 0, 0
	defer r.leave()
	l.kernel(r)
}

// leave turns a panic of the kernel into the launch's failure, and lets go of
// what belongs to the launch.
func (r *Run) leave() {
	switch v := recover().(type) {
	case nil, abandoned:
	case givenUp:
		f := newFailure(r, v.cause)
		f.Canceled = v.cause
		r.launch.fail(f)
	default:
		r.launch.fail(newFailure(r, v))
	}
	r.launch = nil
	for _, s := range r.pointers {
		s.release()
	}
	clear(r.pointers)
	r.pointers = r.pointers[:0]
}
