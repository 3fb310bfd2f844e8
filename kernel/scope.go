package kernel

// Scope is the set of threads for which an atomic operation, an ordered access or
// a fence is coherent. It is the last argument of these functions and must be a
// constant; the default is DeviceScope. On a GPU a narrower scope is faster; on
// the CPU it makes no difference.
type Scope uint8

// Scopes.
const (
	DeviceScope Scope = iota // all threads of the device
	BlockScope               // the threads of the block
	SystemScope              // also the host, and other devices that see the memory
)
