package fakecuda

import (
	"maps"
	"slices"
	"unsafe"
)

// Streams that lag: work is queued and runs at later calls, on streams chosen at
// random, or when something waits for it. Missing ordering between streams shows up as
// wrong values.

// lag holds queued work that is not done yet.
type lag struct {
	queues  map[uintptr][]*task // by handle of the stream
	reached map[uintptr]*task   // the last record of an event, by handle
}

// task is work of a stream.
type task struct {
	stream uintptr
	after  *task // a task of another stream, or nil
	do     func() int
	done   bool
}

// later queues the work of a call. It returns false if the call must run now; the work
// before it has then been done.
func (l *Library) later(name string, a []uintptr) (code int, queued bool) {
	if l.Lag == nil {
		return Success, false
	}
	if l.lag.queues == nil {
		l.lag = lag{queues: make(map[uintptr][]*task), reached: make(map[uintptr]*task)}
	}
	if l.Lag.IntN(3) == 0 {
		l.progress()
	}
	if i, ok := streamArgument[name]; ok {
		if _, known := object[stream](l, a[i]); !known {
			return InvalidHandle, true
		}
	}
	t := &task{do: func() int { return Success }}
	a = slices.Clone(a) // the caller owns it
	switch name {
	case "cuStreamQuery":
		if len(l.lag.queues[a[0]]) > 0 {
			return NotReady, true
		}
		return Success, false
	case "cuEventQuery":
		if r := l.lag.reached[a[0]]; r != nil && !r.done {
			return NotReady, true
		}
		return Success, false
	case "cuStreamSynchronize", "cuStreamDestroy_v2":
		return l.finish(a[0]), false
	case "cuEventSynchronize":
		return l.reach(l.lag.reached[a[0]]), false
	case "cuMemcpy2DAsync_v2", "cuMemcpy3DAsync_v2":
		return l.finish(a[1]), false
	case "cuMemcpyPeerAsync":
		return l.finish(a[5]), false
	case "cuLaunchCooperativeKernel":
		return l.finish(a[8]), false
	case "cuStreamWaitValue32_v2":
		return l.finish(a[0]), false
	case "cuMemFree_v2", "cuMemFreeHost":
		for _, s := range slices.Collect(maps.Keys(l.lag.queues)) {
			l.finish(s)
		}
		return Success, false
	case "cuStreamWaitEvent":
		t.stream, t.after = a[0], l.lag.reached[a[1]]
	case "cuEventRecord":
		t.stream = a[1]
		l.lag.reached[a[0]] = t
		record(l, a) // so that times can be queried
	case "cuGraphLaunch":
		e, ok := object[*graphExec](l, a[0])
		if !ok {
			return InvalidHandle, true
		}
		nodes := slices.Clone(e.nodes) // the graph may be destroyed before it runs
		t.stream = a[1]
		t.do = func() int { return runNodes(l, nodes) }
	case "cuMemFreeAsync":
		t.stream = a[1]
		t.do = func() int { return l.freeInOrder(a[0]) }
	case "cuMemcpyHtoDAsync_v2":
		t.stream = a[3]
		src := bytes(a[1], a[2])
		if !l.own(a[1]) {
			src = slices.Clone(src)
		}
		t.do = func() int {
			copy(bytes(a[0], a[2]), src)
			return Success
		}
	case "cuLaunchKernel":
		f, ok := object[function](l, a[0])
		if !ok {
			return InvalidHandle, true
		}
		t.stream = a[8]
		pointers, values := make([]uintptr, 0, 16), make([][]uint64, 0, 16)
		for i, p := range f.Entry(f.name).Params {
			v := make([]uint64, (p.Size+7)/8)
			place := uintptr(unsafe.Pointer(unsafe.SliceData(v)))
			copy(bytes(place, uintptr(p.Size)), bytes(*at[uintptr](a[9] + 8*uintptr(i)), uintptr(p.Size)))
			pointers, values = append(pointers, place), append(values, v)
		}
		a[9] = uintptr(unsafe.Pointer(unsafe.SliceData(pointers)))
		t.do = func() int {
			defer func() { pointers, values = nil, nil }() // keep them alive until here
			return l.launch(a, false)
		}
	case "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2", "cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async":
		t.stream = a[3]
		run := functions[name].run
		t.do = func() int { return run(l, a) }
	default:
		return Success, false
	}
	l.lag.queues[t.stream] = append(l.lag.queues[t.stream], t)
	return Success, true
}

// own reports whether the library allocated the memory at an address.
func (l *Library) own(address uintptr) bool {
	for at, words := range l.memory {
		if address >= at && address < at+uintptr(8*len(words)) {
			return true
		}
	}
	return false
}

// progress runs one task of a stream whose next task need not wait.
func (l *Library) progress() {
	streams := slices.Sorted(maps.Keys(l.lag.queues))
	if len(streams) == 0 {
		return
	}
	s := streams[l.Lag.IntN(len(streams))]
	if first := l.lag.queues[s][0]; first.after == nil || first.after.done {
		l.step(s)
	}
}

// step runs the first task of a stream, after the tasks that it waits for.
func (l *Library) step(s uintptr) int {
	t := l.lag.queues[s][0]
	code := l.reach(t.after)
	if l.lag.queues[s] = l.lag.queues[s][1:]; len(l.lag.queues[s]) == 0 {
		delete(l.lag.queues, s)
	}
	t.done = true
	return max(code, t.do())
}

// reach runs the work of a stream up to a task.
func (l *Library) reach(t *task) int {
	code := Success
	for t != nil && !t.done {
		code = max(code, l.step(t.stream))
	}
	return code
}

// finish runs all work of a stream.
func (l *Library) finish(s uintptr) int {
	code := Success
	for len(l.lag.queues[s]) > 0 {
		code = max(code, l.step(s))
	}
	return code
}
