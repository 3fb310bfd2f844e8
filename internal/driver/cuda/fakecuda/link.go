package fakecuda

import (
	"slices"
	"strings"
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
		"cuCtxSetLimit":       {true, func(*Library, []uintptr) int { return Success }},
	})
}

type (
	// linker has PTX, which is what the library calls machine code, too: that of
	// several modules with seams between them.
	linker struct {
		texts []string
		code  []byte // kept until the linker is destroyed
	}

	library struct {
		modules []*ptxvm.Module
		entered bool // it is in the context, as it is once a kernel of it is
	}

	// libraryEntry is a kernel of a library (CUkernel).
	libraryEntry struct {
		function
		library *library
	}
)

// Input of cuLinkAddData.
const inputPTX = 1

// seam is between modules that were linked.
const seam = "// seam\n"

func addToLinker(l *Library, a []uintptr) int {
	k, ok := object[*linker](l, a[0])
	if !ok || a[1] != inputPTX {
		return InvalidValue
	}
	if _, err := ptxvm.Parse(goString(a[2])); err != nil { // what other modules define is not there
		return InvalidPTX
	}
	k.texts = append(k.texts, goString(a[2]))
	return Success
}

func link(l *Library, a []uintptr) int {
	k, ok := object[*linker](l, a[0])
	if !ok || len(k.texts) == 0 {
		return InvalidValue
	}
	code := strings.Join(k.texts, seam)
	if m, err := modules(code); err != nil || ambiguous(m) {
		return InvalidPTX
	}
	k.code = append([]byte(code), 0)
	set(a[2], uintptr(len(k.code)))
	return set(a[1], unsafe.SliceData(k.code))
}

func loadLibrary(l *Library, a []uintptr) int {
	m, err := modules(goString(a[1]))
	if err != nil {
		return InvalidPTX
	}
	return l.add(a[0], &library{modules: m})
}

// modules parses what link has made.
func modules(code string) (list []*ptxvm.Module, err error) {
	for text := range strings.SplitSeq(code, seam) {
		m, err := ptxvm.Parse(text)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// moduleOf returns the module with an entry, nil if there is none.
func moduleOf(list []*ptxvm.Module, entry string) *ptxvm.Module {
	for _, m := range list {
		if m.Entry(entry) != nil {
			return m
		}
	}
	return nil
}

// ambiguous reports whether two modules have an entry of one name.
func ambiguous(list []*ptxvm.Module) bool {
	for _, m := range list {
		for _, e := range m.Entries() {
			if moduleOf(list, e.Name) != m {
				return true
			}
		}
	}
	return false
}

func libraryKernel(l *Library, a []uintptr) int {
	lib, ok := object[*library](l, a[1])
	if !ok {
		return InvalidHandle
	}
	name := goString(a[2])
	m := moduleOf(lib.modules, name)
	if m == nil {
		return NotFound
	}
	return l.add(a[0], libraryEntry{function{name, m}, lib})
}

func kernelFunction(l *Library, a []uintptr) int {
	k, ok := object[libraryEntry](l, a[1])
	if !ok {
		return InvalidHandle
	}
	k.library.entered = true
	return l.add(a[0], k.function)
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
		if isFunction && slices.Contains(lib.modules, f.Module) || isEntry && e.library == lib {
			delete(l.objects, handle)
		}
	}
	return l.remove(a[0])
}
