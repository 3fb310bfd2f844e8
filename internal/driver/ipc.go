package driver

// HandleSize is the size of a Handle in bytes.
const HandleSize = 64

// Handle names an allocation for the processes of a machine.
type Handle [HandleSize]byte

// SharedMemory is implemented by devices whose memory other processes can use.
type SharedMemory interface {
	// Share names the allocation that m lies in, and returns how many bytes
	// behind its start m is.
	Share(m Memory) (h Handle, offset int64, err error)
	// OpenShared returns the start of an allocation of another process, which
	// CloseShared gives back.
	OpenShared(h Handle) (Memory, error)
	CloseShared(m Memory) error
}

// NativeStream is implemented by streams that other libraries know by a handle.
type NativeStream interface {
	Handle() uintptr
}
