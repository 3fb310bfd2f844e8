//go:build linux

package nvrtc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Compiler is the opened library. It is safe for concurrent use.
type Compiler struct {
	path      string
	functions map[string]uintptr
}

// functionNames lists the library functions that the package calls.
var functionNames = []string{
	"nvrtcVersion", "nvrtcCreateProgram", "nvrtcDestroyProgram", "nvrtcCompileProgram",
	"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetCUBINSize", "nvrtcGetCUBIN",
	"nvrtcGetPTXSize", "nvrtcGetPTX",
}

// places lists patterns for the path of the library, in search order.
var places = []string{
	"/usr/local/cuda*/lib64/libnvrtc.so*",
	"/usr/lib/*/libnvrtc.so*",
	"/usr/local/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so*",
	"/usr/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so*",
	"/opt/*/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*",
	"/opt/*/*/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*",
	"/*/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*",
	"$HOME/.local/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*",
	"$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*",
	"$CUDA_HOME/lib64/libnvrtc.so*",
}

// Open opens the library at path. If path is empty, it searches for the library.
func Open(path string) (*Compiler, error) {
	candidates := []string{path}
	if path == "" {
		found, err := find()
		if err != nil {
			return nil, err
		}
		candidates = append([]string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, found...)
	}
	var errs []error
	for _, c := range candidates {
		opened, err := open(c)
		if err == nil {
			return opened, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("nvrtc: open: not found; install it or pass its path: %w", errors.Join(errs...))
}

// find returns the paths of the libraries in the known places.
func find() ([]string, error) {
	var all []string
	for _, pattern := range places {
		found, err := filepath.Glob(os.ExpandEnv(pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !strings.Contains(f, ".alt.") {
				all = append(all, f)
			}
		}
	}
	return all, nil
}

func open(path string) (*Compiler, error) {
	runtime.LockOSThread() // the C library keeps errors per thread
	defer runtime.UnlockOSThread()
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	if err := openBuiltins(path); err != nil {
		return nil, err
	}
	c := &Compiler{path: path, functions: map[string]uintptr{}}
	for _, name := range functionNames {
		if c.functions[name], err = purego.Dlsym(lib, name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// openBuiltins opens the library of built-in functions next to NVRTC. NVRTC opens it by
// name on first compilation. The system does not search the directories of pip packages,
// but it finds libraries that are already open.
func openBuiltins(path string) error {
	if !strings.Contains(path, "/") {
		return nil // the system found NVRTC, so it also finds its neighbors
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "libnvrtc-builtins.so*"))
	if err != nil {
		return err
	}
	for _, f := range found {
		if strings.Contains(f, ".alt.") {
			continue
		}
		if _, err := purego.Dlopen(f, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
			return err
		}
	}
	return nil
}

func (c *Compiler) call(name string, args ...uintptr) error {
	if code, _, _ := purego.SyscallN(c.functions[name], args...); int32(code) != 0 {
		return fmt.Errorf("%s returned error %d", name, int32(code))
	}
	return nil
}

// Version returns the version and path of the library.
func (c *Compiler) Version() string {
	var pins runtime.Pinner
	defer pins.Unpin()
	v := new([2]int32)
	pins.Pin(v)
	if err := c.call("nvrtcVersion", uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1]))); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("NVRTC %d.%d (%s)", v[0], v[1], c.path)
}

// Output is the result of compiling a program.
type Output struct {
	Cubin []byte
	PTX   string // for people to read
}

// Compile compiles a program for an architecture such as "sm_90" with default options. The
// error contains the compiler's messages.
func (c *Compiler) Compile(name, text, architecture string) (*Output, error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	cstring := func(s string) uintptr {
		b := append([]byte(s), 0)
		pins.Pin(&b[0])
		return uintptr(unsafe.Pointer(&b[0]))
	}
	program := new(uintptr)
	pins.Pin(program)
	if err := c.call("nvrtcCreateProgram", uintptr(unsafe.Pointer(program)), cstring(text), cstring(name), 0, 0, 0); err != nil {
		return nil, err
	}
	defer c.call("nvrtcDestroyProgram", uintptr(unsafe.Pointer(program)))

	options := &[1]uintptr{cstring("--gpu-architecture=" + architecture)}
	pins.Pin(options)
	if err := c.call("nvrtcCompileProgram", *program, uintptr(len(options)), uintptr(unsafe.Pointer(options))); err != nil {
		log, logErr := c.get(*program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
		return nil, errors.Join(fmt.Errorf("%s: %w\n%s", name, err, log), logErr)
	}
	cubin, err := c.get(*program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
	if err != nil {
		return nil, err
	}
	ptx, err := c.get(*program, "nvrtcGetPTXSize", "nvrtcGetPTX")
	return &Output{cubin, strings.TrimRight(string(ptx), "\x00")}, err
}

// get returns the result of a pair of functions that return a size and a content.
func (c *Compiler) get(program uintptr, size, content string) ([]byte, error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	n := new(uintptr)
	pins.Pin(n)
	if err := c.call(size, program, uintptr(unsafe.Pointer(n))); err != nil || *n == 0 {
		return nil, err
	}
	buffer := make([]byte, *n)
	pins.Pin(&buffer[0])
	return buffer, c.call(content, program, uintptr(unsafe.Pointer(&buffer[0])))
}
