package cuda

import (
	"errors"
	"slices"
	"sync"

	"quern.dev/internal/driver"
)

// cuFuncLoad loads a kernel that drivers otherwise load when it is first launched.
var cuFuncLoad = optional("cuFuncLoad")

// waitsForAll are the functions that wait until no kernel runs in the context
// (measured with driver 580 on an H200; the test of them asks the driver again).
var waitsForAll = map[symbol]driver.Operation{
	cuMemFree: driver.FreeMemory, cuMemFreeHost: driver.FreeMemory, cuMemHostUnregister: driver.FreeMemory,
	cuArrayDestroy:     driver.FreeMemory,
	cuModuleLoadDataEx: driver.LoadModule, cuKernelGetFunction: driver.LoadModule,
	cuModuleUnload: driver.UnloadModule, cuLibraryUnload: driver.UnloadModule,
	cuIpcCloseMemHandle: driver.MapPeer, cuCtxEnablePeerAccess: driver.MapPeer,
}

// waits reports whether a function is to be called while no persistent kernel
// runs, and for what.
func (d *device) waits(s symbol) (driver.Operation, bool) {
	if !d.HasPersistent() {
		return "", false
	}
	op, waits := waitsForAll[s]
	return op, waits
}

// postponed are calls that release something, which wait for persistent kernels that do not
// end.
type postponed struct {
	mu    sync.Mutex
	calls []func() error
}

// apart calls a function while no persistent kernel runs. If one does not end, what the function releases is released later.
func (d *device) apart(op driver.Operation, s symbol, args []uintptr) error {
	list := slices.Clone(args) // so that those of other calls stay on the stack
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

// catchUp makes the calls that were postponed.
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

// cuCtxSetLimit, with limitStack (CU_LIMIT_STACK_SIZE), makes room for the local
// memory of all threads.
var cuCtxSetLimit = optional("cuCtxSetLimit")

const limitStack = 0

// defaultLocal is the local memory of a thread that each context has room for.
const defaultLocal = 1 << 10

// local is the local memory of a thread, in bytes: the most that a loaded kernel
// needs, and what the context has room for.
type local struct {
	mu         sync.Mutex
	need, room int
}

// needLocal notes what a kernel needs. The driver makes room when it launches a
// kernel that needs more than any before, and waits for all others to end first:
// where there are persistent kernels, room is made before.
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

// AddPersistent makes room for the local memory of kernels that have not been
// launched yet, and for streams, too.
func (d *device) AddPersistent(r driver.Persistent) {
	_ = d.spareSome() // if there are none, NewStream says why
	d.mu.Lock()
	d.persistent = append(d.persistent, r)
	d.mu.Unlock()
	d.common.AddPersistent(r)
	_ = d.needLocal(0) // without room, a launch says so
}

// RemovePersistent ends what AddPersistent began.
func (d *device) RemovePersistent(r driver.Persistent) {
	d.mu.Lock()
	d.persistent = slices.DeleteFunc(d.persistent, func(other driver.Persistent) bool { return other == r })
	d.mu.Unlock()
	d.common.RemovePersistent(r)
}

// EndPersistent ends those of this device; those of others that are open for the GPU
// go on.
func (d *device) EndPersistent() error {
	d.mu.Lock()
	list := slices.Clone(d.persistent)
	d.mu.Unlock()
	return d.End(list)
}
