package fakecuda

import (
	"context"
	"slices"
	"sync"

	"quern.dev/internal/ptxvm"
)

// Launches that run asynchronously, as on a GPU: in stream order, a limited number of
// blocks of each at a time. Functions that wait for all kernels on a GPU also wait
// here.

// works holds the launches of streams.
type works struct {
	mu    sync.Mutex
	last  map[uintptr]*running // by handle of the stream
	marks map[uintptr]*running // by handle of the event

	streams, room int // number of streams, and of streams that fit

	killed context.Context
	kill   context.CancelFunc
}

// running is a launch. Its code is valid once done is closed.
type running struct {
	done chan struct{}
	code int
}

// ended reports whether w has ended. A nil w has.
func (w *running) ended() bool {
	if w == nil {
		return true
	}
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// wait waits until w ends and returns its code.
func (w *running) wait() int {
	if w == nil {
		return Success
	}
	<-w.done
	return w.code
}

// streamRoom is the number of streams by which the room grows when it is used up.
const streamRoom = 32

// waitsForAll lists the functions that wait until no kernel runs. cuKernelGetFunction
// waits only for the first kernel of a library.
var waitsForAll = map[string]bool{
	"cuMemFree_v2": true, "cuMemFreeHost": true, "cuMemHostUnregister": true, "cuArrayDestroy": true,
	"cuModuleLoadDataEx": true, "cuModuleUnload": true, "cuKernelGetFunction": true, "cuLibraryUnload": true,
	"cuIpcCloseMemHandle": true, "cuCtxSetLimit": true,
}

// beside handles a call with respect to running launches. It reports whether the call
// is complete.
func (l *Library) beside(name string, a []uintptr) (code int, done bool) {
	w := &l.works
	switch name {
	case "cuLaunchKernel", "cuLaunchCooperativeKernel":
		return l.begin(a), true
	case "cuStreamCreate", "cuStreamCreateWithPriority":
		w.mu.Lock()
		w.streams++
		full := w.streams > w.room
		if full {
			w.room += streamRoom
		}
		w.mu.Unlock()
		if full {
			w.idle()
		}
		return Success, false
	case "cuStreamDestroy_v2":
		w.mu.Lock()
		w.streams--
		w.mu.Unlock()
	case "cuStreamQuery":
		return NotReady, !w.of(a[0]).ended()
	case "cuEventQuery":
		return NotReady, !w.mark(a[0]).ended()
	case "cuEventSynchronize":
		w.mark(a[0]).wait()
		return Success, false
	case "cuStreamWaitEvent":
		w.mark(a[1]).wait()
		return Success, false
	case "cuEventRecord":
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.marks == nil {
			w.marks = make(map[uintptr]*running)
		}
		w.marks[a[0]] = w.last[a[1]]
		return Success, false
	}
	if waitsForAll[name] && !(name == "cuKernelGetFunction" && l.entered(a[1])) {
		w.idle()
	}
	if i, ok := streamArgument[name]; ok {
		code := w.of(a[i]).wait()
		return code, code != Success
	}
	return Success, false
}

// of returns the last launch of a stream, or nil.
func (w *works) of(stream uintptr) *running {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[stream]
}

func (w *works) mark(event uintptr) *running {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.marks[event]
}

func (w *works) all() (list []*running) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, each := range w.last {
		list = append(list, each)
	}
	return list
}

// idle waits until no kernel runs.
func (w *works) idle() {
	for _, each := range w.all() {
		each.wait()
	}
}

// busy reports whether a kernel is running.
func (w *works) busy() bool {
	return slices.ContainsFunc(w.all(), func(each *running) bool { return !each.ended() })
}

// begin starts a launch.
func (l *Library) begin(a []uintptr) int {
	l.mu.Lock()
	f, ok := object[function](l, a[0])
	_, ok2 := object[stream](l, a[8])
	if f.late {
		l.objects[a[0]] = function{name: f.name, Module: f.Module}
	}
	l.mu.Unlock()
	if !ok || !ok2 {
		return InvalidHandle
	}
	if f.late {
		l.works.idle()
	}
	config := ptxvm.Config{
		Grid:          [3]int{int(a[1]), int(a[2]), int(a[3])},
		Block:         [3]int{int(a[4]), int(a[5]), int(a[6])},
		DynamicShared: int(a[7]),
		Memory:        ptxvm.NewDirectMemory(),
		Workers:       l.Blocks,
	}
	for i, p := range f.Entry(f.name).Params {
		at := *at[uintptr](a[9] + 8*uintptr(i))
		config.Params = append(config.Params, append([]byte(nil), bytes(at, uintptr(p.Size))...))
	}
	next := &running{done: make(chan struct{})}
	l.works.mu.Lock()
	if l.works.last == nil {
		l.works.last = make(map[uintptr]*running)
		l.works.killed, l.works.kill = context.WithCancel(context.Background())
	}
	before := l.works.last[a[8]]
	l.works.last[a[8]] = next
	killed := l.works.killed
	l.works.mu.Unlock()
	go func() {
		defer close(next.done)
		if next.code = before.wait(); next.code == Success && f.Launch(killed, f.name, config) != nil {
			next.code = IllegalAddress
		}
	}()
	return Success
}

// Kill ends the running launches, as the end of the process does on a GPU.
func (l *Library) Kill() {
	l.works.mu.Lock()
	kill := l.works.kill
	l.works.mu.Unlock()
	if kill != nil {
		kill()
	}
}
