package main

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// emptyPTX is a kernel with four parameters that does nothing.
const emptyPTX = `.version 6.0
.target sm_50
.address_size 64
.visible .entry empty(.param .f32 a, .param .u64 n, .param .u64 x, .param .u64 y)
{
	ret;
}
` + "\x00"

// driverCalls are the functions of libcuda that a bare launch needs.
type driverCalls struct {
	init, retain, setCurrent, loadData, getFunction uintptr
	streamCreate, streamDestroy, streamSynchronize  uintptr
	launchKernel, unload, release                   uintptr
}

func openDriver() (*driverCalls, error) {
	lib, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW)
	if err != nil {
		return nil, err
	}
	var d driverCalls
	for name, f := range map[string]*uintptr{
		"cuInit":                       &d.init,
		"cuDevicePrimaryCtxRetain":     &d.retain,
		"cuDevicePrimaryCtxRelease_v2": &d.release,
		"cuCtxSetCurrent":              &d.setCurrent,
		"cuModuleLoadData":             &d.loadData,
		"cuModuleUnload":               &d.unload,
		"cuModuleGetFunction":          &d.getFunction,
		"cuStreamCreate":               &d.streamCreate,
		"cuStreamDestroy_v2":           &d.streamDestroy,
		"cuStreamSynchronize":          &d.streamSynchronize,
		"cuLaunchKernel":               &d.launchKernel,
	} {
		if *f, err = purego.Dlsym(lib, name); err != nil {
			return nil, err
		}
	}
	return &d, nil
}

// call calls a function of the driver and returns its error code as an error.
func call(function uintptr, args ...uintptr) error {
	if code, _, _ := purego.SyscallN(function, args...); int32(code) != 0 {
		return fmt.Errorf("the driver returned error %d", int32(code))
	}
	return nil
}

// newBareLauncher calls cuLaunchKernel with nothing in between: the thread is
// locked and its context current once and for all, the arguments are laid out
// once, and the call's slice is reused.
func newBareLauncher() (launcher, error) {
	d, err := openDriver()
	if err != nil {
		return launcher{}, err
	}
	runtime.LockOSThread()
	var context, module, function, stream uintptr
	ptx := []byte(emptyPTX)
	name := append([]byte("empty"), 0)
	pins := new(runtime.Pinner)
	at := func(p *uintptr) uintptr {
		pins.Pin(p)
		return uintptr(unsafe.Pointer(p))
	}
	bytes := func(b []byte) uintptr {
		pins.Pin(&b[0])
		return uintptr(unsafe.Pointer(&b[0]))
	}
	for _, step := range []struct {
		function uintptr
		args     func() []uintptr
	}{
		{d.init, func() []uintptr { return []uintptr{0} }},
		{d.retain, func() []uintptr { return []uintptr{at(&context), 0} }},
		{d.setCurrent, func() []uintptr { return []uintptr{context} }},
		{d.loadData, func() []uintptr { return []uintptr{at(&module), bytes(ptx)} }},
		{d.getFunction, func() []uintptr { return []uintptr{at(&function), module, bytes(name)} }},
		{d.streamCreate, func() []uintptr { return []uintptr{at(&stream), 1} }}, // non-blocking
	} {
		if err := call(step.function, step.args()...); err != nil {
			pins.Unpin()
			runtime.UnlockOSThread()
			return launcher{}, err
		}
	}

	values := new([4]uint64)
	pointers := new([4]unsafe.Pointer)
	for i := range values {
		pins.Pin(&values[i])
		pointers[i] = unsafe.Pointer(&values[i])
	}
	pins.Pin(pointers)
	args := []uintptr{
		function,
		1, 1, 1, 32, 1, 1, // grid and block
		0, stream,
		uintptr(unsafe.Pointer(pointers)), 0,
	}
	return launcher{
		submit: func() error { return call(d.launchKernel, args...) },
		wait:   func() error { return call(d.streamSynchronize, stream) },
		close: func() {
			call(d.streamDestroy, stream)
			call(d.unload, module)
			call(d.release, 0)
			pins.Unpin()
			runtime.UnlockOSThread()
		},
	}, nil
}
