package culib

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"

	"quern.dev/internal/engine"
)

type sharedObject struct{ handle uintptr }

// openFile opens the first file of a library that can be opened.
func openFile(k engine.Library, cuda int) (lib Library, path string, err error) {
	// The C library keeps the last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := &descriptions[k]
	reason := ""
	for _, place := range candidates(d, cuda) {
		handle, err := purego.Dlopen(place, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return &sharedObject{handle}, place, nil
		}
		if strings.Contains(place, "/") { // a file that exists
			reason = ": " + err.Error()
		}
	}
	var names []string
	for _, r := range d.releases {
		if cuda == 0 || r.cuda <= cuda {
			names = append(names, r.file)
		}
	}
	if len(names) == 0 {
		return nil, "", fmt.Errorf("the driver supports CUDA %d only", cuda)
	}
	return nil, "", fmt.Errorf("%s was not found%s", strings.Join(names, " or "), reason)
}

func (l *sharedObject) Lookup(name string) uintptr {
	addr, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0
	}
	return addr
}

func (l *sharedObject) Call(function uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}
