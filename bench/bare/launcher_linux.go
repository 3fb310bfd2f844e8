package bare

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Launcher launches an empty kernel. It sets the context and lays out the arguments once,
// and reuses the slice of the call.
type Launcher struct {
	driver         *Driver
	launch         uintptr
	args           []uintptr
	module, stream uintptr
	release        func()
	pins           runtime.Pinner
}

// NewLauncher returns a launcher of a kernel whose parameters have the given sizes in
// bytes. The calling goroutine stays locked to its thread until Close.
func NewLauncher(sizes ...int) (_ *Launcher, err error) {
	d, err := Open()
	if err != nil {
		return nil, err
	}
	l := &Launcher{driver: d}
	if l.release, err = d.Context(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.launch, err = d.function("cuLaunchKernel"); err != nil {
		return nil, err
	}
	var function uintptr
	if l.module, function, err = d.Load(emptyKernel(sizes), "empty"); err != nil {
		return nil, err
	}
	stream := new(uintptr)
	l.pins.Pin(stream)
	if err := d.Call("cuStreamCreate", uintptr(unsafe.Pointer(stream)), 1); err != nil { // non-blocking
		return nil, err
	}
	l.stream = *stream
	params := make([]unsafe.Pointer, len(sizes)+1)
	for i, size := range sizes {
		value := make([]uint64, (size+7)/8+1)
		l.pins.Pin(&value[0])
		params[i] = unsafe.Pointer(&value[0])
	}
	l.pins.Pin(&params[0])
	l.args = []uintptr{
		function,
		1, 1, 1, 32, 1, 1, // grid and block
		0, l.stream,
		uintptr(unsafe.Pointer(&params[0])), 0,
	}
	return l, nil
}

// emptyKernel returns the PTX of a kernel without statements.
func emptyKernel(sizes []int) string {
	var params []string
	for i, size := range sizes {
		params = append(params, fmt.Sprintf(".param .align 8 .b8 p%d[%d]", i, size))
	}
	return fmt.Sprintf(".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry empty(%s)\n{\n\tret;\n}\n", strings.Join(params, ", "))
}

// Submit calls cuLaunchKernel once.
func (l *Launcher) Submit() error { return call(l.launch, "cuLaunchKernel", l.args) }

// Wait waits for the launches to finish.
func (l *Launcher) Wait() error { return l.driver.Call("cuStreamSynchronize", l.stream) }

// Close releases the resources of the launcher.
func (l *Launcher) Close() {
	if l.stream != 0 {
		l.driver.Call("cuStreamDestroy_v2", l.stream)
	}
	if l.module != 0 {
		l.driver.Call("cuModuleUnload", l.module)
	}
	l.release()
	l.pins.Unpin()
}
