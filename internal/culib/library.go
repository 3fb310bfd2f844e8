package culib

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// Library is an open shared library, or a substitute for tests.
type Library interface {
	// Lookup returns the address of a function, or 0 if there is no function of that name.
	Lookup(name string) uintptr
	// Call calls the function at an address. It does not retain args.
	Call(function uintptr, args []uintptr) uintptr
}

// Variable is the environment variable that lists folders to search first.
const Variable = "QUERN_CUDALIB"

// ErrMissing is matched by errors of libraries that are not installed, or too old.
var ErrMissing = errors.New("library not available")

// release is a file of a library and the CUDA version that it came with.
type release struct {
	cuda int
	file string
}

// description says how a library is found and called.
type description struct {
	releases   []release // newest first
	part       string    // of the names of its functions: "cublasLt"
	minimum    [2]int    // version that came with CUDA 12.0
	wheel      string    // Python package that contains it
	pip        string    // folder of that package below nvidia
	functions  []string
	statuses   map[int]string
	noMemory   []int // codes
	impossible []int // codes of what the library does not support
}

var descriptions = [engine.Libraries]description{
	engine.BLAS: {
		releases: []release{{13, "libcublasLt.so.13"}, {12, "libcublasLt.so.12"}},
		part:     "cublasLt", minimum: [2]int{12, 0}, wheel: "nvidia-cublas", pip: "cublas",
		functions: blasFunctions[:],
		statuses: map[int]string{1: "not initialized", 3: "out of memory", 7: "invalid value", 8: "the GPU lacks a feature", 11: "memory access failed",
			13: "the GPU failed", 14: "internal error", 15: "not supported"},
		noMemory: []int{3}, impossible: []int{7, 8, 15},
	},
	engine.FFT: {
		releases: []release{{13, "libcufft.so.12"}, {12, "libcufft.so.11"}},
		part:     "cufft", minimum: [2]int{11, 0}, wheel: "nvidia-cufft", pip: "cufft",
		functions: fftFunctions[:],
		statuses: map[int]string{1: "invalid plan", 2: "out of memory", 3: "invalid type", 4: "invalid value", 5: "internal error", 6: "execution failed",
			7: "setup failed", 8: "invalid size", 9: "unaligned data", 11: "invalid device", 14: "not implemented", 16: "not supported"},
		noMemory: []int{2}, impossible: []int{3, 4, 8, 9, 14, 16},
	},
	engine.Sparse: {
		releases: []release{{13, "libcusparse.so.12"}, {12, "libcusparse.so.12"}},
		part:     "cusparse", minimum: [2]int{12, 0}, wheel: "nvidia-cusparse", pip: "cusparse",
		functions: sparseFunctions[:],
		statuses: map[int]string{1: "not initialized", 2: "out of memory", 3: "invalid value", 4: "the GPU lacks a feature", 6: "the GPU failed",
			7: "internal error", 8: "matrix type not supported", 10: "not supported", 11: "insufficient resources"},
		noMemory: []int{2, 11}, impossible: []int{4, 8, 10},
	},
}

// Info describes a library.
type Info struct {
	Name    string // "cuBLASLt"
	Path    string // as it was opened, or ""
	Version string // "13.1.0", or ""
	Err     error  // why it cannot be used
}

// library is an open library with the addresses of its functions.
type library struct {
	kind engine.Library
	*description
	lib     Library
	addr    []uintptr // by number of the function
	path    string
	numbers [3]int32 // major, minor, patch, as the library numbers them
	version string
	label   string // with the name
}

// found is the result of opening a library.
type found struct {
	lib *library
	err error
}

// opened holds the libraries, by the CUDA version of the driver.
var opened struct {
	mu    sync.Mutex
	libs  [engine.Libraries]map[int]found
	fresh func(k engine.Library, cuda int) (Library, string, error) // opens the file
}

func init() { opened.fresh = openFile }

// Substitute replaces the libraries by those that open returns, until restore is called.
func Substitute(open func(l engine.Library) (Library, error)) (restore func()) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	libs, fresh := opened.libs, opened.fresh
	opened.libs = [engine.Libraries]map[int]found{}
	opened.fresh = func(k engine.Library, cuda int) (Library, string, error) {
		lib, err := open(k)
		return lib, "substitute", err
	}
	return func() {
		opened.mu.Lock()
		defer opened.mu.Unlock()
		opened.libs, opened.fresh = libs, fresh
	}
}

