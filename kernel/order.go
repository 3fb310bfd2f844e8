package kernel

import "sync/atomic"

// LoadAcquire reads *p. What the thread reads and writes afterwards is ordered
// after it: if the value was stored with StoreRelease, everything that was
// written before that store is visible. The order holds between all threads of
// the device.
//
// Kernels that call it cannot be compiled in this version, only run as ordinary
// Go functions. There, use AtomicOr(p, 0), followed by [Fence].
func LoadAcquire[T AtomicNumber](p *T) T {
	return load(p)
}

// StoreRelease writes v to *p, after everything that the thread read and wrote
// before.
//
// Kernels that call it cannot be compiled in this version, only run as ordinary
// Go functions. There, use [Fence], followed by [AtomicExchange].
func StoreRelease[T AtomicNumber](p *T, v T) {
	if words[T]() {
		atomic.StoreUint32(word(p), *word(&v))
		return
	}
	atomic.StoreUint64(dword(p), *dword(&v))
}

// Fence orders what the thread read and wrote before it ahead of what it reads
// and writes after it, as seen by all threads of the device. It does not wait
// for other threads.
func Fence() {
	atomic.AddUint32(&fence, 0)
}

// fence is the target of an atomic operation, each of which is a full fence in
// Go's memory model.
var fence uint32
