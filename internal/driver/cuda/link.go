package cuda

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"quern.dev/internal/diskcache"
	"quern.dev/internal/driver"
)

var (
	cuLinkCreate   = optional("cuLinkCreate_v2")
	cuLinkAddData  = optional("cuLinkAddData_v2")
	cuLinkComplete = optional("cuLinkComplete")
	cuLinkDestroy  = optional("cuLinkDestroy")

	// CUDA 12.0
	cuLibraryLoadData   = optional("cuLibraryLoadData")
	cuLibraryUnload     = optional("cuLibraryUnload")
	cuLibraryGetKernel  = optional("cuLibraryGetKernel")
	cuKernelGetFunction = optional("cuKernelGetFunction")
)

// linkPTX is CU_JIT_INPUT_PTX.
const linkPTX = 1

// library is a CUlibrary with kernels that were linked together.
type library struct {
	handle uintptr
	users  atomic.Int32 // functions
}

// release ends a function's use.
func (l *library) release(d *device) error {
	if l.users.Add(-1) > 0 {
		return nil
	}
	return d.handles(cuLibraryUnload, l.handle)
}

// loadBeside loads kernels with residents away for no more than the one call that
// puts compiled code into the context: 0.1 ms on an H200, where loading PTX as a
// module took 0.3 s.
func (d *device) loadBeside(functions []*function, list []*driver.Kernel) error {
	if !d.api.has(cuLibraryLoadData, cuLibraryUnload, cuLibraryGetKernel, cuKernelGetFunction) {
		return errors.ErrUnsupported
	}
	texts, names, err := linkable(list)
	if err != nil {
		return err
	}
	code, err := d.compiled(texts)
	if err != nil {
		return err
	}
	l := new(library)
	if err := d.call(cuLibraryLoadData, uintptr(unsafe.Pointer(&l.handle)), uintptr(unsafe.Pointer(unsafe.SliceData(code))), 0, 0, 0, 0, 0, 0); err != nil {
		return err
	}
	handles, err := d.enter(l, names)
	if err != nil {
		return errors.Join(err, d.handles(cuLibraryUnload, l.handle))
	}
	l.users.Store(int32(len(functions)))
	for i, f := range functions {
		f.library, f.handle = l, handles[i]
	}
	return nil
}

// enter puts a library into the context and finds its kernels there. The first one
// that is asked for takes all of the code with it, for which the driver waits until no
// kernel runs; for the others it does not.
func (d *device) enter(l *library, names [][]byte) ([]uintptr, error) {
	kernels, handles := make([]uintptr, len(names)), make([]uintptr, len(names))
	for i, name := range names {
		if err := d.call(cuLibraryGetKernel, uintptr(unsafe.Pointer(&kernels[i])), l.handle, uintptr(unsafe.Pointer(unsafe.SliceData(name)))); err != nil {
			return nil, err
		}
	}
	find := func(i int) error {
		return d.call(cuKernelGetFunction, uintptr(unsafe.Pointer(&handles[i])), kernels[i])
	}
	err := d.Apart(driver.LoadModule, func() error {
		if err := d.catchUp(); err != nil {
			return err
		}
		return find(0)
	})
	for i := 1; i < len(names) && err == nil; i++ {
		err = find(i)
	}
	return handles, err
}

// linkable returns the PTX and the names of kernels, each with a zero at its end. The
// names are different ones.
func linkable(list []*driver.Kernel) (texts, names [][]byte, err error) {
	for i, k := range list {
		text, name := k.PTX, k.Name
		if i > 0 {
			name += "$" + strconv.Itoa(i)
			from, to := ".entry "+k.Name+"(", ".entry "+name+"("
			if strings.Count(text, from) != 1 {
				return nil, nil, fmt.Errorf("the PTX has %d kernels %s", strings.Count(text, from), k.Name)
			}
			text = strings.Replace(text, from, to, 1)
		}
		texts, names = append(texts, append([]byte(text), 0)), append(names, append([]byte(name), 0))
	}
	return texts, names, nil
}

// codes is machine code that compile has made: the driver keeps what loading
// compiles, and not this.
var codes = diskcache.User("code", 512)

// compiled returns the machine code of PTX.
func (d *device) compiled(texts [][]byte) ([]byte, error) {
	c, i := d.api.codes, &d.info
	if c == nil {
		return d.compile(texts...)
	}
	key := diskcache.Key(sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d.%d\n%s", i.Name, i.DriverVersion, i.Major, i.Minor, bytes.Join(texts, nil))))
	if code, ok := c.Get(key); ok {
		return code, nil
	}
	code, err := d.compile(texts...)
	if err == nil {
		_ = c.Put(key, code) // it is compiled again then
	}
	return code, err
}

// compile makes machine code of PTX, of which each text ends with a zero. Unlike
// loading, it does not wait for kernels.
func (d *device) compile(texts ...[]byte) (code []byte, err error) {
	if !d.api.has(cuLinkCreate, cuLinkAddData, cuLinkComplete, cuLinkDestroy) {
		return nil, errors.ErrUnsupported
	}
	type output struct {
		code *byte // the driver's, until the linker is destroyed
		size uintptr
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	options, values, out, name := new([2]int32), new([2]uintptr), new(output), new([1]byte)
	log := new([8 << 10]byte)
	for _, p := range []any{options, values, out, log, name} {
		pins.Pin(p)
	}
	*options = [...]int32{jitErrorLog, jitErrorLogSize}
	*values = [...]uintptr{uintptr(unsafe.Pointer(log)), uintptr(len(log))}
	var linker uintptr
	if err := d.call(cuLinkCreate, uintptr(len(options)), uintptr(unsafe.Pointer(options)), uintptr(unsafe.Pointer(values)), uintptr(unsafe.Pointer(&linker))); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.handles(cuLinkDestroy, linker)) }()
	for _, ptx := range texts {
		if err == nil {
			pins.Pin(unsafe.SliceData(ptx))
			err = d.call(cuLinkAddData, linker, linkPTX, uintptr(unsafe.Pointer(unsafe.SliceData(ptx))), uintptr(len(ptx)), uintptr(unsafe.Pointer(name)), 0, 0, 0)
		}
	}
	if err == nil {
		err = d.call(cuLinkComplete, linker, uintptr(unsafe.Pointer(&out.code)), uintptr(unsafe.Pointer(&out.size)))
	}
	if err != nil {
		if why := strings.TrimSpace(text(log[:])); why != "" {
			err = fmt.Errorf("%w\n%s", err, why)
		}
		return nil, err
	}
	return slices.Clone(unsafe.Slice(out.code, out.size)), nil
}
