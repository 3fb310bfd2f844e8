package kernel

import (
	"fmt"
	"runtime"
	"unsafe"
)

// meeting is one thread's call of a warp operation.
type meeting struct {
	operation string
	callers   [8]uintptr     // how the thread got there
	value     unsafe.Pointer // to what the thread gives: a T of the operation, which all threads that meet have called with the same type
	size      uintptr        // of the value
}

// meetings is what the threads of a warp give, by lane. A thread leaves its next
// value in one list while those that are behind still read the other.
type meetings [2][warpSize]meeting

// gather waits until all threads of the warp call the same operation and
// returns what each lane gives, in memory of the caller's own.
func gather[T any](t Thread, operation string, v T) []T {
	s := t.state
	if s == nil {
		if t.BlockDim.Count() > 1 {
			panic("kernel: " + operation + " in a block of " + t.BlockDim.String() + " threads of which only one is running; run the block with kernel.Each")
		}
		return []T{v}
	}
	list := &s.block.warp(t.Warp())[s.met%2]
	s.met++
	m := &list[t.Lane()]
	*m = meeting{operation: operation, value: unsafe.Pointer(&v), size: unsafe.Sizeof(v)}
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

// warp returns the lists of a warp of the block.
func (b *blockState) warp(i int) *meetings {
	if b.warps == nil {
		b.warps = make([]*meetings, (b.count+warpSize-1)/warpSize)
	}
	if b.warps[i] == nil {
		b.warps[i] = new(meetings)
	}
	return b.warps[i]
}

// lanes returns the number of threads of a warp.
func (b *blockState) lanes(warp int) int { return min(warpSize, b.count-warp*warpSize) }

// runWarps lets the threads of the warps that wait at warp operations go on, up
// to where they wait for the whole block, and reports whether there were any.
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

// atOperation reports whether the threads of a warp that had not returned when
// they were listed wait at a warp operation. It panics if not all threads of the
// warp wait at the same.
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
			b.apart(first, lane, "has returned")
		case s.at == nil:
			b.apart(first, lane, "waits in Sync")
		case s.at.operation != first.at.operation || s.at.size != first.at.size || s.at.callers != first.at.callers:
			file, line, _ := site(s.at.callers[:])
			b.apart(first, lane, fmt.Sprintf("waits in %s at %s:%d", s.at.operation, file, line))
		}
		lane++
	}
	if lane < b.lanes(warp) {
		b.apart(first, lane, "has returned")
	}
	return true
}

// apart panics because a thread waits for a lane of its warp that is not there.
func (b *blockState) apart(s *threadState, lane int, where string) {
	file, line, function := site(s.at.callers[:])
	panic(&ThreadError{
		Block: s.thread.BlockIdx, Thread: s.thread.ThreadIdx, File: file, Line: line, Function: function,
		Value: fmt.Sprintf("waits in %s, but lane %d of its warp %s; all threads of a warp call its operations together", s.at.operation, lane, where),
	})
}
