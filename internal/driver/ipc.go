package driver

// HandleSize is the size of a Handle in bytes.
const HandleSize = 64

// Handle identifies an allocation to other processes on the machine.
type Handle [HandleSize]byte

// SharedMemory is implemented by devices whose memory other processes can access.
type SharedMemory interface {
	// Share returns a handle for the allocation that contains m, and the offset of m in
	// it in bytes.
	Share(m Memory) (h Handle, offset int64, err error)
	// OpenShared returns the start of another process's allocation. CloseShared
	// releases it.
	OpenShared(h Handle) (Memory, error)
	CloseShared(m Memory) error
}
