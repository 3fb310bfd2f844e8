// Package fakeculib replaces cuBLASLt, cuFFT and cuSPARSE in tests. Together with package
// fakecuda, whose devices use memory of the process, it runs the whole path to the libraries on
// machines without a GPU.
//
// A [Set] computes in float64, without caring for speed. It checks handles, descriptors and
// arguments as strictly as the real libraries do, lists the calls that compute with all their
// arguments, and knows what was not destroyed.
package fakeculib

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"quern.dev/internal/culib"
	"quern.dev/internal/engine"
)

// Set is the three libraries. Set its exported fields before using it.
type Set struct {
	Versions [engine.Libraries][3]int32 // major, minor, patch
	Missing  map[string]bool            // libraries and functions that are not there
	Memory   int                        // temporary memory that operations ask for, in bytes
	Idle     bool                       // calls that compute do nothing

	mu      sync.Mutex
	calls   []string
	fail    map[string]int
	objects map[uintptr]any
	next    uintptr
	names   []string // of functions, by address less one
}

// New returns the libraries of CUDA 13.0.
func New() *Set {
	s := &Set{
		Versions: [engine.Libraries][3]int32{{13, 1, 0}, {12, 0, 0}, {12, 6, 3}},
		Missing:  make(map[string]bool), Memory: 1024,
		fail: make(map[string]int), objects: make(map[uintptr]any), next: 0x100,
	}
	for name := range functions {
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	return s
}

// Open returns a library, for culib.Substitute.
func (s *Set) Open(l engine.Library) (culib.Library, error) {
	if s.Missing[l.String()] {
		return nil, errors.New("no file")
	}
	return (*library)(s), nil
}

// Fail makes the next call of a function return the code.
func (s *Set) Fail(function string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail[function] = code
}

// Calls returns the calls that computed since the last Calls, with their arguments.
func (s *Set) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.calls
	s.calls = nil
	return list
}

// Left describes the handles that were not destroyed, "" if there are none.
func (s *Set) Left() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, o := range s.objects {
		list = append(list, fmt.Sprintf("%T", o))
	}
	if list == nil {
		return ""
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

// library is a Set as a culib.Library.
type library Set

func (l *library) Lookup(name string) uintptr {
	if l.Missing[name] {
		return 0
	}
	i, ok := slices.BinarySearch(l.names, name)
	if !ok {
		return 0
	}
	return uintptr(i + 1)
}

// function is a function of a library: its number of arguments, and what it does.
type function struct {
	args int
	run  func(s *Set, a []uintptr) int
}

// functions are all functions. Files of this package add theirs.
var functions = map[string]function{
	"cublasLtGetProperty": {2, func(s *Set, a []uintptr) int { return property(s, engine.BLAS, a) }},
	"cufftGetProperty":    {2, func(s *Set, a []uintptr) int { return property(s, engine.FFT, a) }},
	"cusparseGetProperty": {2, func(s *Set, a []uintptr) int { return property(s, engine.Sparse, a) }},
}

func register(list map[string]function) {
	for name, f := range list {
		functions[name] = f
	}
}

// Codes that the three libraries do not share are chosen by the caller of bad.
const (
	blasInvalid   = 7
	blasNone      = 15
	fftInvalid    = 4
	sparseInvalid = 3
)

func (l *library) Call(f uintptr, args []uintptr) uintptr {
	s := (*Set)(l)
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.names[f-1]
	if code, ok := s.fail[name]; ok {
		delete(s.fail, name)
		return uintptr(code)
	}
	if s.Idle && slices.Contains(computing[:], name) {
		return 0
	}
	if len(args) != functions[name].args {
		panic(fmt.Sprintf("%s has %d arguments, not %d", name, functions[name].args, len(args)))
	}
	return uintptr(functions[name].run(s, args))
}

// computing are the functions that do nothing if the set is idle.
var computing = [...]string{"cublasLtMatmul", "cufftExecC2C", "cusparseSpMV"}

func property(s *Set, k engine.Library, a []uintptr) int {
	*at[int32](a[1]) = s.Versions[k][a[0]]
	return 0
}

// at returns the variable at an address, which its owner keeps alive.
func at[T any](a uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&a))) }

// array returns n elements at an address.
func array[T any](a uintptr, n int) []T {
	if n <= 0 {
		return nil
	}
	return unsafe.Slice(at[T](a), n)
}

// add stores an object and writes its handle.
func (s *Set) add(to uintptr, o any) int {
	s.next++
	s.objects[s.next] = o
	*at[uintptr](to) = s.next
	return 0
}

// destroy returns a function that destroys an object of type T.
func destroy[T any](invalid int) func(s *Set, a []uintptr) int {
	return func(s *Set, a []uintptr) int {
		if _, ok := s.objects[a[0]].(T); !ok {
			return invalid
		}
		delete(s.objects, a[0])
		return 0
	}
}

func (s *Set) log(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}
