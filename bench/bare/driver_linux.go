package bare

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Driver is the opened driver library.
type Driver struct {
	lib       uintptr
	mu        sync.Mutex
	functions map[string]uintptr
}

// Open opens the driver library.
func Open() (*Driver, error) {
	lib, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW)
	if err != nil {
		return nil, err
	}
	return &Driver{lib: lib, functions: map[string]uintptr{}}, nil
}

// Call calls a driver function. Arguments that are addresses of Go memory must be pinned
// or on the heap during the call.
func (d *Driver) Call(name string, args ...uintptr) error {
	f, err := d.function(name)
	if err != nil {
		return err
	}
	return call(f, name, args)
}

// Lookup returns the address of a function, or 0 if there is no function with that name.
func (d *Driver) Lookup(name string) uintptr {
	f, err := d.function(name)
	if err != nil {
		return 0
	}
	return f
}

// CallAt calls the function at an address and returns its result.
func (d *Driver) CallAt(function uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}

func (d *Driver) function(name string) (uintptr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.functions[name]; f != 0 {
		return f, nil
	}
	f, err := purego.Dlsym(d.lib, name)
	d.functions[name] = f
	return f, err
}

func call(f uintptr, name string, args []uintptr) error {
	if code, _, _ := purego.SyscallN(f, args...); int32(code) != 0 {
		return fmt.Errorf("%s returned error %d", name, int32(code))
	}
	return nil
}

// Context makes the primary context of the first GPU current on the calling thread. The
// goroutine stays locked to the thread until it calls release.
func (d *Driver) Context() (release func(), err error) {
	runtime.LockOSThread()
	context := new(uintptr)
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(context)
	if err = d.Call("cuInit", 0); err == nil {
		err = d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(context)), 0)
	}
	if err == nil {
		err = d.Call("cuCtxSetCurrent", *context)
	}
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return func() {
		d.Call("cuDevicePrimaryCtxRelease_v2", 0)
		runtime.UnlockOSThread()
	}, nil
}

// Load loads a module of PTX or machine code and returns the kernel in it.
func (d *Driver) Load(code, kernel string) (module, function uintptr, err error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	handles := new([2]uintptr)
	text, name := append([]byte(code), 0), append([]byte(kernel), 0)
	pins.Pin(handles)
	pins.Pin(&text[0])
	pins.Pin(&name[0])
	if err := d.Call("cuModuleLoadData", uintptr(unsafe.Pointer(&handles[0])), uintptr(unsafe.Pointer(&text[0]))); err != nil {
		return 0, 0, err
	}
	err = d.Call("cuModuleGetFunction", uintptr(unsafe.Pointer(&handles[1])), handles[0], uintptr(unsafe.Pointer(&name[0])))
	return handles[0], handles[1], err
}
