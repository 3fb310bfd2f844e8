package interop

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// python is a Python interpreter in this process.
type python struct {
	run        func(code string) int32 // PyRun_SimpleString
	ensure     func() int32            // PyGILState_Ensure
	release    func(int32)             // PyGILState_Release
	initialize func(signals int32)     // Py_InitializeEx
	saveThread func() uintptr          // PyEval_SaveThread

	modules []string // installed modules
}

//go:embed interop.py
var prelude string

// interpreter returns the name of the Python command.
func interpreter() string {
	if name := os.Getenv("QUERN_TEST_PYTHON"); name != "" {
		return name
	}
	return "python3"
}

// where is a Python program that prints the paths of the library and the modules.
const where = `import importlib.util, json, os, sys, sysconfig
v = sysconfig.get_config_var
print(json.dumps({
	"library": os.path.join(v("LIBDIR") or "", v("INSTSONAME") or ""),
	"path": sys.path,
	"modules": [m for m in ("numpy", "torch", "cupy") if importlib.util.find_spec(m)],
}))`

// open loads the interpreter into the process once.
var open = sync.OnceValues(func() (*python, error) {
	out, err := exec.Command(interpreter(), "-c", where).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", interpreter(), err)
	}
	var at struct {
		Library string
		Path    []string
		Modules []string
	}
	if err := json.Unmarshal(out, &at); err != nil {
		return nil, err
	}
	if filepath.Ext(at.Library) == ".a" {
		return nil, fmt.Errorf("%s has no shared library", interpreter())
	}
	lib, err := purego.Dlopen(at.Library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	p := &python{modules: at.Modules}
	purego.RegisterLibFunc(&p.run, lib, "PyRun_SimpleString")
	purego.RegisterLibFunc(&p.ensure, lib, "PyGILState_Ensure")
	purego.RegisterLibFunc(&p.release, lib, "PyGILState_Release")
	purego.RegisterLibFunc(&p.initialize, lib, "Py_InitializeEx")
	purego.RegisterLibFunc(&p.saveThread, lib, "PyEval_SaveThread")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.initialize(0)
	p.saveThread() // release the GIL so that any thread can run code
	path, err := json.Marshal(at.Path)
	if err != nil {
		return nil, err
	}
	if err := p.execute("import sys; sys.path[:] = " + string(path) + "\n" + prelude); err != nil {
		return nil, err
	}
	return p, nil
})

// execute runs code in the module __main__. Python itself prints errors.
func (p *python) execute(code string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	state := p.ensure()
	defer p.release(state)
	if p.run(code) != 0 {
		return fmt.Errorf("python failed in\n%s", code)
	}
	return nil
}

// with returns the interpreter after importing modules in it. It skips the test if one is
// missing.
func with(t *testing.T, modules ...string) *python {
	t.Helper()
	p, err := open()
	if err != nil {
		t.Skipf("needs a Python with a shared library; QUERN_TEST_PYTHON can name one: %v", err)
	}
	for _, m := range modules {
		if !slices.Contains(p.modules, m) {
			t.Skipf("Python has no module %s; install it, or set QUERN_TEST_PYTHON to a Python that has it", m)
		}
		p.do(t, "import %s", m)
	}
	return p
}

func (p *python) do(t *testing.T, format string, args ...any) {
	t.Helper()
	if err := p.execute(fmt.Sprintf(format, args...)); err != nil {
		t.Fatal(err)
	}
}

// tensor holds the address that Python's give stores.
type tensor struct{ p unsafe.Pointer }

func (r *tensor) at() uintptr { return uintptr(unsafe.Pointer(r)) }
