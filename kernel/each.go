package kernel

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
)

// Each calls body once for every thread of a grid of blocks, as the plain Go
// function that it is. It is the reference that the compiled forms of a kernel
// are compared with, and the way to a debugger; for speed there is the compiled
// form.
//
// Each is deterministic: blocks run one after another, each up to its next
// SyncGrid, and the threads of a block one at a time, in order, each up to its
// next barrier or warp operation. A thread must not wait for another by other
// means. Shared memory is filled with the byte 0xA5 before each block.
//
// If a thread panics, a block's threads do not all reach the same number of
// barriers, or a warp's not the same warp operations, Each panics with a
// [*ThreadError]. A Y or Z of zero in grid or block counts as one; Each panics if
// grid or block is empty. Kernels with clusters are run by [EachCluster].
func Each(grid, block Dim3, body func(t Thread)) {
	EachDynamic(grid, block, 0, body)
}

// EachDynamic is [Each] with the given number of bytes of dynamic shared
// memory; see [Dynamic].
func EachDynamic(grid, block Dim3, bytes int, body func(t Thread)) {
	grid, block = grid.filled(), block.filled()
	if min(grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z) < 1 {
		panic(fmt.Sprintf("kernel: Each over a grid of %v blocks of %v threads", grid, block))
	}
	if bytes < 0 {
		panic(fmt.Sprintf("kernel: Each with %d bytes of dynamic shared memory", bytes))
	}
	(&gridState{body: body, grid: grid, block: block, cluster: Dim3{1, 1, 1}, bytes: bytes}).run()
}

// ThreadError is what Each panics with when a thread panicked or missed a
// barrier.
type ThreadError struct {
	Block, Thread Dim3
	Value         any    // what the thread panicked with
	File          string // where, if known
	Line          int
	Function      string // the function there, as package runtime names it
}

