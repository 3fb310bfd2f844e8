//go:build (linux || darwin || windows) && (amd64 || arm64)

package dlpack

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

var deleter = sync.OnceValue(func() uintptr { return purego.NewCallback(deleted) })

// deleterAddress returns the address of the C function that consumers call.
func deleterAddress() (uintptr, error) { return deleter(), nil }

// Delete calls the deleter of another library's tensor.
func Delete(p unsafe.Pointer, versioned bool) {
	if f := Read(p, versioned).Deleter; f != 0 {
		purego.SyscallN(f, uintptr(p))
	}
}
