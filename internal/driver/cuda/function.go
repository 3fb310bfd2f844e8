package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"quern.dev/internal/driver"
)

// Attributes of functions (CUfunction_attribute).
const (
	functionMaxThreads       = 0
	functionShared           = 1
	functionLocal            = 3
	functionRegisters        = 4
	functionMaxDynamicShared = 8
)

// Options of the driver's compiler (CUjit_option).
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitLines        = 13 // CU_JIT_GENERATE_LINE_INFO
)

// function is a kernel in its own module or library.
type function struct {
	dev     *device
	module  uintptr // CUmodule, or
	library uintptr // CUlibrary
	handle  uintptr // CUfunction
	props   driver.Properties
	placed  int // bytes of shared variables in dynamic shared memory
	prints  bool

	cooperative bool

	// allowed is set once the kernel may use all shared memory of the device instead of
	// the default maximum.
	allowed atomic.Bool
}

// Load compiles the kernel's PTX for the GPU. The driver caches the result on disk.
func (d *device) Load(k *driver.Kernel) (driver.Function, error) {
	f := &function{dev: d, placed: k.Placed, prints: k.Prints, cooperative: k.Cooperative}
	err := f.load(k)
	if err == nil {
		err = f.inspect()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// compileWithLines compiles zero-terminated PTX, and tells the sampler.
func (d *device) compileWithLines(k *driver.Kernel, ptx []byte) ([]byte, error) {
	code, err := d.compile(ptx, true)
	if err == nil {
		err = d.samples.Code(k.Label, k.PTX, code)
	}
	return code, err
}

// load loads the module and finds the kernel in it.
func (f *function) load(k *driver.Kernel) error {
	text, name := append([]byte(k.PTX), 0), append([]byte(k.Name), 0)
	if f.dev.samples != nil {
		if code, err := f.dev.compileWithLines(k, text); err == nil {
			text = code
		} // else its lines stay unknown, or the error comes again below
	}
	if f.dev.HasPersistent() {
		if err := f.loadBeside(text, name); err == nil {
			return nil
		}
		// Fall through: the linker cannot load it, or its error says no more than loadModule's.
	}
	return f.dev.Apart(driver.LoadModule, func() error {
		if err := f.loadModule(text); err != nil {
			return err
		}
		return f.dev.call(cuModuleGetFunction, uintptr(unsafe.Pointer(&f.handle)), f.module, uintptr(unsafe.Pointer(unsafe.SliceData(name))))
	})
}

// jit holds the arguments of cuModuleLoadDataEx.
type jit struct {
	ptx     []byte
	log     [8 << 10]byte
	options [2]int32
	values  [2]uintptr
}

// loadModule loads zero-terminated PTX, or machine code, while no persistent kernels run.
func (f *function) loadModule(ptx []byte) error {
	j := &jit{ptx: ptx}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(j)
	j.options = [...]int32{jitErrorLog, jitErrorLogSize}
	j.values = [...]uintptr{uintptr(unsafe.Pointer(&j.log)), uintptr(len(j.log))}
	pins.Pin(f)
	pins.Pin(unsafe.SliceData(ptx))
	err := f.dev.api.check(f.dev.within(cuModuleLoadDataEx,
		uintptr(unsafe.Pointer(&f.module)), uintptr(unsafe.Pointer(unsafe.SliceData(j.ptx))),
		uintptr(len(j.options)), uintptr(unsafe.Pointer(&j.options)), uintptr(unsafe.Pointer(&j.values))))
	if log := strings.TrimSpace(text(j.log[:])); err != nil && log != "" {
		return fmt.Errorf("%w\n%s", err, log)
	}
	return err
}

// inspect loads the kernel and queries the resources that it uses.
func (f *function) inspect() error {
	if f.dev.api.has(cuFuncLoad) {
		_ = f.dev.handles(cuFuncLoad, f.handle) // a kernel that cannot be loaded now is loaded, or fails, at its first launch
	}
	for _, q := range []struct {
		attribute int
		to        *int
	}{
		{functionMaxThreads, &f.props.MaxThreads},
		{functionRegisters, &f.props.Registers},
		{functionShared, &f.props.Shared},
		{functionLocal, &f.props.Local},
	} {
		var v int32
		if err := f.dev.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(q.attribute), f.handle); err != nil {
			return err
		}
		*q.to = int(v)
	}
	return errors.Join(f.dev.needLocal(f.props.Local), f.allowShared(f.placed))
}

func (f *function) Properties() driver.Properties { return f.props }

func (f *function) Close() error {
	switch {
	case f.library != 0:
		return f.dev.handles(cuLibraryUnload, f.library)
	case f.module != 0:
		return f.dev.handles(cuModuleUnload, f.module)
	default:
		return nil
	}
}

// allowShared raises the limit of dynamic shared memory if a launch needs it.
func (f *function) allowShared(bytes int) error {
	if f.props.Shared+bytes <= driver.MaxStaticShared || f.allowed.Load() {
		return nil
	}
	// Allow all of it: launches with different sizes may run concurrently.
	most := f.dev.info.Limits.SharedPerBlock - f.props.Shared
	if bytes > most {
		return &driver.Error{Op: "load", Name: "too much shared memory",
			Text: fmt.Sprintf("the kernel needs %d bytes, the device allows %d", f.props.Shared+bytes, most+f.props.Shared)}
	}
	if err := f.dev.handles(cuFuncSetAttribute, f.handle, functionMaxDynamicShared, uintptr(most)); err != nil {
		return err
	}
	f.allowed.Store(true)
	return nil
}
