package driver

// Pools is implemented by devices whose driver allocates in stream order. [PlainPool]
// is for other devices.
type Pools interface {
	// NewPool creates a pool. The pool keeps freed memory as long as it holds no more
	// than keep bytes of the device; the excess may return to the device at the next
	// wait.
	NewPool(keep int64) (Pool, error)
}

// Pool allocates and frees memory in stream order.
type Pool interface {
	// Alloc returns size > 0 bytes, aligned to at least 64, for work added to s from
	// now on. Other streams must wait for s before they use it.
	Alloc(s Stream, size int64) (Memory, error)

	// Free frees memory. Work added to s earlier may still use it; if s is nil, no work
	// does.
	Free(s Stream, m Memory) error

	// Trim returns unused memory to the device.
	Trim() error

	// Close releases the pool. All its memory has been freed before.
	Close() error
}

// Forgetter is implemented by devices that detect reads of uninitialized memory. Forget
// makes the contents of memory undefined, as after Alloc.
type Forgetter interface {
	Forget(m Memory, size int64)
}

// Idler is a stream that reports without waiting whether it has work left. Streams of
// devices with Info.Async implement it; others never have work left.
type Idler interface {
	Idle() (bool, error)
}

// PlainPool returns a pool over a device's Alloc and Free. This is enough if streams do
// their work in the calling goroutine, or if Free waits for the device.
func PlainPool(d Device) Pool { return plainPool{d} }

type plainPool struct{ dev Device }

func (p plainPool) Alloc(_ Stream, size int64) (Memory, error) { return p.dev.Alloc(size) }

func (p plainPool) Free(s Stream, m Memory) error { return p.dev.Free(m) }

func (p plainPool) Trim() error { return nil }

func (p plainPool) Close() error { return nil }
