package cuda

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"quern.dev/internal/dynlib"
)

func openLibrary() (Library, error) {
	lib, err := dynlib.Open("libcuda.so.1")
	if err != nil {
		return nil, fmt.Errorf("the NVIDIA driver library was not found: %w", err)
	}
	return lib, nil
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
