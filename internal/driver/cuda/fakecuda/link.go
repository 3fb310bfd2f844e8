package fakecuda

import (
	"unsafe"

	"quern.dev/internal/ptxvm"
)

func init() {
	register(map[string]entry{
		"cuLinkCreate_v2":     {true, func(l *Library, a []uintptr) int { return l.add(a[3], new(linker)) }},
		"cuLinkAddData_v2":    {true, addToLinker},
		"cuLinkComplete":      {true, link},
		"cuLinkDestroy":       {true, destroy},
		"cuLibraryLoadData":   {true, loadLibrary},
		"cuLibraryUnload":     {true, unloadLibrary},
		"cuLibraryGetKernel":  {true, libraryKernel},
		"cuKernelGetFunction": {true, kernelFunction},
		"cuFuncLoad":          {true, loadFunction},
		"cuCtxSetLimit":       {true, func(*Library, []uintptr) int { return Success }},
	})
}

type (
	// linker holds PTX, which this library also uses as machine code.
	linker struct{ text []byte }

	library struct {
		*ptxvm.Module
		entered bool // it is in the context because one of its kernels is
	}

	// libraryEntry is a kernel of a library (CUkernel).
	libraryEntry struct {
		name    string
		library *library
	}
)

// Input of cuLinkAddData.
const inputPTX = 1

func addToLinker(l *Library, a []uintptr) int {
	k, ok := object[*linker](l, a[0])
	if !ok || a[1] != inputPTX {
		return InvalidValue
	}
	if _, err := ptxvm.Parse(goString(a[2])); err != nil { // symbols of other modules are not defined here
		return InvalidPTX
	}
	k.text = append([]byte(nil), bytes(a[2], a[3])...)
	return Success
}

func link(l *Library, a []uintptr) int {
	k, ok := object[*linker](l, a[0])
	if !ok || len(k.text) == 0 {
		return InvalidValue
	}
	set(a[2], uintptr(len(k.text)))
	return set(a[1], unsafe.SliceData(k.text))
}

func loadLibrary(l *Library, a []uintptr) int {
	m, err := ptxvm.Parse(goString(a[1]))
	if err != nil {
		return InvalidPTX
	}
	return l.add(a[0], &library{Module: m})
}

func libraryKernel(l *Library, a []uintptr) int {
	lib, ok := object[*library](l, a[1])
	if !ok {
		return InvalidHandle
	}
	name := goString(a[2])
	if lib.Entry(name) == nil {
		return NotFound
	}
	return l.add(a[0], libraryEntry{name, lib})
}

// kernelFunction waits until no kernel runs for the first kernel of a library. The
// others do not wait; their first launches do.
func kernelFunction(l *Library, a []uintptr) int {
	k, ok := object[libraryEntry](l, a[1])
	if !ok {
		return InvalidHandle
	}
	f := function{k.name, k.library.Module, k.library.entered && l.works.busy()}
	k.library.entered = true
	return l.add(a[0], f)
}

// loadFunction does not save a late kernel its wait.
func loadFunction(l *Library, a []uintptr) int {
	if _, ok := object[function](l, a[0]); !ok {
		return InvalidHandle
	}
	return Success
}

// entered reports whether the library of a kernel is in the context.
func (l *Library) entered(kernel uintptr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := object[libraryEntry](l, kernel)
	return ok && k.library.entered
}

func unloadLibrary(l *Library, a []uintptr) int {
	lib, ok := object[*library](l, a[0])
	if !ok {
		return InvalidHandle
	}
	for handle, o := range l.objects {
		f, isFunction := o.(function)
		e, isEntry := o.(libraryEntry)
		if isFunction && f.Module == lib.Module || isEntry && e.library == lib {
			delete(l.objects, handle)
		}
	}
	return l.remove(a[0])
}
