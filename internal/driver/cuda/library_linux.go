package cuda

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/ebitengine/purego"
)

type sharedObject struct {
	handle uintptr
}

func openLibrary() (Library, error) {
	// The C library keeps the last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("the NVIDIA driver library was not found: %w", err)
	}
	return &sharedObject{handle}, nil
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

// controlFile is the device file that the driver library uses to talk to the kernel
// module.
const controlFile = "/dev/nvidiactl"

// obstacle says what on this system prevents the driver from finding a device, or
// returns "".
func obstacle() string {
	f, err := os.OpenFile(controlFile, os.O_RDWR, 0)
	switch {
	case err == nil:
		f.Close()
		return ""
	case errors.Is(err, fs.ErrPermission):
		return "no permission to open " + controlFile
	case errors.Is(err, fs.ErrNotExist):
		return "there is no " + controlFile + ": the kernel module is not loaded, or the container was started without GPUs"
	default:
		return err.Error()
	}
}
