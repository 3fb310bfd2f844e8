package driver

// Pools is implemented by devices whose driver allocates in the order of streams.
// [PlainPool] is for others.
type Pools interface {
	// NewPool makes a pool. Memory that was freed stays the pool's while the pool
	// has no more than keep bytes of the device; what is beyond may return to the
	// device at the next wait.
	NewPool(keep int64) (Pool, error)
}

// Pool is memory that is given out and taken back in the order of streams' work.
type Pool interface {
	// Alloc returns size > 0 bytes, aligned to 64 or more, for work that is added
	// to s from now on. Other streams must wait for s before they use it.
	Alloc(s Stream, size int64) (Memory, error)

	// Free takes memory back. Work that was added to s before may still use it; if
	// s is nil, no work does.
	Free(s Stream, m Memory) error

	// Trim returns to the device what is not given out.
	Trim() error

	// Close releases the pool. All memory has been freed before.
	Close() error
}

// Forgetter is implemented by devices that find uses of memory which was not
// written. Forget makes the contents of memory undefined, as after Alloc.
type Forgetter interface {
	Forget(m Memory, size int64)
}

// Idler is a stream that tells without waiting whether there is work left. Those of
// devices with Info.Async are; others have none left.
type Idler interface {
	Idle() (bool, error)
}

// PlainPool returns a pool over the Alloc and Free of a device. That is all there
// is to do where streams work in their callers, or where Free waits for the
// device.
func PlainPool(d Device) Pool { return plainPool{d} }

type plainPool struct{ dev Device }

func (p plainPool) Alloc(_ Stream, size int64) (Memory, error) { return p.dev.Alloc(size) }

func (p plainPool) Free(s Stream, m Memory) error { return p.dev.Free(m) }

func (p plainPool) Trim() error { return nil }

func (p plainPool) Close() error { return nil }
