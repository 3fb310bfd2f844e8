package cuda

import (
	"runtime"
	"unsafe"

	"quern.dev/internal/driver"
)

// Functions for memory of other processes. Not every system has them.
var (
	cuMemGetAddressRange = optional("cuMemGetAddressRange_v2")
	cuIpcGetMemHandle    = optional("cuIpcGetMemHandle")
	cuIpcOpenMemHandle   = optional("cuIpcOpenMemHandle_v2")
	cuIpcCloseMemHandle  = optional("cuIpcCloseMemHandle")
)

// openPeers enables access between GPUs if needed (CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS).
const openPeers = 1

func (d *device) Share(m driver.Memory) (h driver.Handle, offset int64, err error) {
	var start, size uint64
	if err := d.call(cuMemGetAddressRange, uintptr(unsafe.Pointer(&start)), uintptr(unsafe.Pointer(&size)), uintptr(m.Addr)); err != nil {
		return h, 0, err
	}
	err = d.call(cuIpcGetMemHandle, uintptr(unsafe.Pointer(&h)), uintptr(m.Addr))
	return h, int64(m.Addr - start), err
}

func (d *device) OpenShared(h driver.Handle) (driver.Memory, error) {
	var m driver.Memory
	handle := &h
	if !handleOnStack {
		err := d.call(cuIpcOpenMemHandle, uintptr(unsafe.Pointer(&m.Addr)), uintptr(unsafe.Pointer(handle)), openPeers)
		return m, err
	}
	words := *(*[driver.HandleSize / 8]uintptr)(unsafe.Pointer(handle))
	err := d.call(cuIpcOpenMemHandle, uintptr(unsafe.Pointer(&m.Addr)), openPeers, 0, 0, 0, 0,
		words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7])
	return m, err
}

// handleOnStack says how the handle, a 64-byte structure, is passed by value. If true,
// it is on the stack, behind the six registers for arguments (System V ABI for AMD64,
// 3.2.3); otherwise the address of a copy is passed (AAPCS64, 6.8.2; x64 calling
// convention of Windows).
const handleOnStack = runtime.GOARCH == "amd64" && runtime.GOOS != "windows"

func (d *device) CloseShared(m driver.Memory) error {
	return d.handles(cuIpcCloseMemHandle, uintptr(m.Addr))
}
