package cuda

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"quern.dev/internal/driver"
)

// Result codes of the driver (CUresult) that the package handles.
const (
	success           = 0
	errOutOfMemory    = 2
	errNoDevice       = 100
	errInvalidContext = 201
	errInvalidHandle  = 400
	errNotReady       = 600
)

// maxArgs is the largest number of arguments of a function in the table.
const maxArgs = 14

var argPool = sync.Pool{New: func() any { return new([maxArgs]uintptr) }}

// errNotFound is the result code of calling a function that the driver does not have.
const errNotFound = 500

// raw calls a function and returns its result code, or errNotFound if the driver does
// not have the function. It does not allocate. Pointers to Go memory in args must point
// to the heap, and the caller must keep them alive; otherwise use call.
func (a *api) raw(s symbol, args ...uintptr) uintptr {
	if a.addr[s] == 0 {
		return errNotFound
	}
	buf := argPool.Get().(*[maxArgs]uintptr)
	n := copy(buf[:], args)
	r := a.lib.Call(a.addr[s], buf[:n])
	argPool.Put(buf)
	return r
}

// call calls a function that needs no current context.
//
// A pointer to Go memory is converted to uintptr in the argument list. The directive,
// here and on the method of device, moves what it points to to the heap, where it does
// not move, and keeps it alive for the call.
//
//go:uintptrescapes
func (a *api) call(s symbol, args ...uintptr) error {
	return a.check(s, a.raw(s, args...))
}

// check converts a result code to an error.
func (a *api) check(s symbol, r uintptr) error {
	code := int(int32(r))
	if code == success {
		return nil
	}
	name, _, _ := strings.Cut(s.name(), "_")
	err := &driver.Error{Op: name, Code: code, Name: a.text(cuGetErrorName, code), Text: a.text(cuGetErrorString, code)}
	if !a.has(s) {
		err.Name, err.Text = "not found", "the driver is too old to have this function"
	}
	switch code {
	case errOutOfMemory:
		err.Err = driver.ErrOutOfMemory
	case errNoDevice:
		err.Err = driver.ErrNoDevice
	default:
		if lost(code) {
			err.Err = driver.ErrDeviceLost
		}
	}
	return err
}

// text returns the driver's text for a result code.
func (a *api) text(s symbol, code int) string {
	p := new(cString)
	pins := new(runtime.Pinner)
	defer pins.Unpin()
	pins.Pin(p)
	if a.addr[s] == 0 || a.raw(s, uintptr(code), uintptr(unsafe.Pointer(p))) != success || p.first == nil {
		return "unknown"
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p.first), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p.first, n))
}

// cString is a pointer to a zero-terminated string of the driver.
type cString struct{ first *byte }

// within calls a function, like raw, with the device's context current on this thread,
// and leaves it current. It returns the last function called and its result code.
func (d *device) within(s symbol, args ...uintptr) (symbol, uintptr) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := d.api.raw(cuCtxSetCurrent, d.context); r != success {
		return cuCtxSetCurrent, r
	}
	return s, d.api.raw(s, args...)
}

// handles calls a function whose arguments are handles and numbers.
func (d *device) handles(s symbol, args ...uintptr) error {
	if op, waits := d.waits(s); waits {
		return d.apart(op, s, args)
	}
	return d.api.check(d.within(s, args...))
}

// call calls a function in the context of the device. Arguments may be pointers to Go
// memory.
//
//go:uintptrescapes
func (d *device) call(s symbol, args ...uintptr) error {
	if op, waits := d.waits(s); waits {
		return d.apart(op, s, args)
	}
	return d.api.check(d.within(s, args...))
}
