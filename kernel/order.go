package kernel

import "sync/atomic"

// LoadAcquire reads *p. The thread's later reads and writes are ordered after it:
// if the value was stored with [StoreRelease], everything written before that
// store is visible. The order holds between all threads of the scope. Floats are
// read by their bits, like integers.
//
// A loop may wait for another thread's store by reading until the value changes.
// The storing thread must be able to run. A thread of the same block may not run
// before the next barrier. A thread of another block does run if its block has
// started. To wait only for blocks that have started, number blocks with
// [AtomicAdd] in the order in which they start, and wait only for smaller
// numbers.
func LoadAcquire[T AtomicNumber](p *T, _ ...Scope) T {
	return load(p)
}

// LoadRelaxed reads *p from memory in a single access. It does not order other
// accesses.
func LoadRelaxed[T AtomicNumber](p *T, _ ...Scope) T {
	return load(p)
}

// StoreRelease writes v to *p. All threads of the scope see the thread's earlier
// reads and writes as ordered before it.
func StoreRelease[T AtomicNumber](p *T, v T, _ ...Scope) {
	store(p, v)
}

// StoreRelaxed writes v to *p immediately, in a single access. It does not order
// other accesses.
func StoreRelaxed[T AtomicNumber](p *T, v T, _ ...Scope) {
	storeRelaxed(p, v)
}

func store[T AtomicNumber](p *T, v T) {
	if words[T]() {
		atomic.StoreUint32(word(p), *word(&v))
		return
	}
	atomic.StoreUint64(dword(p), *dword(&v))
}

// Fence orders the thread's reads and writes before it ahead of those after it,
// as seen by all threads of the scope. It does not wait for other threads.
func Fence(_ ...Scope) {
	atomic.AddUint32(&fence, 0)
}

// fence is the target of an atomic operation. Every atomic operation is a full
// fence in Go's memory model.
var fence uint32
