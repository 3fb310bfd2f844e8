package fakecuda

import (
	"runtime"
	"sync/atomic"
)

// NotSupported is the result code of a device that lacks a feature.
const NotSupported = 801

func init() {
	register(map[string]entry{
		"cuStreamWaitValue32_v2":      {true, waitValue},
		"cuCtxGetStreamPriorityRange": {true, priorityRange},
		"cuStreamCreateWithPriority":  {true, createWithPriority},
	})
}

// awaited is a word in memory that a stream waits for.
type awaited struct {
	word *uint32
	most uint32 // smallest value at which the stream continues
}

func (a awaited) reached() bool { return int32(atomic.LoadUint32(a.word)-a.most) >= 0 }

// streamArgument is the index of the argument that is the stream.
var streamArgument = map[string]int{
	"cuMemcpyHtoDAsync_v2": 3, "cuMemcpyDtoHAsync_v2": 3, "cuMemcpyDtoDAsync_v2": 3,
	"cuMemsetD8Async": 3, "cuMemsetD16Async": 3, "cuMemsetD32Async": 3,
	"cuStreamSynchronize": 0, "cuStreamQuery": 0, "cuStreamWaitEvent": 0, "cuStreamWaitValue32_v2": 0,
	"cuEventRecord": 1, "cuLaunchKernel": 8, "cuLaunchCooperativeKernel": 8,
}

// hold delays work of a stream until a word in memory is set. Calls do their work
// synchronously, so the caller waits.
func (l *Library) hold(name string, args []uintptr) int {
	i, ok := streamArgument[name]
	if !ok {
		return Success
	}
	l.mu.Lock()
	word, ok := l.awaited[args[i]]
	l.mu.Unlock()
	for ok && !word.reached() {
		if name == "cuStreamQuery" {
			return NotReady
		}
		runtime.Gosched()
	}
	return Success
}

func waitValue(l *Library, a []uintptr) int {
	if _, ok := object[stream](l, a[0]); !ok {
		return InvalidHandle
	}
	if l.awaited == nil {
		l.awaited = make(map[uintptr]awaited)
	}
	l.awaited[a[0]] = awaited{at[uint32](a[1]), uint32(a[2])}
	return Success
}

func priorityRange(_ *Library, a []uintptr) int {
	set(a[0], int32(0))
	return set(a[1], int32(-5))
}

func createWithPriority(l *Library, a []uintptr) int {
	return l.add(a[0], stream{priority: int32(a[2])})
}

// StreamPriorities returns the priorities of the existing streams, except 0.
func (l *Library) StreamPriorities() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []int
	for _, o := range l.objects {
		if s, ok := o.(stream); ok && s.priority != 0 {
			all = append(all, int(s.priority))
		}
	}
	return all
}