// Error tells what failed, where, and in which thread of which block.
func (e *ThreadError) Error() string {
	at := ""
	if e.File != "" {
		at = fmt.Sprintf(" at %s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("kernel: thread (%d,%d,%d) of block (%d,%d,%d)%s: %v",
		e.Thread.X, e.Thread.Y, e.Thread.Z, e.Block.X, e.Block.Y, e.Block.Z, at, e.Value)
}

// Unwrap returns Value if it is an error.
func (e *ThreadError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// blockState is the block that Each is running.
//
// Threads run on coroutines. A coroutine runs the threads that have not started
// one after another, so that a body without barriers needs a single one; when a
// thread waits at a barrier its coroutine is parked there, and another takes
// over the rest. Coroutines without a thread are kept for the next block.
type blockState struct {
	body    func(Thread)
	cluster []*blockState // the blocks of its cluster by rank
	extent  Dim3          // of the cluster
	count   int
	thread  Thread // what the threads of the block have in common
	number  int    // of the block, from 1
	next    Dim3   // the next thread to start
	started int
	parked  []*threadState // that waited when they were last run, in order
	idle    []*threadState // without a thread
	warps   []*meetings

	unfilled     bool // shared memory is left as it is before a block
	variables    []variable
	dynamic      []uint64
	dynamicBytes int
}

// threadState is one coroutine and the thread that runs on it.
type threadState struct {
	block  *blockState
	thread Thread
	shared int      // calls of Shared so far
	met    int      // calls of warp operations so far
	at     *meeting // the warp operation that it waits in
	waits  bool     // rather than having returned
	reach  reach    // of the barrier that it waits at
	yield  func(waits bool) bool
	resume func() (waits, ok bool)
	cancel func()
}

// begin starts the threads of a block.
func (b *blockState) begin(index Dim3) {
	b.thread.BlockIdx = index
	b.number++
	b.next, b.started = Dim3{}, 0
	b.poisonDynamic()
	for b.started < b.count {
		s := b.coroutine()
		if s.step(); s.waits {
			b.parked = append(b.parked, s)
		} else {
			b.idle = append(b.idle, s)
		}
	}
}

// coroutine returns one without a thread.
func (b *blockState) coroutine() *threadState {
	if n := len(b.idle); n > 0 {
		s := b.idle[n-1]
		b.idle = b.idle[:n-1]
		return s
	}
	s := &threadState{block: b}
	s.resume, s.cancel = iter.Pull(s.run)
	return s
}

// sort moves the coroutines whose threads have returned from the parked ones to
// the idle ones.
func (b *blockState) sort() {
	waiting := b.parked[:0]
	for _, s := range b.parked {
		if s.waits {
			waiting = append(waiting, s)
		} else {
			b.idle = append(b.idle, s)
		}
	}
	b.parked = waiting
}

// run runs the threads up to where the block has ended, or all of them wait for
// other blocks. It returns for which.
func (b *blockState) run() reach {
	for len(b.parked) > 0 {
		if b.runWarps() {
			b.sort()
			continue
		}
		if r := b.meeting(); r != ofBlock {
			return r
		}
		b.release()
	}
	return ofNone
}

// meeting returns whose barrier all threads of the block wait at.
func (b *blockState) meeting() reach {
	first := b.parked[0]
	fail := func(format string, args ...any) {
		panic(&ThreadError{Block: b.thread.BlockIdx, Thread: first.thread.ThreadIdx,
			Value: fmt.Sprintf("waits in %s, but ", first.reach) + fmt.Sprintf(format, args...)})
	}
	if len(b.parked) < b.count {
		fail("another thread of the block has returned")
	}
	for _, s := range b.parked {
		if s.reach != first.reach {
			fail("thread %v of the block waits in %s", s.thread.ThreadIdx, s.reach)
		}
	}
	return first.reach
}

// release lets the threads that wait go on.
func (b *blockState) release() {
	for _, s := range b.parked {
		s.step()
	}
	b.sort()
}

// stop ends the coroutines, and the threads that a panic in another one left at a
// barrier.
func (b *blockState) stop() {
	for _, s := range b.parked {
		s.cancel()
	}
	for _, s := range b.idle {
		s.cancel()
	}
}

// stopped is the panic that ends a thread which waits at a barrier.
type stopped struct{}

// run runs the threads that have not started, on one coroutine, of one block
// after the other.
func (s *threadState) run(yield func(waits bool) bool) {
	s.yield = yield
	defer func() {
		switch v := recover().(type) {
		case nil, stopped:
		default:
			file, line, function := panicSite()
			panic(&ThreadError{s.thread.BlockIdx, s.thread.ThreadIdx, v, file, line, function})
		}
	}()
	b := s.block
	for ok := true; ok; ok = yield(false) {
		for b.started < b.count {
			s.thread = b.thread
			s.thread.ThreadIdx = b.next
			s.thread.state = s
			s.shared, s.met = 0, 0
			b.started++
			b.next = b.following(b.next)
			b.body(s.thread)
		}
	}
}

// following returns the index of the thread after i, X running fastest.
func (b *blockState) following(i Dim3) Dim3 {
	if i.X++; i.X < b.thread.BlockDim.X {
		return i
	}
	i.X = 0
	if i.Y++; i.Y < b.thread.BlockDim.Y {
		return i
	}
	return Dim3{Z: i.Z + 1}
}

// step runs the thread up to where it waits again.
func (s *threadState) step() { s.waits, _ = s.resume() }

// sync waits at a barrier.
func (s *threadState) sync(r reach) {
	s.reach = r
	s.wait()
}

// wait hands over to the other threads.
func (s *threadState) wait() {
	if !s.yield(true) {
		panic(stopped{})
	}
}

// panicSite returns the place of the kernel's statement that panicked. It is
// called from the function that recovers.
func panicSite() (file string, line int, function string) {
	var pcs [16]uintptr
	return site(pcs[:runtime.Callers(3, pcs[:])])
}

// site returns the place in the kernel that a stack of calls leads to.
func site(callers []uintptr) (file string, line int, function string) {
	frames := runtime.CallersFrames(callers)
	for {
		f, more := frames.Next()
		if !supports(f.Function) {
			return f.File, f.Line, f.Function
		}
		if !more {
			return "", 0, ""
		}
	}
}

// supports reports whether a function is one that a kernel stands on rather
// than part of a kernel.
func supports(function string) bool {
	for _, prefix := range []string{"runtime.", "sync/atomic.", "internal/runtime/", "quern.dev/kernel."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return !strings.Contains(function, ".") // assembly of the run time
}
