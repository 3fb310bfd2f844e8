package host

import (
	"sync/atomic"
	"time"

	"quern.dev/kernel"
)

// Func is a kernel compiled for the CPU. It runs every block that r supplies.
type Func func(r *Run)

// Run is one worker's view of one launch. Only one goroutine uses it.
type Run struct {
	GridDim, BlockDim kernel.Dim3

	// BlockIdx is the current block. Next sets it.
	BlockIdx kernel.Dim3

	// ThreadIdx is the current thread. Compiled kernels set it so that a failure
	// can be located. Next sets it to zero.
	ThreadIdx kernel.Dim3

	launch     *launch
	next, end  int // the rest of the current chunk of blocks
	further    int // blocks that NextRow returned after BlockIdx
	canRecruit bool
	began      time.Time // start of the launch, if canRecruit

	shared, scratch, kept [][]any // of *storage[T], by id
	dynamic               []uint64
	pointers              []interface{ release() } // storage in use that contains pointers

	loads  uint // number of ordered loads so far; see Load
	called bool // run by a Call

	member *member // nil unless blocks run at the same time

	plain *kernel.Blocks // used by Plain and kept for the next launch

	own launch // the launch that this worker's goroutine started
}

// launch is one call of Execute.
type launch struct {
	kernel      Func
	args        *Args
	grid, block kernel.Dim3
	blocks      int // in the grid
	chunk       int // number of blocks that a worker draws at once
	dynamic     int // bytes
	workers     int // maximum, including the caller
	output      *Output
	together    *together // nil unless blocks synchronize with each other

	// helpers is the number of other workers in the launch. The pool's mutex
	// guards it.
	helpers int

	failure atomic.Pointer[Failure]

	// halted tells workers to leave: the launch has failed, or was canceled with
	// cause. If a block was skipped because of a cancellation, skipped describes
	// it.
	halted  atomic.Bool
	cause   atomic.Pointer[error]
	skipped atomic.Pointer[Failure]

	// ticket is the first block that has not been drawn. All workers write it.
	// The padding keeps it on a different cache line from the fields that they
	// only read.
	_      [64]byte
	ticket atomic.Int64
	_      [64]byte
}

// fail ends the launch. Only the first failure is reported.
func (l *launch) fail(f *Failure) {
	l.failure.CompareAndSwap(nil, f)
	l.halt()
}

// cancel ends the launch. Its failure has the position of a thread at that time.
func (l *launch) cancel(cause error) {
	l.cause.CompareAndSwap(nil, &cause)
	l.halt()
}

func (l *launch) halt() {
	l.halted.Store(true)
	if l.together != nil {
		l.together.end()
	}
}

// reset prepares the launch for a run.
func (l *launch) reset() {
	l.failure.Store(nil)
	l.halted.Store(false)
	l.cause.Store(nil)
	l.skipped.Store(nil)
	l.ticket.Store(0)
}

// result returns the failure of the launch, or nil. A launch that was canceled
// after all of its blocks had run has succeeded.
func (l *launch) result() *Failure {
	if f := l.failure.Load(); f != nil {
		return f
	}
	return l.skipped.Load()
}

// finished reports whether no blocks are left to draw.
func (l *launch) finished() bool {
	return l.ticket.Load() >= int64(l.blocks) || l.halted.Load()
}

// Next advances to the next block. It returns false if none are left or the
// launch has failed or was canceled.
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

// NextRow advances to the next blocks along X whose threads may run as one row, and
// returns the number of these threads: the most that limit allows, but at least one
// block's. BlockIdx is the first of the blocks, and ThreadIdx.X counts the threads of
// the row. NextRow returns 0 where Next returns false. Each block must be one that
// shares nothing.
func (r *Run) NextRow(limit int) int {
	r.BlockIdx.X += r.further
	r.further = 0
	if !r.Next() {
		return 0
	}
	if r.member == nil {
		r.further = max(0, min(limit/r.BlockDim.X-1, r.end-r.next, r.GridDim.X-1-r.BlockIdx.X))
		r.next += r.further
	}
	return (1 + r.further) * r.BlockDim.X
}

// Row moves ThreadIdx to the next row of the block's threads along X, whose number is row, and
// reports whether there is one. Compiled kernels call it in loops that count rows from 0.
func (r *Run) Row(row int) bool {
	at := &r.ThreadIdx
	if row == 0 {
		at.Y, at.Z = 0, 0
		return true
	}
	if at.Y++; at.Y < r.BlockDim.Y {
		return true
	}
	at.Y = 0
	if at.Z++; at.Z < r.BlockDim.Z {
		return true
	}
	at.Z = 0
	return false
}

// skip records that the current block is not run because the launch was canceled.
func (r *Run) skip() {
	if cause := r.launch.cause.Load(); cause != nil {
		r.launch.skipped.CompareAndSwap(nil, &Failure{Canceled: *cause, Block: r.BlockIdx})
	}
}

// CheckHalt ends the current thread, and with it the worker's part in the launch, if the
// launch has failed or was canceled. Compiled kernels call it in each iteration of loops
// that may run for long. It is small enough for the Go compiler to inline it.
func (r *Run) CheckHalt() {
	if r.launch.halted.Load() {
		r.halt()
	}
}

// halt ends the current thread of a launch that has failed or was canceled.
func (r *Run) halt() {
	if cause := r.launch.cause.Load(); cause != nil {
		panic(canceled{*cause})
	}
	panic(failed{})
}

// failed is the panic value that ends a worker of a failed launch.
type failed struct{}

// canceled is the panic value that ends a worker of a canceled launch.
type canceled struct{ cause error }

// Thread returns the current thread, for calls of functions that take one.
func (r *Run) Thread() kernel.Thread {
	return kernel.Thread{
		ThreadIdx: r.ThreadIdx,
		BlockIdx:  r.BlockIdx,
		BlockDim:  r.BlockDim,
		GridDim:   r.GridDim,
	}
}

// advance moves BlockIdx to the next block, with X varying fastest.
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

// draw takes the next chunk of blocks from the launch and moves to its first
// block.
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
	if r.canRecruit && r.next > 0 && r.end < l.blocks && time.Since(r.began) > recruitDelay {
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
	r.next, r.end, r.further = 0, 0, 0
	defer r.leave()
	l.kernel(r)
}

// leave turns a panic of the kernel into the failure of the launch, and releases
// what belongs to the launch.
func (r *Run) leave() {
	switch v := recover().(type) {
	case nil, failed:
	case canceled:
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
