package kernel

import "sync/atomic"

// LoadAcquire reads *p. What the thread reads and writes afterwards is ordered
// after it: if the value was stored with [StoreRelease], everything that was
// written before that store is visible. The order holds between all threads of
// the scope. Floats are as good as integers; the bits are what is read.
//
// A loop may wait for another thread's store by reading until the value changes.
// The thread that stores must be one that runs: of the same block it is not
// certain to before the next barrier; of another block it is if that was started
// before, that is, if blocks number themselves with [AtomicAdd] in the order in
// which they start, and wait only for smaller numbers.
func LoadAcquire[T AtomicNumber](p *T, _ ...Scope) T {
	return load(p)
}

// LoadRelaxed reads *p anew each time, in one piece, and orders nothing else.
func LoadRelaxed[T AtomicNumber](p *T, _ ...Scope) T {
	return load(p)
}

// StoreRelease writes v to *p, after everything that the thread read and wrote
// before, as seen by all threads of the scope.
func StoreRelease[T AtomicNumber](p *T, v T, _ ...Scope) {
	store(p, v)
}

// StoreRelaxed writes v to *p at once, in one piece, and orders nothing else.
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

// Fence orders what the thread read and wrote before it ahead of what it reads
// and writes after it, as seen by all threads of the scope. It does not wait for
// other threads.
func Fence(_ ...Scope) {
	atomic.AddUint32(&fence, 0)
}

// fence is the target of an atomic operation, each of which is a full fence in
// Go's memory model.
var fence uint32
