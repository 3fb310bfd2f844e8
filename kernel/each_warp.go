package kernel

import (
	"fmt"
	"runtime"
	"unsafe"
)

// warpCall is one thread's call of a warp operation.
type warpCall struct {
	operation string
	callers   [8]uintptr     // the call stack
	value     unsafe.Pointer // points to the thread's operand; all threads of the call have the same type T
	size      uintptr        // of the value
}

// warpCalls holds the calls of a warp's threads, by lane. There are two lists, so
// that a thread can add its next call while slower threads still read the
// previous ones.
type warpCalls [2][warpSize]warpCall

// gather waits until all threads of the warp have called the same operation. It
// returns the operands of all lanes, in memory that the caller owns.
func gather[T any](t Thread, operation string, v T) []T {
	s := t.state
	if s == nil {
		if t.BlockDim.Count() > 1 {
			panic("kernel: " + operation + " in a block of " + t.BlockDim.String() + " threads, but only one thread is running; run the block with kernel.Each")
		}
		return []T{v}
	}
	list := &s.block.warp(t.Warp())[s.calls%2]
	s.calls++
	m := &list[t.Lane()]
	*m = warpCall{operation: operation, value: unsafe.Pointer(&v), size: unsafe.Sizeof(v)}
	runtime.Callers(2, m.callers[:])
	s.at = m
	s.wait()
	s.at = nil
	values := make([]T, s.block.lanes(t.Warp()))
	for i := range values {
		values[i] = *(*T)(list[i].value)
	}
	return values
}

// warp returns the call lists of warp i.
func (b *blockState) warp(i int) *warpCalls {
	if b.warps == nil {
		b.warps = make([]*warpCalls, (b.count+warpSize-1)/warpSize)
	}
	if b.warps[i] == nil {
		b.warps[i] = new(warpCalls)
	}
	return b.warps[i]
}

// lanes returns the number of threads of a warp.
func (b *blockState) lanes(warp int) int { return min(warpSize, b.count-warp*warpSize) }

// runWarps resumes the threads of warps that wait at warp operations, until they
// wait for the whole block. It reports whether there were any.
func (b *blockState) runWarps() bool {
	ran := false
	for begin := 0; begin < len(b.parked); {
		warp, end := b.parked[begin].thread.Warp(), begin
		for end < len(b.parked) && b.parked[end].thread.Warp() == warp {
			end++
		}
		for threads := b.parked[begin:end]; b.atOperation(threads); ran = true {
			for _, s := range threads {
				s.step()
			}
		}
		begin = end
	}
	return ran
}

// atOperation reports whether a warp waits at a warp operation. It ignores
// threads that had returned before they were listed. It panics if the threads of
// the warp wait at different operations.
func (b *blockState) atOperation(threads []*threadState) bool {
	var first *threadState
	for _, s := range threads {
		if s.waits && s.at != nil {
			first = s
			break
		}
	}
	if first == nil {
		return false
	}
	warp, lane := first.thread.Warp(), 0
	for _, s := range threads {
		switch {
		case !s.waits || s.thread.Lane() != lane:
			b.mismatch(first, lane, "has returned")
		case s.at == nil:
			b.mismatch(first, lane, "waits in Sync")
		case s.at.operation != first.at.operation || s.at.size != first.at.size || s.at.callers != first.at.callers:
			file, line, _ := site(s.at.callers[:])
			b.mismatch(first, lane, fmt.Sprintf("waits in %s at %s:%d", s.at.operation, file, line))
		}
		lane++
	}
	if lane < b.lanes(warp) {
		b.mismatch(first, lane, "has returned")
	}
	return true
}

// mismatch panics because a thread waits for a lane that does not take part.
func (b *blockState) mismatch(s *threadState, lane int, where string) {
	file, line, function := site(s.at.callers[:])
	panic(&ThreadError{
		Block: s.thread.BlockIdx, Thread: s.thread.ThreadIdx, File: file, Line: line, Function: function,
		Value: fmt.Sprintf("waits in %s, but lane %d of its warp %s; all threads of a warp call its operations together", s.at.operation, lane, where),
	})
}
