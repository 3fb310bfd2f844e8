package kernel

// Scope is the set of threads that an atomic operation, an ordered access or a
// fence is coherent for. It is the constant last argument of these functions,
// DeviceScope if it is left out. A narrower scope is never wrong on the CPU, and
// faster on a GPU.
type Scope uint8

// Scopes.
const (
	DeviceScope Scope = iota // all threads of the device
	BlockScope               // the threads of the block
	SystemScope              // also the host, and other devices that see the memory
)
