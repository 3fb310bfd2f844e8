package host

import (
	"runtime"
	"sync/atomic"

	"quern.dev/kernel"
)

// loadsPerLook is how many loads a thread makes before it looks whether the
// launch goes on, and lets other goroutines have its core: it may be waiting.
const loadsPerLook = 256

// loadsPerYield is how many it makes until then in a Call, which need not wait for
// other blocks: where many goroutines run, its turn would come late.
const loadsPerYield = 256 * loadsPerLook

// Load reads *p anew, ahead of all accesses that follow. It does not return if
// the launch has failed, so that no thread waits for one that will not store.
func Load[T kernel.AtomicNumber](r *Run, p *T) T {
	if r.loads++; r.loads%loadsPerLook == 0 {
		r.look()
	}
	return kernel.LoadAcquire(p)
}

// Load64 is Load for words of 64 bits, which rings are made of. The compiler puts it
// in place.
func Load64(r *Run, p *uint64) uint64 {
	if r.loads++; r.loads%loadsPerLook == 0 {
		r.look()
	}
	return atomic.LoadUint64(p)
}

// look ends the thread if the launch has failed or was cancelled.
func (r *Run) look() {
	if r.Halted() {
		r.Halt()
	}
	if !r.called || r.loads%loadsPerYield == 0 {
		runtime.Gosched()
	}
}
