package cuda

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"quern.dev/internal/diskcache"
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

// loadBeside loads a kernel while persistent kernels exist. These have to stop only for
// the one call that puts compiled code into the context: 0.1 ms on an H200, where
// loading PTX as a module took 0.3 s. ptx and name are zero-terminated. Each kernel has
// its own library: cuKernelGetFunction of a library's second kernel does not wait for
// running kernels, but then its first launch does.
func (f *function) loadBeside(ptx, name []byte) error {
	d := f.dev
	if !d.api.has(cuLibraryLoadData, cuLibraryUnload, cuLibraryGetKernel, cuKernelGetFunction) {
		return errors.ErrUnsupported
	}
	code := ptx
	if d.samples == nil { // otherwise load has compiled it
		var err error
		if code, err = d.compiled(ptx); err != nil {
			return err
		}
	}
	var library, kernel, handle uintptr
	if err := d.call(cuLibraryLoadData, uintptr(unsafe.Pointer(&library)), uintptr(unsafe.Pointer(unsafe.SliceData(code))), 0, 0, 0, 0, 0, 0); err != nil {
		return err
	}
	err := d.call(cuLibraryGetKernel, uintptr(unsafe.Pointer(&kernel)), library, uintptr(unsafe.Pointer(unsafe.SliceData(name))))
	if err == nil {
		err = d.call(cuKernelGetFunction, uintptr(unsafe.Pointer(&handle)), kernel)
	}
	if err != nil {
		return errors.Join(err, d.handles(cuLibraryUnload, library))
	}
	f.library, f.handle = library, handle
	return nil
}

// codes caches machine code made by compile. The driver caches what it compiles while
// loading, but not this.
var codes = diskcache.User("code", 512)

// compiled returns the machine code of PTX.
func (d *device) compiled(ptx []byte) ([]byte, error) {
	c, i := d.api.codes, &d.info
	if c == nil {
		return d.compile(ptx, false)
	}
	key := diskcache.Key(sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d.%d\n%s", i.Name, i.DriverVersion, i.Major, i.Minor, ptx)))
	if code, ok := c.Get(key); ok {
		return code, nil
	}
	code, err := d.compile(ptx, false)
	if err == nil {
		_ = c.Put(key, code) // on error, the PTX is compiled again next time
	}
	return code, err
}

// compile compiles zero-terminated PTX to machine code, which says if wanted which lines of source
// its instructions belong to. Unlike loading, it does not wait for kernels.
func (d *device) compile(ptx []byte, lines bool) (code []byte, err error) {
	if !d.api.has(cuLinkCreate, cuLinkAddData, cuLinkComplete, cuLinkDestroy) {
		return nil, errors.ErrUnsupported
	}
	type output struct {
		code *byte // owned by the driver until the linker is destroyed
		size uintptr
	}
	// The driver's compiler may keep a linker's state with the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ptx = withoutBlockSize(ptx)
	var pins runtime.Pinner
	defer pins.Unpin()
	options, values, out, name := new([3]int32), new([3]uintptr), new(output), new([1]byte)
	log := new([8 << 10]byte)
	for _, p := range []any{options, values, out, log, name, unsafe.SliceData(ptx)} {
		pins.Pin(p)
	}
	*options = [...]int32{jitErrorLog, jitErrorLogSize, jitLines}
	*values = [...]uintptr{uintptr(unsafe.Pointer(log)), uintptr(len(log)), 1}
	count := len(options)
	if !lines {
		count--
	}
	var linker uintptr
	if err := d.call(cuLinkCreate, uintptr(count), uintptr(unsafe.Pointer(options)), uintptr(unsafe.Pointer(values)), uintptr(unsafe.Pointer(&linker))); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.handles(cuLinkDestroy, linker)) }()
	err = d.call(cuLinkAddData, linker, linkPTX, uintptr(unsafe.Pointer(unsafe.SliceData(ptx))), uintptr(len(ptx)), uintptr(unsafe.Pointer(name)), 0, 0, 0)
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

// withoutBlockSize returns PTX without the directive that says how many threads a block has. For
// code that is linked, unlike for modules, the driver's compiler takes it as a permission to use
// all registers that one block per multiprocessor can have: a matrix product used 148 instead of
// 32, and a sparse one took 1.27 times as long. Launches check the size of blocks themselves.
func withoutBlockSize(ptx []byte) []byte {
	const directive, cluster = "\n.reqntid ", "cluster" // directives for clusters need the size
	at := bytes.Index(ptx, []byte(directive))
	if at < 0 || bytes.Contains(ptx, []byte(cluster)) {
		return ptx
	}
	end := bytes.IndexByte(ptx[at+1:], '\n')
	if end < 0 {
		return ptx
	}
	return slices.Concat(ptx[:at], ptx[at+1+end:])
}
