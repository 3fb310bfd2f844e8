package kernel

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
)

// Each calls body, as a plain Go function, once for every thread of a grid of
// blocks. It is the reference for the compiled forms of a kernel and lets a
// debugger step through it. It is slow; use the compiled form for speed.
//
// Each is deterministic. Blocks run one after another, each up to its next
// SyncGrid. The threads of a block run one at a time, in order, each up to its
// next barrier or warp operation. A thread must not wait for another thread by
// any other means. Shared memory is filled with the byte 0xA5 before each block.
//
// Each panics with a [*ThreadError] if a thread panics, if the threads of a block
// do not reach the same barriers, or if the threads of a warp do not reach the
// same warp operations. A Y or Z of zero in grid or block counts as one. Each
// panics if grid or block is empty. Use [EachCluster] for kernels with clusters.
func Each(grid, block Dim3, body func(t Thread)) {
	EachDynamic(grid, block, 0, body)
}

// EachDynamic is [Each] with the given number of bytes of dynamic shared
// memory; see [Dynamic].
func EachDynamic(grid, block Dim3, bytes int, body func(t Thread)) {
	grid, block = grid.filled(), block.filled()
	if min(grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z) < 1 {
		panic(fmt.Sprintf("kernel: Each: grid of %v blocks with %v threads each: every extent must be at least 1", grid, block))
	}
	if bytes < 0 {
		panic(fmt.Sprintf("kernel: Each: %d bytes of dynamic shared memory; the size cannot be negative", bytes))
	}
	(&gridState{body: body, grid: grid, block: block, cluster: Dim3{1, 1, 1}, bytes: bytes}).run()
}

// ThreadError is the value with which Each panics when a thread panics or misses
// a barrier.
type ThreadError struct {
	Block, Thread Dim3
	Value         any    // the value of the thread's panic
	File          string // the source position, if known
	Line          int
	Function      string // the function at that position, as named by package runtime
}

// Error returns the failure with its source position, thread and block.
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

// blockState is a block that Each runs.
//
// Threads run on coroutines. One coroutine runs unstarted threads one after
// another, so a body without barriers needs only one. When a thread waits at a
// barrier, its coroutine is parked and another one continues with the remaining
// threads. Idle coroutines are kept for the next block.
type blockState struct {
	body    func(Thread)
	cluster []*blockState // the blocks of its cluster by rank
	extent  Dim3          // of the cluster
	count   int
	thread  Thread // the fields that all threads of the block share
	number  int    // of the block, starting at 1
	next    Dim3   // the next thread to start
	started int
	parked  []*threadState // waiting when last run, in thread order
	idle    []*threadState // without a thread
	warps   []*warpCalls

	unfilled     bool // do not poison shared memory before each block
	variables    []variable
	dynamic      []uint64
	dynamicBytes int
}

// threadState is one coroutine and the thread that runs on it.
type threadState struct {
	block  *blockState
	thread Thread
	shared int       // calls of Shared so far
	calls  int       // calls of warp operations so far
	at     *warpCall // the warp operation in which it waits
	waits  bool      // false if the thread has returned
	reach  reach     // of the barrier at which it waits
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

// coroutine returns a coroutine that has no thread.
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

// sort moves the coroutines whose threads have returned from parked to idle.
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

// run runs the threads until the block has ended or all of them wait for other
// blocks. It returns the barrier for which they wait, or ofNone if the block has
// ended.
func (b *blockState) run() reach {
	for len(b.parked) > 0 {
		if b.runWarps() {
			b.sort()
			continue
		}
		if r := b.barrier(); r != ofBlock {
			return r
		}
		b.release()
	}
	return ofNone
}

// barrier returns the barrier at which all threads of the block wait.
func (b *blockState) barrier() reach {
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

// release resumes the waiting threads.
func (b *blockState) release() {
	for _, s := range b.parked {
		s.step()
	}
	b.sort()
}

// stop ends the coroutines, including those with threads that another thread's
// panic has left waiting at a barrier.
func (b *blockState) stop() {
	for _, s := range b.parked {
		s.cancel()
	}
	for _, s := range b.idle {
		s.cancel()
	}
}

// stopped is the panic value that ends a thread waiting at a barrier.
type stopped struct{}

// run runs unstarted threads on one coroutine, block after block.
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
			s.shared, s.calls = 0, 0
			b.started++
			b.next = b.following(b.next)
			b.body(s.thread)
		}
	}
}

// following returns the index of the thread after i, with X varying fastest.
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

// step runs the thread until it waits again or returns.
func (s *threadState) step() { s.waits, _ = s.resume() }

// sync waits at a barrier.
func (s *threadState) sync(r reach) {
	s.reach = r
	s.wait()
}

// wait yields to the other threads.
func (s *threadState) wait() {
	if !s.yield(true) {
		panic(stopped{})
	}
}

// panicSite returns the position of the kernel statement that panicked. Call it
// from the function that recovers.
func panicSite() (file string, line int, function string) {
	var pcs [16]uintptr
	return site(pcs[:runtime.Callers(3, pcs[:])])
}

// site returns the innermost position in a call stack that belongs to the kernel.
func site(callers []uintptr) (file string, line int, function string) {
	frames := runtime.CallersFrames(callers)
	for {
		f, more := frames.Next()
		if !isRuntime(f.Function) {
			return f.File, f.Line, f.Function
		}
		if !more {
			return "", 0, ""
		}
	}
}

// isRuntime reports whether a function belongs to Go's or Quern's runtime rather
// than to a kernel.
func isRuntime(function string) bool {
	for _, prefix := range []string{"runtime.", "sync/atomic.", "internal/runtime/", "quern.dev/kernel."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return !strings.Contains(function, ".") // assembly of the Go runtime
}
