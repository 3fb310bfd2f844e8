package cuda

import (
	"errors"
	"slices"
	"sync"

	"quern.dev/internal/driver"
)

// cuFuncLoad loads a kernel that would otherwise be loaded at its first launch.
var cuFuncLoad = optional("cuFuncLoad")

// waitsForAll lists the functions that wait until no kernel runs in the context
// (measured with driver 580 on an H200; its test measures again).
var waitsForAll = map[symbol]driver.Operation{
	cuMemFree: driver.FreeMemory, cuMemFreeHost: driver.FreeMemory, cuMemHostUnregister: driver.FreeMemory,
	cuArrayDestroy:     driver.FreeMemory,
	cuModuleLoadDataEx: driver.LoadModule, cuKernelGetFunction: driver.LoadModule,
	cuModuleUnload: driver.UnloadModule, cuLibraryUnload: driver.UnloadModule,
	cuIpcCloseMemHandle: driver.MapPeer, cuCtxEnablePeerAccess: driver.MapPeer,
}

// waits reports whether a function must be called while no persistent kernel runs, and
// for which operation.
func (d *device) waits(s symbol) (driver.Operation, bool) {
	if !d.HasPersistent() {
		return "", false
	}
	op, waits := waitsForAll[s]
	return op, waits
}

// postponed holds releasing calls that wait for persistent kernels that do not end.
type postponed struct {
	mu    sync.Mutex
	calls []func() error
}

// apart calls a function while no persistent kernel runs. If a kernel does not end, a
// releasing call is postponed.
func (d *device) apart(op driver.Operation, s symbol, args []uintptr) error {
	list := slices.Clone(args) // a copy, so that the args of other calls stay on the stack
	call := func() error { return d.api.check(d.within(s, list...)) }
	called := false
	err := d.Apart(op, func() error {
		called = true
		return errors.Join(d.catchUp(), call())
	})
	if releases := s != cuModuleLoadDataEx && s != cuKernelGetFunction && s != cuCtxEnablePeerAccess; releases && !called {
		d.postponed.mu.Lock()
		defer d.postponed.mu.Unlock()
		d.postponed.calls = append(d.postponed.calls, call)
	}
	return err
}

// catchUp makes the postponed calls.
func (d *device) catchUp() error {
	d.postponed.mu.Lock()
	defer d.postponed.mu.Unlock()
	var errs []error
	for _, call := range d.postponed.calls {
		errs = append(errs, call())
	}
	d.postponed.calls = nil
	return errors.Join(errs...)
}

// cuCtxSetLimit with limitStack (CU_LIMIT_STACK_SIZE) reserves the local memory of all
// threads.
var cuCtxSetLimit = optional("cuCtxSetLimit")

const limitStack = 0

// defaultLocal is the local memory per thread that each context reserves by default.
const defaultLocal = 1 << 10

// local is the local memory per thread in bytes: the maximum over the loaded kernels,
// and what the context has reserved.
type local struct {
	mu         sync.Mutex
	need, room int
}

// needLocal records what a kernel needs. The driver reserves memory when it launches a
// kernel that needs more than any kernel before, and first waits for all others to end.
// While there are persistent kernels, needLocal reserves it in advance.
func (d *device) needLocal(size int) error {
	d.local.mu.Lock()
	defer d.local.mu.Unlock()
	l := &d.local
	l.need = max(l.need, size)
	if l.need <= max(l.room, defaultLocal) || !d.HasPersistent() || !d.api.has(cuCtxSetLimit) {
		return nil
	}
	err := d.Apart(driver.LoadModule, func() error { return d.handles(cuCtxSetLimit, limitStack, uintptr(l.need)) })
	if err == nil {
		l.room = l.need
	}
	return err
}

// AddPersistent also reserves local memory for kernels that have not been launched yet,
// and creates spare streams.
func (d *device) AddPersistent(r driver.Persistent) {
	_ = d.spareSome() // on error, NewStream reports it
	d.mu.Lock()
	d.persistent = append(d.persistent, r)
	d.mu.Unlock()
	d.common.AddPersistent(r)
	_ = d.needLocal(0) // on error, a launch reports it
}

// RemovePersistent undoes AddPersistent.
func (d *device) RemovePersistent(r driver.Persistent) {
	d.mu.Lock()
	d.persistent = slices.DeleteFunc(d.persistent, func(other driver.Persistent) bool { return other == r })
	d.mu.Unlock()
	d.common.RemovePersistent(r)
}

// EndPersistent ends the persistent kernels of this device; those of other open devices
// for the GPU continue.
func (d *device) EndPersistent() error {
	d.mu.Lock()
	list := slices.Clone(d.persistent)
	d.mu.Unlock()
	return d.End(list)
}