// open returns a library for a driver that supports the given major version of CUDA.
func open(k engine.Library, cuda int) (*library, error) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if f, ok := opened.libs[k][cuda]; ok {
		return f.lib, f.err
	}
	lib, path, err := opened.fresh(k, cuda)
	var l *library
	if err == nil {
		l, err = newLibrary(k, lib, path)
	} else {
		err = missing(k, "%v", err)
	}
	if opened.libs[k] == nil {
		opened.libs[k] = make(map[int]found)
	}
	opened.libs[k][cuda] = found{l, err}
	return l, err
}

// missing returns the error for a library that cannot be used.
func missing(k engine.Library, format string, args ...any) error {
	return &engine.Error{
		Library: k.String(), Reason: fmt.Sprintf(format, args...), Err: ErrMissing,
		Advice: fmt.Sprintf("install CUDA 12.0 or later, or the Python package %s, and list its folder in %s", descriptions[k].wheel, Variable),
	}
}

// newLibrary looks up the functions and checks the version.
func newLibrary(k engine.Library, lib Library, path string) (*library, error) {
	d := &descriptions[k]
	l := &library{kind: k, description: d, lib: lib, path: path}
	property := lib.Lookup(d.part + "GetProperty")
	if property == 0 {
		return nil, missing(k, "%s has no function %sGetProperty", path, d.part)
	}
	version := &l.numbers
	for i := range version {
		if code := l.raw(property, uintptr(i), uintptr(unsafe.Pointer(&version[i]))); code != 0 {
			return nil, missing(k, "%s: %sGetProperty: %s", path, d.part, d.status(code))
		}
	}
	l.version = fmt.Sprintf("%d.%d.%d", version[0], version[1], version[2])
	l.label = k.String() + " " + l.version
	if major, minor := int(version[0]), int(version[1]); major < d.minimum[0] || major == d.minimum[0] && minor < d.minimum[1] {
		return nil, missing(k, "%s is version %s, needed is %d.%d or later", path, l.version, d.minimum[0], d.minimum[1])
	}
	for _, name := range d.functions {
		at := lib.Lookup(name)
		if at == 0 {
			return nil, missing(k, "%s, version %s, has no function %s", path, l.version, name)
		}
		l.addr = append(l.addr, at)
	}
	return l, nil
}

func (d *description) status(code int) string {
	if text, ok := d.statuses[code]; ok {
		return text
	}
	return "unknown error"
}

// maxArgs is the largest number of arguments: cublasLtMatmul's.
const maxArgs = 16

var argPool = sync.Pool{New: func() any { return new([maxArgs]uintptr) }}

// call calls a function by its number. An argument that is a pointer to Go memory is converted
// to uintptr in the list of arguments: the directive moves what it points to to the heap, and
// keeps it alive.
//
//go:uintptrescapes
func (l *library) call(function int, args ...uintptr) error { return l.enqueue(function, args...) }

// enqueue is call without allocations. Pointers to Go memory must point to the heap, and the
// caller keeps that memory alive.
func (l *library) enqueue(function int, args ...uintptr) error {
	if code := l.raw(l.addr[function], args...); code != 0 {
		return l.failed(function, code)
	}
	return nil
}

// raw calls the function at an address and returns its result code. Its arguments are those of
// enqueue.
func (l *library) raw(at uintptr, args ...uintptr) int {
	buf := argPool.Get().(*[maxArgs]uintptr)
	defer argPool.Put(buf)
	return int(int32(l.lib.Call(at, buf[:copy(buf[:], args)])))
}

func (l *library) failed(function, code int) error {
	err := &engine.Error{Library: l.kind.String(), Function: l.functions[function], Code: code, Reason: l.status(code)}
	for _, c := range l.noMemory {
		if c == code {
			err.Err, err.Advice = gpu.ErrOutOfMemory, "free memory, or trim the device's pool"
		}
	}
	for _, c := range l.impossible {
		if c == code {
			err.Err, err.Advice = errors.ErrUnsupported, "use engine Auto or Quern"
		}
	}
	return err
}

// unsupported returns the error for what a library cannot compute.
func unsupported(k engine.Library, op, reason string) error {
	return &engine.Error{Library: k.String(), Op: op, Reason: reason, Advice: "use engine Auto or Quern", Err: errors.ErrUnsupported}
}

// own returns the error of this package in err without what package gpu adds to it, and names
// the operation.
func own(op string, err error) error {
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return err
	}
	if e.Op == "" {
		c := *e
		c.Op = op
		return &c
	}
	return e
}

// cudaMajor returns the major version of CUDA that the driver of a device supports.
func cudaMajor(d *gpu.Device) int {
	major := 0
	text, _, _ := strings.Cut(d.DriverVersion(), ".")
	fmt.Sscan(text, &major)
	return major
}
