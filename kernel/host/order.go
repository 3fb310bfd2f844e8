package host

import (
	"runtime"
	"sync/atomic"

	"quern.dev/kernel"
)

// loadsPerPoll is how many loads a thread makes before it checks whether the
// launch has ended and yields its core. The thread may be waiting for another
// one.
const loadsPerPoll = 256

// loadsPerYield is how many loads a thread of a Call makes before it yields. It
// need not wait for other blocks, and with many goroutines its next turn would
// come late.
const loadsPerYield = 256 * loadsPerPoll

// Load reads *p from memory, before all later accesses. It does not return if the
// launch has failed, so that no thread waits for a store that will not happen.
func Load[T kernel.AtomicNumber](r *Run, p *T) T {
	if r.loads++; r.loads%loadsPerPoll == 0 {
		r.poll()
	}
	return kernel.LoadAcquire(p)
}

// Load64 is Load for 64-bit words, the elements of rings. The compiler replaces
// Load with it.
func Load64(r *Run, p *uint64) uint64 {
	if r.loads++; r.loads%loadsPerPoll == 0 {
		r.poll()
	}
	return atomic.LoadUint64(p)
}

// poll ends the thread if the launch has failed or was canceled.
func (r *Run) poll() {
	r.CheckHalt()
	if !r.called || r.loads%loadsPerYield == 0 {
		runtime.Gosched()
	}
}
