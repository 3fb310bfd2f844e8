package cupti

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"

	"quern.dev/internal/dynlib"
)

type sharedObject struct{ *dynlib.Library }

// places are where the library is searched, after QUERN_CUPTI: the names that the dynamic
// loader knows, then the toolkit's directories.
func places() []string {
	names := []string{"libcupti.so.13", "libcupti.so.12", "libcupti.so"}
	for _, pattern := range []string{
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1?",
		"/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1?",
		"/usr/local/cuda*/targets/*/lib/libcupti.so.1?",
	} {
		found, _ := filepath.Glob(pattern) // the pattern is valid
		slices.Sort(found)
		slices.Reverse(found)
		names = append(names, found...)
	}
	return names
}

// Open opens the library, once per process.
var Open = sync.OnceValues(func() (Library, error) {
	if name := os.Getenv(LibraryVariable); name != "" {
		lib, err := dynlib.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", LibraryVariable, err)
		}
		return sharedObject{lib}, nil
	}
	for _, name := range places() {
		if lib, err := dynlib.Open(name); err == nil {
			return sharedObject{lib}, nil
		}
	}
	return nil, errors.New("CUPTI (libcupti.so) was not found; it is part of the CUDA toolkit, and " + LibraryVariable + " may name its file")
})

func (sharedObject) Callback(f any) uintptr { return purego.NewCallback(f) }

func (sharedObject) Memory(size int) (unsafe.Pointer, error) {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return unsafe.Pointer(unsafe.SliceData(b)), nil
}
